// Accumulator memory below a column of a weight-stationary array: one sum per pixel of the tile.
//
// A chain's sum arrives per cycle, pixel after pixel from `first` on. With `start` it begins a dot product, else it is
// added to what the pixel has; with `done` the dot product is complete and y leaves in the same cycle.
module gb_ws_acc #(
    parameter int DEPTH = 16,
    parameter int IN_W = 14,
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
    input  logic                    valid,
    input  logic                    first,
    input  logic                    start,
    input  logic                    done,
    input  logic signed [ IN_W-1:0] x,
    output logic                    out_valid,
    output logic signed [OUT_W-1:0] y
);
    localparam int AT_W = (DEPTH > 1) ? $clog2(DEPTH) : 1;

    // The top bit remembers sticky saturation.
    logic [ACC_W:0] sums[0:DEPTH-1];
    logic [ACC_W:0] word;
    logic [AT_W-1:0] at, count;
    assign at   = first ? {AT_W{1'b0}} : count;
    assign word = sums[at];

    logic signed [ACC_W-1:0] held, next;
    logic next_stuck;
    // The array shows no flags.
    /* verilator lint_off UNUSEDSIGNAL */
    logic high, low;
    /* verilator lint_on UNUSEDSIGNAL */
    assign held = start ? {ACC_W{1'b0}} : word[ACC_W-1:0];
    gb_sum #(
        .IN_W(IN_W), .ACC_W(ACC_W), .BITS(BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE), .HAND_OVER(HAND_OVER),
        .SHIFT(SHIFT), .ROUND(ROUND), .OUT_W(OUT_W)
    ) u_sum (
        .held(held), .held_stuck(gb_codes::STICKY[MODE] && !start && word[ACC_W]), .x(x), .run_last(done),
        .next(next), .next_stuck(next_stuck), .y(y), .high(high), .low(low)
    );
    assign out_valid = valid && done;

    always_ff @(posedge clk) begin
        if (valid) begin
            sums[at] <= {next_stuck, next};
            count    <= at + 1'b1;
        end
    end
endmodule
