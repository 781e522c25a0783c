// The golden model of a MAC unit: what RTL has to do, beat by beat.
//
// Link with libguardbit_capi. Functions return a code below 0 when they fail; guardbit_error() says why.
// Made by cbindgen from src/exports.rs.

#ifndef GUARDBIT_H
#define GUARDBIT_H

#include <stdint.h>

// Version of this interface; it changes whenever a function does.
#define GUARDBIT_ABI 2

// Maximum number of products of a tile: those of a dot product, times the units.
#define GUARDBIT_MAX_TILE 4194304

// Success.
#define GUARDBIT_OK 0

// A pointer is null.
#define GUARDBIT_E_NULL -1

// The model does not exist: it was never opened, or was closed.
#define GUARDBIT_E_HANDLE -2

// A value is not allowed.
#define GUARDBIT_E_PARAMETER -3

// The bundle is not usable, or bundles do not support this datapath.
#define GUARDBIT_E_BUNDLE -4

// The accelerator does not exist, or cannot run the layer.
#define GUARDBIT_E_ACCELERATOR -5

// The interface does not allow this beat; the model has not moved.
#define GUARDBIT_E_BEAT -6

// Another call is required before.
#define GUARDBIT_E_STATE -7

// Internal error of guardbit; the model is closed.
#define GUARDBIT_E_INTERNAL -8

// Flag of a level: an exact result did not fit.
#define GUARDBIT_OVERFLOW 1

// Flag of a level: the result was above the range.
#define GUARDBIT_HIGH 2

// Flag of a level: the result was below the range.
#define GUARDBIT_LOW 4

// Flag of a level: this run had an overflow.
#define GUARDBIT_STICKY 8

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library's interface, to be compared with GUARDBIT_ABI.
int32_t guardbit_abi(void);

// Returns the message of this thread's last error. The text is valid until the next call that fails.
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
// `accelerator` is a preset's name, the path of a YAML file, or its text (with at least one line break).
// Types of codes are "int4", "uint4", "int8", "uint8", "int16" (activations) and so on. Returns the model's
// number, above 0, or an error code.
//
// # Safety
// Every pointer is null or a string that ends with NUL.
int32_t guardbit_open_accelerator(const char *accelerator,
                                  int32_t terms,
                                  const char *activation_type,
                                  int32_t activation_zero_point,
                                  const char *weight_type,
                                  int32_t weight_zero_point);

// Opens a copy of a model with its current state: registers, and the dot product in progress. Returns the copy's
// number, above 0, or an error code.
int32_t guardbit_copy(int32_t model);

// Gives a model the state and the settings of another one, for example of an earlier copy, which stays open.
int32_t guardbit_restore(int32_t model, int32_t from);

// Opens a tile of an array: `rows` times `cols` copies of a model, with its state and settings. Units of one row share
// their activations, units of one column their weights. Returns the tile's number, above 0, or an error code. guardbit_close
// closes a tile with its units.
int32_t guardbit_open_tile(int32_t model,
                           int32_t rows,
                           int32_t cols);

// Returns the number of a tile's unit. It is a model as any other: its bias can be set, and its registers read.
int32_t guardbit_tile_unit(int32_t tile_number,
                           int32_t row,
                           int32_t col);

// Runs one beat of every unit of a tile. `activations` holds `count` values per row, and `weights` `count` values per
// column, one row or column after the other; `count` is as for guardbit_step. The tile has no skew: after step k, every unit
// holds its sum of k beats. If a unit does not accept the beat, none moves.
//
// # Safety
// `activations` is null or points to `count` values per row, `weights` to `count` values per column.
int32_t guardbit_tile_step(int32_t tile_number,
                           const int32_t *activations,
                           const int32_t *weights,
                           int32_t count);

// Closes a model. Its number is not used again.
int32_t guardbit_close(int32_t model);

// Returns the number of accumulation levels.
int32_t guardbit_levels(int32_t model);

// Returns the number of products per beat.
int32_t guardbit_lanes(int32_t model);

// Returns the number of products per dot product.
int32_t guardbit_terms(int32_t model);

// Resets the model: registers are 0, no dot product is in progress. Bias, multiplier and output settings are
// kept.
int32_t guardbit_reset(int32_t model);

// Makes the next guardbit_step begin a dot product, even if the previous one is unfinished. Registers hold.
int32_t guardbit_clear(int32_t model);

// Sets the bias, in the unit of the place where it is added, as on in_bias. A preloaded bias takes effect
// when its level starts a run, any other when the dot product ends. A bias that does not fit the port is an error.
int32_t guardbit_set_bias(int32_t model,
                          int64_t bias);

// Sets the real multiplier of the requantization, for sums at unit 1.
int32_t guardbit_set_multiplier(int32_t model, double multiplier);

// Sets the multiplier in the form of the ports in_mult and in_exp.
int32_t guardbit_set_multiplier_ports(int32_t model, int64_t mult, int32_t exponent);

// Sets zero point and clamp of the output code. A bundle defines them already.
int32_t guardbit_set_output(int32_t model, int32_t zero_point, int32_t min, int32_t max);

// Runs one beat of plain integers: `count` products, equal to the number of lanes (in the last beat of a dot
// product: the remaining products). Operands are those at the multiplier. Runs and dot products end as the
// datapath defines.
//
// # Safety
// `activations` and `weights` are null or point to `count` values.
int32_t guardbit_step(int32_t model, const int32_t *activations, const int32_t *weights, int32_t count);

// Runs one clock cycle of packed words in the format of ctrl, stim_a and stim_w and of `bit` vectors in
// DPI-C: 32 bits per limb, the least significant first. Without the valid bit of the control word nothing
// happens. Bits above a word are ignored, and limbs above it are not read.
//
// # Safety
// Every pointer is null or points to the stated number of limbs, or to the limbs of the word if more are
// stated.
int32_t guardbit_step_words(int32_t model,
                            const uint32_t *ctrl,
                            int32_t ctrl_limbs,
                            const uint32_t *activations,
                            int32_t activation_limbs,
                            const uint32_t *weights,
                            int32_t weight_limbs);

// Writes the visible value of level `level` (0: innermost): its register, or for a tree the value handed
// over.
//
// # Safety
// `acc` is null or may be written.
int32_t guardbit_get_acc(int32_t model, int32_t level, int64_t *acc);

// Writes the visible value of level `level` with unlimited widths, in its own unit.
//
// # Safety
// `exact` is null or may be written.
int32_t guardbit_get_exact_acc(int32_t model, int32_t level, int64_t *exact);

// Returns the flags of the last addition of level `level`: GUARDBIT_OVERFLOW, _HIGH, _LOW, _STICKY, or an
// error code.
int32_t guardbit_get_flags(int32_t model, int32_t level);

// Returns 1 if level `level` added in the last beat, 0 if it held, or an error code.
int32_t guardbit_get_updated(int32_t model, int32_t level);

// Writes the exact sum of the dot product so far, at unit 1, including a preloaded bias.
//
// # Safety
// `exact` is null or may be written.
int32_t guardbit_get_exact(int32_t model, int64_t *exact);

// Returns 1 if the last beat ended a dot product, and writes the sum that the last level delivered;
// otherwise returns 0.
//
// # Safety
// `sum` is null or may be written.
int32_t guardbit_get_sum(int32_t model, int64_t *sum);

// Returns 1 if the last beat ended a dot product, and writes the output code; otherwise returns 0.
//
// # Safety
// `code` is null or may be written.
int32_t guardbit_get_code(int32_t model, int32_t *code);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* GUARDBIT_H */
