// What a register holds of a value beyond its rails: a branch per overflow mode. Combinational.
// exact: the value; wrapped: its low bits; rail: the rail that it crossed; min and max: both rails. Made by rtl-vectors/src/hdl/codes.rs from guardbit's enums.
module gb_overflow #(
    parameter int W = 18,
    parameter int MODE = gb_codes::MODE_SATURATE
) (
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic signed [W-1:0] exact,
    input  logic signed [W-1:0] wrapped,
    input  logic signed [W-1:0] rail,
    input  logic signed [W-1:0] min,
    input  logic signed [W-1:0] max,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic signed [W-1:0] y
);
    /* verilator lint_off UNUSEDPARAM */
    localparam logic signed [W-1:0] zero = {W{1'b0}};
    /* verilator lint_on UNUSEDPARAM */

    generate
        if (MODE == gb_codes::MODE_WRAP) begin : g_wrap
            assign y = wrapped;
        end else if (MODE == gb_codes::MODE_SATURATE) begin : g_saturate
            assign y = rail;
        end else if (MODE == gb_codes::MODE_SATURATE_SYMMETRIC) begin : g_saturate_symmetric
            assign y = rail;
        end else if (MODE == gb_codes::MODE_SATURATE_ZERO) begin : g_saturate_zero
            assign y = zero;
        end else if (MODE == gb_codes::MODE_STICKY) begin : g_sticky
            assign y = rail;
        end else if (MODE == gb_codes::MODE_OBSERVE) begin : g_observe
            assign y = exact;
        end else if (MODE == gb_codes::MODE_TRAP) begin : g_trap
            assign y = exact;
        end else begin : g_unknown
            assign y = 'x;
`ifndef SYNTHESIS
            initial $fatal(1, "there is no overflow mode %0d", MODE);
`endif
        end
    endgenerate
endmodule
