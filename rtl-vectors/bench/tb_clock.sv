// What every bench begins with: a clock of 10 ns, a reset of RESET edges, and with +waves=FILE a dump of every signal:
// from the clock cycle +from=N on, and up to +until=N, which then ends the run.
`timescale 1ns / 1ps
module tb_clock #(
    parameter int RESET = 4
) (
    output logic clk,
    output logic rst_n
);
    string waves;
    int first, last;

    initial begin
        clk = 1'b0;
        forever #5 clk = ~clk;
    end

    initial begin
        rst_n = 1'b0;
        repeat (RESET) @(posedge clk);
        // After what changes with the edge.
        #2 rst_n = 1'b1;
    end

    initial begin
        if ($value$plusargs("waves=%s", waves)) begin
            if (!$value$plusargs("from=%d", first)) first = 0;
            repeat (first) @(posedge clk);
            $dumpfile(waves);
            $dumpvars;
            if ($value$plusargs("until=%d", last)) begin
                repeat (last - first) @(posedge clk);
                $finish;
            end
        end
    end
endmodule
