// Streams the tiles of array/ through gb_array, compares every sum that leaves it and measures cycles.
// Prints the first mismatches. Plusargs: +cycles=0 does not check cycles, +quick=1 stops at the first mismatch,
// +waves=FILE dumps every signal. Ends with a line RESULT and, if anything differs, $fatal.
`timescale 1ns / 1ps
module tb_array;
    import tb_array_params::*;

    // Edges order the stimuli here, not assignments.
    /* verilator lint_off BLKSEQ */

    // Products that are printed of a sum that differs.
    localparam int PRODUCTS = 8;
    // Cycles after the last beat in which the array is watched.
    localparam int WATCHED = 2 * (ROWS + COLS) + 16;

    logic clk, rst_n;
    tb_clock #(.RESET(2 + ROWS + COLS)) clock (.clk(clk), .rst_n(rst_n));

    logic [ROWS*A_W-1:0] stim_a [0:BEATS-1];
    logic [COLS*W_W-1:0] stim_w [0:BEATS-1];
    logic [5:0] ctrl [0:BEATS-1];
    logic [COLS*SUM_W-1:0] exp_sum [0:WORDS-1];
    logic [COLS-1:0] exp_mask [0:WORDS-1];

    logic [5:0] in_ctrl;
    logic [ROWS*A_W-1:0] in_a;
    logic [COLS*W_W-1:0] in_w;
    logic [COLS-1:0] out_valid;
    logic [COLS*SUM_W-1:0] out_sum;
    logic tile_first, adds_last;

    gb_array dut (
        .clk(clk), .rst_n(rst_n), .in_valid(in_ctrl[0]), .in_first(in_ctrl[1]), .in_last(in_ctrl[2]),
        .in_load(in_ctrl[3]), .in_start(in_ctrl[4]), .in_done(in_ctrl[5]), .in_a(in_a), .in_w(in_w),
        .out_valid(out_valid), .out_sum(out_sum), .tile_first(tile_first), .adds_last(adds_last)
    );

    int cycle, beat, col, checked, mismatches, check_cycles;
    int tiles, first_tile, second_tile, first_end, last_end, last_out;
    int at [0:COLS-1];
    int quick;
    logic signed [SUM_W-1:0] expected, got;
    logic shown;
    // Counts a mismatch; `shown` says whether to print it.
    task note;
        begin
            shown = (mismatches < SHOWN);
            mismatches = mismatches + 1;
        end
    endtask

    // Ends a line with the tile that a sum leaves (array/tiles.txt), the output's place in it, and operands of it:
    // activation * weight, the first ones of the tile. Sums that stay leave from the bottom row on; weights that stay
    // are loaded the bottom row's first.
    int tiles_file, fields, tile, tile_beat, tile_terms, tile_word, tile_words, line, pixel, k;
    logic signed [A_W-1:0] activation;
    logic signed [W_W-1:0] weight;
    task of_word(input int word, input int column);
        begin
            tiles_file = $fopen("array/tiles.txt", "r");
            tile       = -1;
            fields     = 4;
            tile_word  = -1;
            while (fields == 4 && (tile_word < 0 || word >= tile_word + tile_words)) begin
                fields = $fscanf(tiles_file, "%d %d %d %d", tile_beat, tile_terms, tile_word, tile_words);
                tile = tile + 1;
            end
            $fclose(tiles_file);
            if (fields == 4) begin
                line  = word - tile_word;
                pixel = (SUMS_STAY != 0) ? ROWS - 1 - line : line;
                $write(" tile=%0d pixel=%0d operands=", tile, pixel);
                for (k = 0; k < tile_terms && k < PRODUCTS; k = k + 1) begin
                    if (k > 0) $write(",");
                    if (SUMS_STAY != 0) begin
                        activation = stim_a[tile_beat+k][pixel*A_W+:A_W];
                        weight     = stim_w[tile_beat+k][column*W_W+:W_W];
                    end else begin
                        activation = stim_a[tile_beat+pixel][k*A_W+:A_W];
                        weight     = stim_w[tile_beat-1-k][column*W_W+:W_W];
                    end
                    $write("%0d*%0d", activation, weight);
                end
            end
            $write("\n");
        end
    endtask

    initial begin
        $readmemh("array/stim_a.mem", stim_a);
        $readmemh("array/stim_w.mem", stim_w);
        $readmemh("array/ctrl.mem", ctrl);
        $readmemh("array/exp_sum.mem", exp_sum);
        $readmemh("array/exp_mask.mem", exp_mask);
        cycle = -1;
        beat = 0;
        checked = 0;
        mismatches = 0;
        tiles = 0;
        first_tile = -1;
        second_tile = -1;
        first_end = -1;
        last_end = -1;
        last_out = -1;
        shown = 1'b0;
        in_ctrl = 0;
        in_a = 0;
        in_w = 0;
        for (col = 0; col < COLS; col = col + 1) at[col] = 0;
        if (!$value$plusargs("cycles=%d", check_cycles)) check_cycles = 1;
        if (!$value$plusargs("quick=%d", quick)) quick = 0;
    end

    // Inputs change a little after the edge; outputs are read before the next one.
    always @(posedge clk) begin
        #1;
        if (rst_n) begin
            in_ctrl = 0;
            if (beat < BEATS) begin
                in_ctrl = ctrl[beat];
                in_a    = stim_a[beat];
                in_w    = stim_w[beat];
            end else if (beat == BEATS + WATCHED) begin
                done();
            end
            beat = beat + 1;
        end
    end

    always @(negedge clk) begin
        if (beat > 0) begin
            cycle = cycle + 1;
            if (tile_first === 1'b1) begin
                if (tiles == 0) first_tile = cycle;
                if (tiles == 1) second_tile = cycle;
                tiles = tiles + 1;
            end
            if (adds_last === 1'b1 && cycle < REAL_BEATS) begin
                if (first_end < 0) first_end = cycle;
                last_end = cycle;
            end
            for (col = 0; col < COLS; col = col + 1) begin
                if (out_valid[col] === 1'b1) begin
                    if (at[col] < REAL_WORDS) last_out = cycle;
                    if (at[col] >= WORDS) begin
                        note();
                        if (shown) $display("MISMATCH kind=extra column=%0d cycle=%0d word=%0d", col, cycle, at[col]);
                    end else if (exp_mask[at[col]][col]) begin
                        checked  = checked + 1;
                        expected = exp_sum[at[col]][col*SUM_W+:SUM_W];
                        got      = out_sum[col*SUM_W+:SUM_W];
                        if (got !== expected) begin
                            note();
                            if (shown) begin
                                $write("MISMATCH kind=sum column=%0d cycle=%0d word=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d",
                                    col, cycle, at[col], expected, got, expected, got);
                                of_word(at[col], col);
                            end
                        end
                    end
                    at[col] = at[col] + 1;
                end else if (out_valid[col] !== 1'b0) begin
                    note();
                    if (shown) $display("MISMATCH kind=valid column=%0d cycle=%0d word=%0d", col, cycle, at[col]);
                end
            end
            if (quick != 0 && mismatches != 0) report();
        end
    end

    task done;
        begin
            for (col = 0; col < COLS; col = col + 1) begin
                if (at[col] != WORDS) begin
                    note();
                    if (shown) $display("MISMATCH kind=count column=%0d cycle=%0d word=%0d expected=%0d got=%0d", col, cycle, at[col], WORDS, at[col]);
                end
            end
            if (checked != COMPARED) begin
                note();
                // Never hidden by other mismatches.
                $display("MISMATCH kind=count column=0 cycle=%0d word=0 expected=%0d got=%0d", cycle, COMPARED, checked);
            end
            if (check_cycles != 0 && last_out + 1 != CYCLES) begin
                note();
                if (shown) $display("MISMATCH kind=cycles column=0 cycle=%0d word=0 expected=%0d got=%0d", last_out, CYCLES, last_out + 1);
            end
            report();
        end
    endtask

    task report;
        begin
            $display("RESULT checked=%0d mismatches=%0d cycles=%0d tiles=%0d preload=%0d fill=%0d period=%0d drain=%0d",
                checked, mismatches, last_out + 1, tiles, first_tile, first_end - first_tile, second_tile - first_tile, last_out - last_end);
            if (mismatches != 0) $fatal(1, "vectors differ");
            $finish;
        end
    endtask
endmodule
