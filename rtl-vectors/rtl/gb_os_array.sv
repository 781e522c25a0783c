// Output-stationary systolic array: rows hold pixels, columns hold output channels.
//
// In a cycle with in_valid, in_a holds product k's activation of every row's pixel and in_w its weight of every
// column's channel; in_first and in_last mark a tile's first and last k. Tiles may follow each other at once, but their
// last products must be ROWS cycles apart or more. The array skews its inputs itself: the element in row r and column c adds in cycle
// k + r + c. When the bottom row of a column is done, the column's sums leave through it: out_valid[c] for ROWS cycles,
// the bottom row first. The next tile computes meanwhile.
module gb_os_array #(
    parameter int ROWS = 4,
    parameter int COLS = 4,
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
    // in_load, in_start and in_done are for arrays whose weights stay.
    input  logic                  clk,
    input  logic                  rst_n,
    input  logic                  in_valid,
    input  logic                  in_first,
    input  logic                  in_last,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic                  in_load,
    input  logic                  in_start,
    input  logic                  in_done,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic [  ROWS*A_W-1:0] in_a,
    input  logic [  COLS*B_W-1:0] in_w,
    output logic [      COLS-1:0] out_valid,
    output logic [COLS*OUT_W-1:0] out_sum,
    // For those who measure: the first element starts a tile; the last element adds.
    output logic                  tile_first,
    output logic                  adds_last
);
    // Between the elements: index [row][column] of the element that reads it.
    wire                    valid[0:ROWS-1] [0:COLS];
    wire                    first[0:ROWS-1] [0:COLS];
    wire                    last [0:ROWS-1] [0:COLS];
    wire signed [  A_W-1:0] a    [0:ROWS-1] [0:COLS];
    wire signed [  B_W-1:0] w    [  0:ROWS] [0:COLS-1];
    wire signed [OUT_W-1:0] drain[  0:ROWS] [0:COLS-1];

    localparam int STEP_W = $clog2(ROWS + 1);
    localparam logic [STEP_W-1:0] LAST_STEP = STEP_W'(ROWS - 1);

    genvar row, col;
    generate
        for (row = 0; row < ROWS; row = row + 1) begin : g_left
            logic [A_W+2:0] skewed;
            gb_delay #(.W(A_W + 3), .DEPTH(row)) u_skew (
                .clk(clk), .rst_n(rst_n), .d({in_valid, in_first, in_last, in_a[row*A_W+:A_W]}), .q(skewed)
            );
            assign valid[row][0] = skewed[A_W+2];
            assign first[row][0] = skewed[A_W+1];
            assign last[row][0]  = skewed[A_W];
            assign a[row][0]     = skewed[A_W-1:0];
        end

        for (col = 0; col < COLS; col = col + 1) begin : g_col
            gb_delay #(.W(B_W), .DEPTH(col)) u_skew (
                .clk(clk), .rst_n(rst_n), .d(in_w[col*B_W+:B_W]), .q(w[0][col])
            );
            assign drain[0][col] = {OUT_W{1'b0}};

            // The column drains from the cycle after its bottom row's last addition: step counts its sums. Row r
            // shifts in the first r steps only: after that it may hold the next tile's sum.
            logic draining;
            logic [STEP_W-1:0] step;
            always_ff @(posedge clk) begin
                if (!rst_n) draining <= 1'b0;
                else if (valid[ROWS-1][col] && last[ROWS-1][col]) draining <= 1'b1;
                else if (step == LAST_STEP) draining <= 1'b0;
                if (valid[ROWS-1][col] && last[ROWS-1][col]) step <= 0;
                else step <= step + 1'b1;
            end
            assign out_valid[col] = draining;
            assign out_sum[col*OUT_W+:OUT_W] = drain[ROWS][col];

            for (row = 0; row < ROWS; row = row + 1) begin : g_row
                localparam logic [STEP_W-1:0] ROW = STEP_W'(row);
                // Row 0 never shifts.
                /* verilator lint_off UNSIGNED */
                gb_os_pe #(
                    .A_W(A_W), .B_W(B_W), .P_BITS(P_BITS), .P_SIGNED(P_SIGNED), .P_MODE(P_MODE), .P_SHIFT(P_SHIFT),
                    .P_ROUND(P_ROUND), .P_W(P_W), .ACC_W(ACC_W), .BITS(BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE),
                    .HAND_OVER(HAND_OVER), .SHIFT(SHIFT), .ROUND(ROUND), .OUT_W(OUT_W)
                ) u_pe (
                    .clk(clk), .rst_n(rst_n),
                    .valid_in(valid[row][col]), .first_in(first[row][col]), .last_in(last[row][col]),
                    .a_in(a[row][col]), .w_in(w[row][col]),
                    .valid_out(valid[row][col+1]), .first_out(first[row][col+1]), .last_out(last[row][col+1]),
                    .a_out(a[row][col+1]), .w_out(w[row+1][col]),
                    .drain_shift(draining && step < ROW), .drain_in(drain[row][col]), .drain_out(drain[row+1][col])
                );
                /* verilator lint_on UNSIGNED */
            end
        end
    endgenerate

    assign tile_first = valid[0][0] && first[0][0];
    assign adds_last  = valid[ROWS-1][COLS-1];
endmodule
