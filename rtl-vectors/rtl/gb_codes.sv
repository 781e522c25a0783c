// Codes of the choices that parameters make; made by rtl-vectors/src/hdl/codes.rs from guardbit's enums.
package gb_codes;
    // No design needs them all.
    /* verilator lint_off UNUSEDPARAM */

    // Overflow modes.
    localparam int MODE_WRAP = 0;
    localparam int MODE_SATURATE = 1;
    localparam int MODE_SATURATE_SYMMETRIC = 2;
    localparam int MODE_SATURATE_ZERO = 3;
    localparam int MODE_STICKY = 4;
    localparam int MODE_OBSERVE = 5;
    localparam int MODE_TRAP = 6;

    // Roundings.
    localparam int ROUND_FLOOR = 0;
    localparam int ROUND_TOWARD_ZERO = 1;
    localparam int ROUND_HALF_UP = 2;
    localparam int ROUND_HALF_DOWN = 3;
    localparam int ROUND_HALF_AWAY = 4;
    localparam int ROUND_HALF_TO_ZERO = 5;
    localparam int ROUND_HALF_EVEN = 6;
    localparam int ROUND_HALF_ODD = 7;

    // Kinds of levels.
    localparam int REDUCE_SERIAL = 0;
    localparam int REDUCE_TREE = 1;

    // Requantization schemes.
    localparam int SCHEME_DOUBLE = 0;
    localparam int SCHEME_SINGLE = 1;
    localparam int SCHEME_AWAY = 2;
    localparam int SCHEME_EVEN = 3;
    localparam int SCHEME_FLOAT64_AWAY = 6;

    // What is true of an overflow mode: bit MODE.
    localparam logic [31:0] SYMMETRIC = 32'h00000004; // the lower rail is the negative of the upper one
    localparam logic [31:0] STICKY = 32'h00000010; // a register that has overflowed ignores further values of the run
    localparam logic [31:0] EXACT = 32'h00000060; // the value stays exact

    /* verilator lint_on UNUSEDPARAM */
endpackage
