// Drops SHIFT low bits. Combinational.
//
// ROUND: how, by gb_codes.
module gb_round_shift #(
    parameter int IN_W = 16,
    parameter int OUT_W = 16,
    parameter int SHIFT = 0,
    parameter int ROUND = gb_codes::ROUND_FLOOR
) (
    input  logic signed [ IN_W-1:0] x,
    output logic signed [OUT_W-1:0] y
);
    localparam int W = ((IN_W > OUT_W) ? IN_W : OUT_W) + SHIFT + 1;

    // Bits above the result's are not needed.
    /* verilator lint_off UNUSEDSIGNAL */
    logic signed [W-1:0] wide;
    /* verilator lint_on UNUSEDSIGNAL */
    assign wide = {{(W - IN_W) {x[IN_W-1]}}, x};

    generate
        if (SHIFT == 0) begin : g_pass
            assign y = wide[OUT_W-1:0];
        end else begin : g_shift
            localparam logic [SHIFT-1:0] HALF = {1'b1, {(SHIFT - 1) {1'b0}}};
            logic signed [W-1:0] floor_q;
            logic [SHIFT-1:0] rest;
            logic up;
            /* verilator lint_off UNUSEDSIGNAL */
            logic signed [W-1:0] rounded;
            /* verilator lint_on UNUSEDSIGNAL */
            assign floor_q = wide >>> SHIFT;
            assign rest    = wide[SHIFT-1:0];
            // Of one bit, no rest is above a half.
            /* verilator lint_off CMPCONST */
            assign up = (ROUND == gb_codes::ROUND_FLOOR) ? 1'b0
                      : (ROUND == gb_codes::ROUND_TOWARD_ZERO) ? (wide[W-1] && rest != 0)
                      : (rest != HALF) ? (rest > HALF)
                      : (ROUND == gb_codes::ROUND_HALF_UP) ? 1'b1
                      : (ROUND == gb_codes::ROUND_HALF_DOWN) ? 1'b0
                      : (ROUND == gb_codes::ROUND_HALF_AWAY) ? !wide[W-1]
                      : (ROUND == gb_codes::ROUND_HALF_TO_ZERO) ? wide[W-1]
                      : (ROUND == gb_codes::ROUND_HALF_EVEN) ? floor_q[0]
                      : (ROUND == gb_codes::ROUND_HALF_ODD) ? !floor_q[0]
                      : 1'bx;
            /* verilator lint_on CMPCONST */
            assign rounded = floor_q + $signed({{(W - 1) {1'b0}}, up});
            assign y = rounded[OUT_W-1:0];
        end
    endgenerate
endmodule
