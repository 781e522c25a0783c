// One dot product on the golden model: every register beside the exact sum.
//
// In the project's folder:
//     cc -I rtl-vectors/capi/include rtl-vectors/capi/examples/mac.c -L target/release -lguardbit_capi -o mac
//     LD_LIBRARY_PATH=target/release ./mac fpga-int14-os 12
#include <stdio.h>
#include <stdlib.h>

#include "guardbit.h"

#define MAX_LANES 48

static int32_t need(int32_t code) {
    if (code < 0) {
        fprintf(stderr, "error %d: %s\n", code, guardbit_error());
        exit(2);
    }
    return code;
}

int main(int argc, char **argv) {
    const char *accelerator = argc > 1 ? argv[1] : "fpga-int14-os";
    const int32_t terms = argc > 2 ? atoi(argv[2]) : 12;
    if (guardbit_abi() != GUARDBIT_ABI) {
        fprintf(stderr, "the library has another interface than the header\n");
        return 2;
    }
    const int32_t model = need(guardbit_open_accelerator(accelerator, terms, "int8", 0, "int8", 0));
    const int32_t levels = need(guardbit_levels(model));
    const int32_t lanes = need(guardbit_lanes(model));
    need(guardbit_set_bias(model, 100));
    need(guardbit_set_multiplier(model, 1.0 / 128));
    need(guardbit_set_output(model, 0, -128, 127));

    printf("beat  level       acc     exact  flags\n");
    for (int32_t k = 0, beat = 0; k < terms; beat++) {
        // Up to the rail and back.
        int32_t activations[MAX_LANES], weights[MAX_LANES], count = 0;
        for (; count < lanes && k < terms; count++, k++) {
            activations[count] = k < terms / 2 ? 100 : -100;
            weights[count] = 20;
        }
        need(guardbit_step(model, activations, weights, count));
        for (int32_t level = 0; level < levels; level++) {
            int64_t acc, exact;
            if (!need(guardbit_get_updated(model, level))) continue;
            need(guardbit_get_acc(model, level, &acc));
            need(guardbit_get_exact_acc(model, level, &exact));
            const int32_t flags = need(guardbit_get_flags(model, level));
            printf("%4d  %5d  %8lld  %8lld  %s%s\n", beat, level, (long long)acc, (long long)exact,
                   flags & GUARDBIT_HIGH ? "high " : "", flags & GUARDBIT_LOW ? "low" : "");
        }
    }
    int64_t sum = 0, exact = 0;
    int32_t code = 0;
    if (need(guardbit_get_sum(model, &sum)) != 1 || need(guardbit_get_code(model, &code)) != 1) {
        fprintf(stderr, "the dot product has not ended\n");
        return 1;
    }
    need(guardbit_get_exact(model, &exact));
    printf("sum %lld, exact %lld, code %d\n", (long long)sum, (long long)exact, code);
    need(guardbit_close(model));
    return 0;
}
