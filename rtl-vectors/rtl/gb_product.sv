// One multiplier: signed operands, fitted to the product register, then shifted right. Combinational.
module gb_product #(
    parameter int A_W = 9,
    parameter int B_W = 8,
    parameter int BITS = 0,
    parameter int IS_SIGNED = 1,
    parameter int MODE = gb_codes::MODE_SATURATE,
    parameter int SHIFT = 0,
    parameter int ROUND = gb_codes::ROUND_FLOOR,
    parameter int OUT_W = 17
) (
    input  logic signed [  A_W-1:0] a,
    input  logic signed [  B_W-1:0] b,
    output logic signed [OUT_W-1:0] p
);
    localparam int FULL_W = A_W + B_W;
    localparam int FIT_W = (FULL_W > BITS) ? FULL_W + 1 : BITS + 1;

    logic signed [FULL_W-1:0] exact;
    logic signed [FIT_W-1:0] fitted;
    // A product that does not fit is not flagged.
    /* verilator lint_off UNUSEDSIGNAL */
    logic high, low;
    /* verilator lint_on UNUSEDSIGNAL */

    assign exact = a * b;

    gb_fit #(.IN_W(FULL_W), .OUT_W(FIT_W), .BITS(BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE)) u_fit (
        .x(exact), .y(fitted), .high(high), .low(low)
    );
    gb_round_shift #(.IN_W(FIT_W), .OUT_W(OUT_W), .SHIFT(SHIFT), .ROUND(ROUND)) u_shift (.x(fitted), .y(p));
endmodule
