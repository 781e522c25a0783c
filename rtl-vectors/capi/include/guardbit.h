// The golden model of a MAC unit: what RTL has to do, beat by beat.
//
// Link with libguardbit_capi. Functions return a code below 0 when they fail; guardbit_error() says why.
// Made by cbindgen from src/exports.rs.

#ifndef GUARDBIT_H
#define GUARDBIT_H

#include <stdint.h>

// Version of this interface: changes whenever a function does.
#define GUARDBIT_ABI 1

// Done.
#define GUARDBIT_OK 0

// A pointer is null.
#define GUARDBIT_E_NULL -1

// There is no such model: never opened, or closed.
#define GUARDBIT_E_HANDLE -2

// A value that is not allowed.
#define GUARDBIT_E_PARAMETER -3

// There is no usable bundle, or bundles do not cover this datapath.
#define GUARDBIT_E_BUNDLE -4

// There is no such accelerator, or it cannot run the layer.
#define GUARDBIT_E_ACCELERATOR -5

// A beat that the interface does not allow; the model has not moved.
#define GUARDBIT_E_BEAT -6

// Something has to be done before.
#define GUARDBIT_E_STATE -7

// A fault of guardbit itself; the model is closed.
#define GUARDBIT_E_INTERNAL -8

// Flag of a level: an exact result did not fit.
#define GUARDBIT_OVERFLOW 1

// Flag of a level: it lay above.
#define GUARDBIT_HIGH 2

// Flag of a level: it lay below.
#define GUARDBIT_LOW 4

// Flag of a level: there was an overflow in this run.
#define GUARDBIT_STICKY 8

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the library's interface: to be compared with GUARDBIT_ABI.
int32_t guardbit_abi(void);

// What the last error of this thread was. The text is valid until the next call that fails.
const char *guardbit_error(void);

// Opens the MAC unit of a bundle, the folder that `guardbit vectors` wrote.
//
// Returns the model's number, above 0, or an error code.
//
// # Safety
// `dir` is null or a string that ends with NUL.
int32_t guardbit_open_bundle(const char *dir);

// Opens the MAC unit of an accelerator for dot products of `terms` products.
//
// `accelerator` is a preset's name, the path of a YAML file, or its text (with at least one line break). Types of codes
// are "int4", "uint4", "int8", "uint8", "int16" (activations) and so on. Returns as guardbit_open_bundle.
//
// # Safety
// Every pointer is null or a string that ends with NUL.
int32_t guardbit_open_accelerator(const char *accelerator,
                                  int32_t terms,
                                  const char *activation_type,
                                  int32_t activation_zero_point,
                                  const char *weight_type,
                                  int32_t weight_zero_point);

// Closes a model. Its number is not used again.
int32_t guardbit_close(int32_t model);

// Number of accumulation levels.
int32_t guardbit_levels(int32_t model);

// Products per beat.
int32_t guardbit_lanes(int32_t model);

// Products per dot product.
int32_t guardbit_terms(int32_t model);

// As after reset: registers are 0, no dot product is under way. Bias, multiplier and output stay.
int32_t guardbit_reset(int32_t model);

// The next guardbit_step begins a dot product, whatever has become of the one before. Registers hold.
int32_t guardbit_clear(int32_t model);

// The bias from now on, in the unit of the place where it is added: what in_bias shows. A preloaded one counts when its
// level starts a run, any other when the dot product ends.
int32_t guardbit_set_bias(int32_t model,
                          int64_t bias);

// The real multiplier of the requantization from now on, for sums at unit 1.
int32_t guardbit_set_multiplier(int32_t model, double multiplier);

// The multiplier from now on as the ports in_mult and in_exp show it.
int32_t guardbit_set_multiplier_ports(int32_t model, int64_t mult, int32_t exponent);

// Zero point and clamp of the output code from now on. A bundle has them already.
int32_t guardbit_set_output(int32_t model, int32_t zero_point, int32_t min, int32_t max);

// One beat of plain integers: `count` products, as many as there are lanes (in the last beat of a dot product: as are
// left). Operands are those that the multiplier sees. Runs and dot products end where the contract says.
//
// # Safety
// `activations` and `weights` are null or point to `count` values.
int32_t guardbit_step(int32_t model,
                      const int32_t *activations,
                      const int32_t *weights,
                      int32_t count);

// One clock cycle of packed words, as ctrl, stim_a and stim_w hold them and as DPI-C passes `bit` vectors: 32 bits a
// limb, the least significant first. Without the control word's valid bit nothing happens. Bits above a word are
// ignored, and limbs above it are not read.
//
// # Safety
// Every pointer is null or points to as many limbs as said, or to as many as the word has if more are said.
int32_t guardbit_step_words(int32_t model,
                            const uint32_t *ctrl,
                            int32_t ctrl_limbs,
                            const uint32_t *activations,
                            int32_t activation_limbs,
                            const uint32_t *weights,
                            int32_t weight_limbs);

// Writes what level `level` (0: innermost) shows: its register, of a tree what it hands over.
//
// # Safety
// `acc` is null or may be written.
int32_t guardbit_get_acc(int32_t model, int32_t level, int64_t *acc);

// Writes what level `level` would show with unlimited widths, in its own unit.
//
// # Safety
// `exact` is null or may be written.
int32_t guardbit_get_exact_acc(int32_t model, int32_t level, int64_t *exact);

// The flags of level `level` when it last added: GUARDBIT_OVERFLOW, _HIGH, _LOW, _STICKY, or an error code.
int32_t guardbit_get_flags(int32_t model, int32_t level);

// 1 if level `level` added in the last beat, 0 if it held, or an error code.
int32_t guardbit_get_updated(int32_t model, int32_t level);

// Writes the exact sum of the dot product so far, at unit 1, a preloaded bias included.
//
// # Safety
// `exact` is null or may be written.
int32_t guardbit_get_exact(int32_t model, int64_t *exact);

// 1 if the last beat ended a dot product, and writes what the last level delivered; 0 if not.
//
// # Safety
// `sum` is null or may be written.
int32_t guardbit_get_sum(int32_t model, int64_t *sum);

// 1 if the last beat ended a dot product, and writes the output code; 0 if not.
//
// # Safety
// `code` is null or may be written.
int32_t guardbit_get_code(int32_t model, int32_t *code);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GUARDBIT_H */
