// Weight-stationary systolic array: rows hold products, columns hold output channels; sums move down the columns into
// an accumulator memory below each.
//
// in_load, ROWS cycles long: weights of a tile, the bottom row's first; rows beyond the tile's products get 0. Then
// in_valid, a pixel per cycle: in_a holds the activation of every row's product; in_first marks the tile's first pixel,
// in_start and in_done the tiles that hold the first and the last products of the dot products. The next tile's
// weights may be loaded meanwhile; tiles follow each other at once, but not closer than ROWS cycles. The array skews
// its inputs itself: in row r and column c, pixel m is served in cycle m + r + c; the accumulator adds in the cycle of
// the bottom row, and complete sums leave there and then: out_valid[c].
module gb_ws_array #(
    parameter int ROWS = 4,
    parameter int COLS = 4,
    // Pixels of a tile, at most.
    parameter int DEPTH = 16,
    parameter int A_W = 9,
    parameter int B_W = 8,
    parameter int P_BITS = 0,
    parameter int P_SIGNED = 1,
    parameter int P_MODE = gb_codes::MODE_SATURATE,
    parameter int P_SHIFT = 0,
    parameter int P_ROUND = gb_codes::ROUND_FLOOR,
    parameter int P_W = 17,
    // The column's chain.
    parameter int C_ACC_W = 14,
    parameter int C_BITS = 14,
    parameter int C_SIGNED = 1,
    parameter int C_MODE = gb_codes::MODE_SATURATE,
    parameter int C_HAND_OVER = 0,
    parameter int C_SHIFT = 0,
    parameter int C_ROUND = gb_codes::ROUND_FLOOR,
    parameter int C_W = 17,
    // The accumulator memory.
    parameter int ACC_W = 14,
    parameter int BITS = 14,
    parameter int IS_SIGNED = 1,
    parameter int MODE = gb_codes::MODE_SATURATE,
    parameter int HAND_OVER = 0,
    parameter int SHIFT = 0,
    parameter int ROUND = gb_codes::ROUND_FLOOR,
    parameter int OUT_W = 14
) (
    // in_last is for arrays whose sums stay.
    input  logic                  clk,
    input  logic                  rst_n,
    input  logic                  in_valid,
    input  logic                  in_first,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic                  in_last,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic                  in_load,
    input  logic                  in_start,
    input  logic                  in_done,
    input  logic [  ROWS*A_W-1:0] in_a,
    input  logic [  COLS*B_W-1:0] in_w,
    output logic [      COLS-1:0] out_valid,
    output logic [COLS*OUT_W-1:0] out_sum,
    // For those who measure: the first element starts a tile; the last element adds.
    output logic                  tile_first,
    output logic                  adds_last
);
    // Between the elements: index [row][column] of the element that reads it.
    wire                      valid[0:ROWS-1] [0:COLS];
    wire                      first[0:ROWS-1] [0:COLS];
    wire signed [    A_W-1:0] a    [0:ROWS-1] [0:COLS];
    wire signed [    B_W-1:0] w    [  0:ROWS] [0:COLS-1];
    wire signed [C_ACC_W-1:0] sum  [  0:ROWS] [0:COLS-1];
    wire                      stuck[  0:ROWS] [0:COLS-1];
    wire signed [    C_W-1:0] chain[0:ROWS-1] [0:COLS-1];

    localparam int STEP_W = $clog2(ROWS + 1);
    localparam logic [STEP_W-1:0] LAST_STEP = STEP_W'(ROWS - 1);

    genvar row, col;
    generate
        for (row = 0; row < ROWS; row = row + 1) begin : g_left
            logic [A_W+1:0] skewed;
            gb_delay #(.W(A_W + 2), .DEPTH(row)) u_skew (
                .clk(clk), .rst_n(rst_n), .d({in_valid, in_first, in_a[row*A_W+:A_W]}), .q(skewed)
            );
            assign valid[row][0] = skewed[A_W+1];
            assign first[row][0] = skewed[A_W];
            assign a[row][0]     = skewed[A_W-1:0];
        end

        for (col = 0; col < COLS; col = col + 1) begin : g_col
            // Weights come a cycle later in every column, as activations do. Row r takes them from the r-th cycle of
            // the load on: before that it may still need the weight that it has.
            logic load;
            logic [B_W:0] skewed;
            logic [1:0] tile;
            logic [STEP_W-1:0] step;
            gb_delay #(.W(B_W + 1), .DEPTH(col)) u_skew (
                .clk(clk), .rst_n(rst_n), .d({in_load, in_w[col*B_W+:B_W]}), .q(skewed)
            );
            assign load      = skewed[B_W];
            assign w[0][col] = skewed[B_W-1:0];
            always_ff @(posedge clk) begin
                if (!rst_n) step <= 0;
                else if (load) step <= (step == LAST_STEP) ? 0 : step + 1'b1;
            end
            assign sum[0][col]   = {C_ACC_W{1'b0}};
            assign stuck[0][col] = 1'b0;

            for (row = 0; row < ROWS; row = row + 1) begin : g_row
                localparam logic [STEP_W-1:0] ROW = STEP_W'(row);
                // Row 0 takes them from the first cycle on.
                /* verilator lint_off UNSIGNED */
                gb_ws_pe #(
                    .A_W(A_W), .B_W(B_W), .P_BITS(P_BITS), .P_SIGNED(P_SIGNED), .P_MODE(P_MODE), .P_SHIFT(P_SHIFT),
                    .P_ROUND(P_ROUND), .P_W(P_W), .ACC_W(C_ACC_W), .BITS(C_BITS), .IS_SIGNED(C_SIGNED), .MODE(C_MODE),
                    .HAND_OVER(C_HAND_OVER), .SHIFT(C_SHIFT), .ROUND(C_ROUND), .OUT_W(C_W)
                ) u_pe (
                    .clk(clk), .rst_n(rst_n),
                    .load(load && step >= ROW), .w_in(w[row][col]), .w_out(w[row+1][col]),
                    .valid_in(valid[row][col]), .first_in(first[row][col]), .a_in(a[row][col]),
                    .valid_out(valid[row][col+1]), .first_out(first[row][col+1]), .a_out(a[row][col+1]),
                    .sum_in(sum[row][col]), .stuck_in(stuck[row][col]),
                    .sum_out(sum[row+1][col]), .stuck_out(stuck[row+1][col]), .chain(chain[row][col])
                );
                /* verilator lint_on UNSIGNED */
            end

            gb_delay #(.W(2), .DEPTH(ROWS - 1 + col)) u_tile (
                .clk(clk), .rst_n(rst_n), .d({in_start, in_done}), .q(tile)
            );
            gb_ws_acc #(
                .DEPTH(DEPTH), .IN_W(C_W), .ACC_W(ACC_W), .BITS(BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE),
                .HAND_OVER(HAND_OVER), .SHIFT(SHIFT), .ROUND(ROUND), .OUT_W(OUT_W)
            ) u_acc (
                .clk(clk), .valid(valid[ROWS-1][col]), .first(first[ROWS-1][col]), .start(tile[1]), .done(tile[0]),
                .x(chain[ROWS-1][col]), .out_valid(out_valid[col]), .y(out_sum[col*OUT_W+:OUT_W])
            );
        end
    endgenerate

    assign tile_first = valid[0][0] && first[0][0];
    assign adds_last  = valid[ROWS-1][COLS-1];
endmodule
