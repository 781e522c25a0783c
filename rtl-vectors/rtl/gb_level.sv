// One serial accumulation level: a register and an adder.
//
// A run starts after reset, after clear and after run_last; it starts from init. Every value is added and checked
// (HAND_OVER = 0), or sums are exact and checked once when the run ends (HAND_OVER = 1). y is what the next level
// gets in the cycle of run_last: fitted, then shifted.
module gb_level #(
    parameter int LANES = 1,
    parameter int IN_W = 17,
    parameter int ACC_W = 14,
    parameter int BITS = 14,
    parameter int IS_SIGNED = 1,
    parameter int MODE = gb_codes::MODE_SATURATE,
    parameter int HAND_OVER = 0,
    parameter int SHIFT = 0,
    parameter int ROUND = gb_codes::ROUND_FLOOR,
    parameter int OUT_W = 14,
    parameter int INIT_W = 2
) (
    input  logic                         clk,
    input  logic                         rst_n,
    input  logic                         clear,
    input  logic                         valid,
    input  logic                         run_last,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic        [     LANES-1:0] keep,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic        [LANES*IN_W-1:0] x,
    input  logic signed [    INIT_W-1:0] init,
    output logic signed [     OUT_W-1:0] y,
    output logic signed [     ACC_W-1:0] acc,
    output logic                         updated,
    output logic                         high,
    output logic                         low,
    output logic                         sticky
);
    localparam int ADD_BITS = (HAND_OVER != 0) ? 0 : BITS;

    // Of the lanes that levels of other kinds have, there is one, always in use.
    logic signed [IN_W-1:0] addend;
    assign addend = x[IN_W-1:0];

    logic fresh, start, stuck;

    // What the run starts from: init may not fit either.
    logic signed [ACC_W-1:0] first;
    logic first_high, first_low;
    gb_fit #(.IN_W(INIT_W), .OUT_W(ACC_W), .BITS(ADD_BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE)) u_first (
        .x(init), .y(first), .high(first_high), .low(first_low)
    );

    logic signed [ACC_W-1:0] held, next;
    logic held_stuck, next_stuck, now_high, now_low;
    assign start      = fresh || clear;
    assign held       = start ? first : acc;
    assign held_stuck = gb_codes::STICKY[MODE] && (start ? (first_high || first_low) : stuck);

    gb_sum #(
        .IN_W(IN_W), .ACC_W(ACC_W), .BITS(BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE), .HAND_OVER(HAND_OVER),
        .SHIFT(SHIFT), .ROUND(ROUND), .OUT_W(OUT_W)
    ) u_sum (
        .held(held), .held_stuck(held_stuck), .x(addend), .run_last(run_last),
        .next(next), .next_stuck(next_stuck), .y(y), .high(now_high), .low(now_low)
    );

    always_ff @(posedge clk) begin
        if (!rst_n) begin
            acc     <= {ACC_W{1'b0}};
            fresh   <= 1'b1;
            stuck   <= 1'b0;
            updated <= 1'b0;
            high    <= 1'b0;
            low     <= 1'b0;
            sticky  <= 1'b0;
        end else begin
            updated <= valid;
            if (valid) begin
                acc    <= next;
                stuck  <= next_stuck;
                high   <= now_high;
                low    <= now_low;
                sticky <= (sticky && !start) || now_high || now_low;
                fresh  <= run_last;
            end else if (clear) begin
                fresh <= 1'b1;
            end
        end
    end
endmodule
