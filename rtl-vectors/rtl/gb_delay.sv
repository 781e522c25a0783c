// DEPTH registers in a row: what skews the rows and columns of a systolic array.
module gb_delay #(
    parameter int W = 8,
    parameter int DEPTH = 1
) (
    // Without registers it is a wire.
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic         clk,
    input  logic         rst_n,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic [W-1:0] d,
    output logic [W-1:0] q
);
    generate
        if (DEPTH == 0) begin : g_wire
            assign q = d;
        end else if (DEPTH == 1) begin : g_one
            always_ff @(posedge clk) q <= rst_n ? d : {W{1'b0}};
        end else begin : g_line
            logic [DEPTH*W-1:0] line;
            always_ff @(posedge clk) line <= rst_n ? {line[(DEPTH-1)*W-1:0], d} : {(DEPTH * W) {1'b0}};
            assign q = line[DEPTH*W-1:(DEPTH-1)*W];
        end
    endgenerate
endmodule
