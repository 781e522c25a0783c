// Drops SHIFT low bits. Combinational.
//
// ROUND: 0 floor, 1 toward_zero, 2 half_up, 3 half_down, 4 half_away, 5 half_to_zero, 6 half_even, 7 half_odd.
module gb_round_shift #(
    parameter int IN_W = 16,
    parameter int OUT_W = 16,
    parameter int SHIFT = 0,
    parameter int ROUND = 0
) (
    input  logic signed [ IN_W-1:0] x,
    output logic signed [OUT_W-1:0] y
);
    localparam int W = ((IN_W > OUT_W) ? IN_W : OUT_W) + SHIFT + 1;

    logic signed [W-1:0] wide;
    assign wide = {{(W - IN_W) {x[IN_W-1]}}, x};

    generate
        if (SHIFT == 0) begin : g_pass
            assign y = wide[OUT_W-1:0];
        end else begin : g_shift
            localparam logic [SHIFT-1:0] HALF = {1'b1, {(SHIFT - 1) {1'b0}}};
            logic signed [W-1:0] floor_q;
            logic [SHIFT-1:0] rest;
            logic up;
            logic signed [W-1:0] rounded;
            assign floor_q = wide >>> SHIFT;
            assign rest    = wide[SHIFT-1:0];
            assign up = (ROUND == 0) ? 1'b0
                      : (ROUND == 1) ? (wide[W-1] && rest != 0)
                      : (rest != HALF) ? (rest > HALF)
                      : (ROUND == 2) ? 1'b1
                      : (ROUND == 3) ? 1'b0
                      : (ROUND == 4) ? !wide[W-1]
                      : (ROUND == 5) ? wide[W-1]
                      : (ROUND == 6) ? floor_q[0]
                      : !floor_q[0];
            assign rounded = floor_q + $signed({{(W - 1) {1'b0}}, up});
            assign y = rounded[OUT_W-1:0];
        end
    endgenerate
endmodule
