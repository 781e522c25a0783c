// An output-stationary array in lockstep with a tile of the golden model, in Verilator: random tiles, every sum compared.
// Plusargs: +tiles=N (default 100), +seed=N (default 1).
`timescale 1ns / 1ps
module tb;
    import guardbit_dpi::*;

    localparam int ROWS = 3, COLS = 4, TERMS = 20;

    logic clk = 0, rst_n = 0;
    always #5 clk = !clk;

    logic in_valid = 0, in_first = 0, in_last = 0;
    logic [ROWS*8-1:0] in_a = 0;
    logic [COLS*8-1:0] in_w = 0;
    logic [ROWS*8-1:0] next_a;
    logic [COLS*8-1:0] next_w;
    logic [COLS-1:0] out_valid;
    logic [COLS*14-1:0] out_sum;
    logic tile_first, adds_last;
    gb_os_array #(
        .ROWS(ROWS), .COLS(COLS), .A_W(8), .B_W(8), .P_W(16), .ACC_W(14), .BITS(14), .OUT_W(14)
    ) dut (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_first(in_first), .in_last(in_last), .in_load(1'b0),
        .in_start(1'b0), .in_done(1'b0), .in_a(in_a), .in_w(in_w), .out_valid(out_valid), .out_sum(out_sum),
        .tile_first(tile_first), .adds_last(adds_last)
    );

    int unit, tile, tiles, seed, checked, mismatches;
    int activations [TILE_VALUES], weights [TILE_VALUES];
    // Sums that a column is to return, the bottom row first.
    longint expected [COLS][$];

    task automatic need(input int code);
        if (code < 0) $fatal(1, "golden model: %s", guardbit_error());
    endtask

    // Mostly the ends of the range, so that sums overflow.
    function automatic int operand();
        case ($urandom_range(3))
            0: return -128;
            1: return 127;
            default: return int'($urandom_range(255)) - 128;
        endcase
    endfunction

    always @(posedge clk) begin
        for (int col = 0; col < COLS; col++) begin
            if (out_valid[col]) begin
                longint want, got;
                got = 64'(signed'(out_sum[col*14+:14]));
                if (expected[col].size() == 0) $fatal(1, "column %0d returns a sum too many", col);
                want = expected[col].pop_front();
                checked++;
                if (got != want) begin
                    mismatches++;
                    if (mismatches < 10) $display("MISMATCH column=%0d expected=%0d got=%0d", col, want, got);
                end
            end
        end
    end

    initial begin
        if (!$value$plusargs("tiles=%d", tiles)) tiles = 100;
        if (!$value$plusargs("seed=%d", seed)) seed = 1;
        void'($urandom(seed));
        if (guardbit_abi() != GUARDBIT_ABI) $fatal(1, "golden model: interface %0d", guardbit_abi());
        unit = guardbit_open_accelerator("fpga-int14-os", TERMS, "int8", 0, "int8", 0);
        need(unit);
        tile = guardbit_open_tile(unit, ROWS, COLS);
        need(tile);
        repeat (4) @(negedge clk);
        rst_n = 1;
        repeat (tiles) begin
            for (int k = 0; k < TERMS; k++) begin
                for (int row = 0; row < ROWS; row++) begin
                    activations[row] = operand();
                    next_a[row*8+:8] = activations[row][7:0];
                end
                for (int col = 0; col < COLS; col++) begin
                    weights[col] = operand();
                    next_w[col*8+:8] = weights[col][7:0];
                end
                in_a = next_a;
                in_w = next_w;
                in_valid = 1;
                in_first = k == 0;
                in_last = k == TERMS - 1;
                need(guardbit_tile_step(tile, activations, weights, 1));
                @(negedge clk);
            end
            in_valid = 0;
            for (int row = ROWS - 1; row >= 0; row--) begin
                for (int col = 0; col < COLS; col++) begin
                    longint sum;
                    int found;
                    found = guardbit_get_sum(guardbit_tile_unit(tile, row, col), sum);
                    need(found);
                    expected[col].push_back(sum);
                end
            end
            repeat (ROWS + COLS + 4) @(negedge clk);
        end
        $display("TILES tiles=%0d checked=%0d mismatches=%0d", tiles, checked, mismatches);
        if (mismatches != 0 || checked != tiles * ROWS * COLS) $fatal(1, "the array differs from the golden model");
        $finish;
    end
endmodule
