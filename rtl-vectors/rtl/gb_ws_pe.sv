// Processing element of a weight-stationary array: two weights, a multiplier, one addition of the column's chain.
//
// Activations pass to the right, sums down, a register each. The next tile's weights come down the column into `next`
// while `now` is in use; the first activation of the next tile (first_in) makes the next weight the present one.
module gb_ws_pe #(
    parameter int A_W = 9,
    parameter int B_W = 8,
    parameter int P_BITS = 0,
    parameter int P_SIGNED = 1,
    parameter int P_MODE = gb_codes::MODE_SATURATE,
    parameter int P_SHIFT = 0,
    parameter int P_ROUND = gb_codes::ROUND_FLOOR,
    parameter int P_W = 17,
    parameter int ACC_W = 14,
    parameter int BITS = 14,
    parameter int IS_SIGNED = 1,
    parameter int MODE = gb_codes::MODE_SATURATE,
    parameter int HAND_OVER = 0,
    parameter int SHIFT = 0,
    parameter int ROUND = gb_codes::ROUND_FLOOR,
    parameter int OUT_W = 14
) (
    input  logic                    clk,
    input  logic                    rst_n,
    // Weights on their way down.
    input  logic                    load,
    input  logic signed [  B_W-1:0] w_in,
    output logic signed [  B_W-1:0] w_out,
    // A pixel: valid, the first of a tile.
    input  logic                    valid_in,
    input  logic                    first_in,
    input  logic signed [  A_W-1:0] a_in,
    output logic                    valid_out,
    output logic                    first_out,
    output logic signed [  A_W-1:0] a_out,
    // The chain: what the rows above have added.
    input  logic signed [ACC_W-1:0] sum_in,
    input  logic                    stuck_in,
    output logic signed [ACC_W-1:0] sum_out,
    output logic                    stuck_out,
    // What the chain hands over if it ends here, in the cycle of the addition.
    output logic signed [OUT_W-1:0] chain
);

    logic signed [B_W-1:0] next, now, w;
    assign w     = (valid_in && first_in) ? next : now;
    assign w_out = next;

    logic signed [P_W-1:0] product;
    gb_product #(
        .A_W(A_W), .B_W(B_W), .BITS(P_BITS), .IS_SIGNED(P_SIGNED), .MODE(P_MODE), .SHIFT(P_SHIFT), .ROUND(P_ROUND),
        .OUT_W(P_W)
    ) u_product (
        .a(a_in), .b(w), .p(product)
    );

    logic signed [ACC_W-1:0] sum;
    logic stuck;
    // The array shows no flags.
    /* verilator lint_off UNUSEDSIGNAL */
    logic high, low;
    /* verilator lint_on UNUSEDSIGNAL */
    gb_sum #(
        .IN_W(P_W), .ACC_W(ACC_W), .BITS(BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE), .HAND_OVER(HAND_OVER),
        .SHIFT(SHIFT), .ROUND(ROUND), .OUT_W(OUT_W)
    ) u_sum (
        .held(sum_in), .held_stuck(gb_codes::STICKY[MODE] && stuck_in), .x(product), .run_last(1'b1),
        .next(sum), .next_stuck(stuck), .y(chain), .high(high), .low(low)
    );

    always_ff @(posedge clk) begin
        if (load) next <= w_in;
        now       <= w;
        valid_out <= rst_n && valid_in;
        first_out <= first_in;
        a_out     <= a_in;
        sum_out   <= sum;
        stuck_out <= stuck;
    end
endmodule
