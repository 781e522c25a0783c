// A weight-stationary array in lockstep with a tile of the golden model, in Verilator: random layers, every sum compared.
// Plusargs: +layers=N (default 100), +seed=N (default 1).
`timescale 1ns / 1ps
module tb;
    import guardbit_dpi::*;

    // A dot product of TERMS products takes TERMS / ROWS tiles of weights.
    localparam int ROWS = 4, COLS = 3, PIXELS = 5, TERMS = 20;
    localparam string HW = {
        "schema: 1\nname: small\nextends: fpga-int14-ws\narray: {rows: ", $sformatf("%0d", ROWS), ", cols: ",
        $sformatf("%0d", COLS), "}\n"
    };

    logic clk = 0, rst_n = 0;
    always #5 clk = !clk;

    logic in_valid = 0, in_first = 0, in_load = 0, in_start = 0, in_done = 0;
    logic [ROWS*8-1:0] in_a = 0;
    logic [COLS*8-1:0] in_w = 0;
    logic [ROWS*8-1:0] next_a;
    logic [COLS*8-1:0] next_w;
    logic [COLS-1:0] out_valid;
    logic [COLS*14-1:0] out_sum;
    logic tile_first, adds_last;
    gb_ws_array #(
        .ROWS(ROWS), .COLS(COLS), .DEPTH(PIXELS), .A_W(8), .B_W(8), .P_W(16), .C_ACC_W(14), .C_BITS(14), .C_W(14),
        .ACC_W(14), .BITS(14), .OUT_W(14)
    ) dut (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_first(in_first), .in_last(1'b0), .in_load(in_load),
        .in_start(in_start), .in_done(in_done), .in_a(in_a), .in_w(in_w), .out_valid(out_valid), .out_sum(out_sum),
        .tile_first(tile_first), .adds_last(adds_last)
    );

    int unit, tile, layers, seed, checked, mismatches;
    int a [PIXELS][TERMS], w [TERMS][COLS];
    int activations [TILE_VALUES], weights [TILE_VALUES];
    // Sums of a layer, and how many of them a column has returned: the first pixel's first.
    longint expected [PIXELS][COLS];
    int returned [COLS];

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
                if (returned[col] == PIXELS) $fatal(1, "column %0d returns a sum too many", col);
                want = expected[returned[col]][col];
                returned[col]++;
                checked++;
                if (got != want) begin
                    mismatches++;
                    if (mismatches < 10) $display("MISMATCH column=%0d expected=%0d got=%0d", col, want, got);
                end
            end
        end
    end

    initial begin
        if (!$value$plusargs("layers=%d", layers)) layers = 100;
        if (!$value$plusargs("seed=%d", seed)) seed = 1;
        void'($urandom(seed));
        if (guardbit_abi() != GUARDBIT_ABI) $fatal(1, "golden model: interface %0d", guardbit_abi());
        unit = guardbit_open_accelerator(HW, TERMS, "int8", 0, "int8", 0);
        need(unit);
        tile = guardbit_open_tile(unit, PIXELS, COLS);
        need(tile);
        repeat (4) @(negedge clk);
        rst_n = 1;
        repeat (layers) begin
            // A unit of the tile computes the dot products of a pixel and a column, wherever their sums move.
            for (int k = 0; k < TERMS; k++) begin
                for (int pixel = 0; pixel < PIXELS; pixel++) begin
                    a[pixel][k] = operand();
                    activations[pixel] = a[pixel][k];
                end
                for (int col = 0; col < COLS; col++) begin
                    w[k][col] = operand();
                    weights[col] = w[k][col];
                end
                need(guardbit_tile_step(tile, activations, weights, 1));
            end
            for (int pixel = 0; pixel < PIXELS; pixel++) begin
                for (int col = 0; col < COLS; col++) begin
                    longint sum;
                    int found;
                    found = guardbit_get_sum(guardbit_tile_unit(tile, pixel, col), sum);
                    need(found);
                    expected[pixel][col] = sum;
                end
            end
            for (int col = 0; col < COLS; col++) returned[col] = 0;
            for (int k = 0; k < TERMS; k += ROWS) begin
                for (int row = ROWS - 1; row >= 0; row--) begin
                    for (int col = 0; col < COLS; col++) next_w[col*8+:8] = w[k+row][col][7:0];
                    in_w = next_w;
                    in_load = 1;
                    @(negedge clk);
                end
                in_load = 0;
                for (int pixel = 0; pixel < PIXELS; pixel++) begin
                    for (int row = 0; row < ROWS; row++) next_a[row*8+:8] = a[pixel][k+row][7:0];
                    in_a = next_a;
                    in_valid = 1;
                    in_first = pixel == 0;
                    in_start = k == 0;
                    in_done = k + ROWS == TERMS;
                    @(negedge clk);
                end
                in_valid = 0;
            end
            repeat (ROWS + COLS + 4) @(negedge clk);
        end
        $display("LAYERS layers=%0d checked=%0d mismatches=%0d", layers, checked, mismatches);
        if (mismatches != 0 || checked != layers * PIXELS * COLS) $fatal(1, "the array differs from the golden model");
        $finish;
    end
endmodule
