// What every bench begins with: a clock of 10 ns, a reset of RESET edges, and with +waves=FILE a dump of every signal.
`timescale 1ns / 1ps
module tb_clock #(
    parameter int RESET = 4
) (
    output logic clk,
    output logic rst_n
);
    string waves;

    initial begin
        clk = 1'b0;
        forever #5 clk = ~clk;
    end

    initial begin
        rst_n = 1'b0;
        if ($value$plusargs("waves=%s", waves)) begin
            $dumpfile(waves);
            $dumpvars;
        end
        repeat (RESET) @(posedge clk);
        // After what changes with the edge.
        #2 rst_n = 1'b1;
    end
endmodule
