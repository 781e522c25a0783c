// The golden model from SystemVerilog: the functions of guardbit.h, as they are. Link with libguardbit_capi.
//
// A model is a number above 0. Functions return a code below 0 when they fail; guardbit_error() says why.
package guardbit_dpi;
    // Words are passed in vectors of these widths; bits above a word are ignored.
    localparam int CTRL_BITS = 64;
    localparam int DATA_BITS = 2048;

    localparam int GUARDBIT_ABI = 2;
    // Values of the arrays of guardbit_tile_step; those above rows * count and cols * count are ignored.
    localparam int TILE_VALUES = 1024;

    import "DPI-C" function int guardbit_abi();
    import "DPI-C" function string guardbit_error();
    import "DPI-C" function int guardbit_open_bundle(input string dir);
    import "DPI-C" function int guardbit_open_accelerator(
        input string accelerator, input int terms,
        input string activation_type, input int activation_zero_point,
        input string weight_type, input int weight_zero_point
    );
    import "DPI-C" function int guardbit_copy(input int model);
    import "DPI-C" function int guardbit_restore(input int model, input int from);
    import "DPI-C" function int guardbit_open_tile(input int model, input int rows, input int cols);
    import "DPI-C" function int guardbit_tile_unit(input int tile_number, input int row, input int col);
    import "DPI-C" function int guardbit_tile_step(
        input int tile_number, input int activations [TILE_VALUES], input int weights [TILE_VALUES], input int count
    );
    import "DPI-C" function int guardbit_close(input int model);
    import "DPI-C" function int guardbit_levels(input int model);
    import "DPI-C" function int guardbit_lanes(input int model);
    import "DPI-C" function int guardbit_terms(input int model);
    import "DPI-C" function int guardbit_reset(input int model);
    import "DPI-C" function int guardbit_clear(input int model);
    import "DPI-C" function int guardbit_set_bias(input int model, input longint bias);
    import "DPI-C" function int guardbit_set_multiplier(input int model, input real multiplier);
    import "DPI-C" function int guardbit_set_multiplier_ports(
        input int model, input longint mult, input int exponent
    );
    import "DPI-C" function int guardbit_set_output(
        input int model, input int zero_point, input int least, input int greatest
    );
    import "DPI-C" function int guardbit_step_words(
        input int model,
        input bit [CTRL_BITS-1:0] ctrl, input int ctrl_limbs,
        input bit [DATA_BITS-1:0] activations, input int activation_limbs,
        input bit [DATA_BITS-1:0] weights, input int weight_limbs
    );
    import "DPI-C" function int guardbit_get_acc(input int model, input int level, output longint acc);
    import "DPI-C" function int guardbit_get_exact_acc(
        input int model, input int level, output longint exact
    );
    import "DPI-C" function int guardbit_get_flags(input int model, input int level);
    import "DPI-C" function int guardbit_get_updated(input int model, input int level);
    import "DPI-C" function int guardbit_get_exact(input int model, output longint exact);
    import "DPI-C" function int guardbit_get_sum(input int model, output longint sum);
    import "DPI-C" function int guardbit_get_code(input int model, output int code);
endpackage
