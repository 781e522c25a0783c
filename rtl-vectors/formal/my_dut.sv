// A serial accumulator of 14 bits with the ports of profile `sums`, which shares nothing with the reference design. MODE: 0 wrap,
// 1 saturate, 2 saturate_symmetric, 3 saturate_zero, 4 sticky.
module my_dut (
    input  logic               clk,
    input  logic               rst_n,
    input  logic               in_valid,
    input  logic               in_clear,
    input  logic               in_run_last,
    input  logic               in_keep,
    input  logic signed [ 8:0] in_a,
    input  logic signed [ 7:0] in_w,
    input  logic signed [15:0] in_bias,
    output logic               sum_valid,
    output logic signed [13:0] sum
);
    localparam int MODE = 1;
    localparam logic signed [17:0] MAX = 8191;
    localparam logic signed [17:0] MIN = (MODE == 2) ? -8191 : -8192;
    logic busy, last, begins, stuck, off;
    logic signed [15:0] product;
    logic signed [13:0] acc;
    logic signed [17:0] total;
    assign total = (begins ? 18'sd0 : 18'(acc)) + 18'(product);
    assign off   = total > MAX || total < MIN;
    assign sum   = acc;
    always_ff @(posedge clk) begin
        busy      <= rst_n && in_valid;
        last      <= in_run_last;
        product   <= in_a * in_w;
        sum_valid <= rst_n && busy && last;
        // A run begins after a reset, with a clear, and after the end of a run.
        begins <= !rst_n || (in_valid && in_clear) || (busy ? last : begins);
        if (busy) begin
            stuck <= off || (!begins && stuck);
            if (MODE == 4 && stuck && !begins) acc <= acc;
            else if (!off || MODE == 0) acc <= total[13:0];
            else if (MODE == 3) acc <= 14'd0;
            else acc <= (total > MAX) ? MAX[13:0] : MIN[13:0];
        end
    end
endmodule
