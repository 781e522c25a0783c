// Processing element of an output-stationary array: a multiplier, an accumulator, and a place in the column's drain.
//
// Activations pass to the right and weights down, a register each; the flags of a step travel with the activation.
// The sum stays. With the last product it moves to drain_out, from where the column shifts it down: see gb_os_array.
module gb_os_pe #(
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
    // A step: valid, the first or last product of a dot product.
    input  logic                    valid_in,
    input  logic                    first_in,
    input  logic                    last_in,
    input  logic signed [  A_W-1:0] a_in,
    input  logic signed [  B_W-1:0] w_in,
    output logic                    valid_out,
    output logic                    first_out,
    output logic                    last_out,
    output logic signed [  A_W-1:0] a_out,
    output logic signed [  B_W-1:0] w_out,
    // The drain of the column.
    input  logic                    drain_shift,
    input  logic signed [OUT_W-1:0] drain_in,
    output logic signed [OUT_W-1:0] drain_out
);
    logic signed [P_W-1:0] product;
    gb_product #(
        .A_W(A_W), .B_W(B_W), .BITS(P_BITS), .IS_SIGNED(P_SIGNED), .MODE(P_MODE), .SHIFT(P_SHIFT), .ROUND(P_ROUND),
        .OUT_W(P_W)
    ) u_product (
        .a(a_in), .b(w_in), .p(product)
    );

    logic signed [OUT_W-1:0] sum;
    // What a level shows beside its sum.
    /* verilator lint_off UNUSEDSIGNAL */
    logic signed [ACC_W-1:0] acc;
    logic updated, high, low, sticky;
    /* verilator lint_on UNUSEDSIGNAL */
    gb_level #(
        .IN_W(P_W), .ACC_W(ACC_W), .BITS(BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE), .HAND_OVER(HAND_OVER),
        .SHIFT(SHIFT), .ROUND(ROUND), .OUT_W(OUT_W), .INIT_W(2)
    ) u_acc (
        .clk(clk), .rst_n(rst_n), .clear(valid_in && first_in), .valid(valid_in), .run_last(last_in), .keep(1'b1), .x(product),
        .init(2'sb00), .y(sum), .acc(acc), .updated(updated), .high(high), .low(low), .sticky(sticky)
    );

    always_ff @(posedge clk) begin
        valid_out <= rst_n && valid_in;
        first_out <= first_in;
        last_out  <= last_in;
        a_out     <= a_in;
        w_out     <= w_in;
        if (valid_in && last_in) drain_out <= sum;
        else if (drain_shift) drain_out <= drain_in;
    end
endmodule
