// One addition of a serial level. Combinational.
//
// held + x, fitted (HAND_OVER = 0) or exact (HAND_OVER = 1). With run_last, y is what the next level gets: fitted if it
// was not yet, then shifted. held_stuck: sticky saturation has hit a rail in this run; held stays.
module gb_sum #(
    parameter int IN_W = 17,
    parameter int ACC_W = 14,
    parameter int BITS = 14,
    parameter int IS_SIGNED = 1,
    parameter int MODE = gb_codes::MODE_SATURATE,
    parameter int HAND_OVER = 0,
    parameter int SHIFT = 0,
    parameter int ROUND = gb_codes::ROUND_FLOOR,
    parameter int OUT_W = 14
) (
    input  logic signed [ACC_W-1:0] held,
    input  logic                    held_stuck,
    input  logic signed [ IN_W-1:0] x,
    input  logic                    run_last,
    output logic signed [ACC_W-1:0] next,
    output logic                    next_stuck,
    output logic signed [OUT_W-1:0] y,
    output logic                    high,
    output logic                    low
);
    localparam int ADD_BITS = (HAND_OVER != 0) ? 0 : BITS;
    localparam int SUM_W = ((IN_W > ACC_W) ? IN_W : ACC_W) + 1;
    localparam int LEAVE_W = ((ACC_W > BITS) ? ACC_W : BITS) + 1;

    logic signed [SUM_W-1:0] sum;
    logic signed [ACC_W-1:0] fitted;
    logic sum_high, sum_low, add_high, add_low;
    assign sum = {{(SUM_W - ACC_W) {held[ACC_W-1]}}, held} + {{(SUM_W - IN_W) {x[IN_W-1]}}, x};
    gb_fit #(.IN_W(SUM_W), .OUT_W(ACC_W), .BITS(ADD_BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE)) u_add (
        .x(sum), .y(fitted), .high(sum_high), .low(sum_low)
    );
    assign next       = held_stuck ? held : fitted;
    assign add_high   = sum_high && !held_stuck;
    assign add_low    = sum_low && !held_stuck;
    assign next_stuck = held_stuck || add_high || add_low;

    logic signed [LEAVE_W-1:0] leaving;
    logic leave_high, leave_low;
    gb_fit #(
        .IN_W(ACC_W), .OUT_W(LEAVE_W), .BITS((HAND_OVER != 0) ? BITS : 0), .IS_SIGNED(IS_SIGNED), .MODE(MODE)
    ) u_leave (
        .x(next), .y(leaving), .high(leave_high), .low(leave_low)
    );
    gb_round_shift #(.IN_W(LEAVE_W), .OUT_W(OUT_W), .SHIFT(SHIFT), .ROUND(ROUND)) u_shift (.x(leaving), .y(y));

    assign high = add_high || (run_last && leave_high);
    assign low  = add_low || (run_last && leave_low);
endmodule
