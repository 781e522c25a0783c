//! `gb_array.sv`, the array with the layer's parameters, and `tb_array.sv`, which streams tiles through it.

use super::SHOWN;
use super::design::{acc_width, mode, round};
use crate::array::{corner_gap, is_output_stationary, sum_bits};
use crate::manifest::{ArrayInfo, LevelInfo, Manifest, Stage, Tile};
use crate::text::comment;

/// Products that are printed of a sum that differs.
const PRODUCTS: usize = 8;

/// Parameters of a register and the bits dropped behind it.
fn stage(prefix: &str, stage: &Stage) -> String {
    let signed = if prefix.is_empty() { "IS_SIGNED".into() } else { format!("{prefix}SIGNED") };
    format!(
        ".{prefix}BITS({}), .{signed}({}), .{prefix}MODE({}), .{prefix}SHIFT({}), .{prefix}ROUND({})",
        stage.bits.unwrap_or(0),
        u8::from(stage.signed),
        mode(stage),
        stage.shift,
        round(stage)
    )
}

fn level(prefix: &str, info: &LevelInfo) -> String {
    format!(
        ".{prefix}ACC_W({}), {}, .{prefix}HAND_OVER({}), .{}({})",
        acc_width(info),
        stage(prefix, &info.stage),
        u8::from(info.check == "hand_over"),
        if prefix.is_empty() { "OUT_W" } else { "C_W" },
        info.stage.port_bits
    )
}

/// The design: the ports are the same for every array.
pub(crate) fn design(manifest: &Manifest, info: &ArrayInfo) -> String {
    let arithmetic = &manifest.arithmetic;
    let (a, w, sum) = (arithmetic.activation.bits, arithmetic.weight.bits, sum_bits(arithmetic));
    let product = &arithmetic.product;
    let common = format!(
        ".ROWS({}), .COLS({}), .A_W({a}), .B_W({w}), {}, .P_W({})",
        info.rows,
        info.cols,
        stage("P_", product),
        product.port_bits
    );
    let levels = &arithmetic.levels;
    let instance = if is_output_stationary(info) {
        format!(
            "    gb_os_array #(
        {common},
        {}
    ) u_array (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_first(in_first), .in_last(in_last), .in_a(in_a), .in_w(in_w),
        .out_valid(out_valid), .out_sum(out_sum), .tile_first(tile_first), .adds_last(adds_last)
    );",
            level("", &levels[0])
        )
    } else {
        format!(
            "    gb_ws_array #(
        {common}, .DEPTH({}),
        {},
        {}
    ) u_array (
        .clk(clk), .rst_n(rst_n), .in_load(in_load), .in_w(in_w), .in_valid(in_valid), .in_first(in_first),
        .in_start(in_start), .in_done(in_done), .in_a(in_a), .out_valid(out_valid), .out_sum(out_sum),
        .tile_first(tile_first), .adds_last(adds_last)
    );",
            info.tiles.iter().map(|tile| tile.pixels).max().unwrap_or(1),
            level("C_", &levels[0]),
            level("", &levels[levels.len() - 1])
        )
    };
    format!(
        "// The {} x {} array ({}) of {} with its parameters; made by guardbit from the accelerator file.
// in_last is used where sums stay; in_load, in_start and in_done where weights stay.
module gb_array (
    input  logic clk,
    input  logic rst_n,
    input  logic in_valid,
    input  logic in_first,
    input  logic in_last,
    input  logic in_load,
    input  logic in_start,
    input  logic in_done,
    input  logic [{}:0] in_a,
    input  logic [{}:0] in_w,
    output logic [{}:0] out_valid,
    output logic [{}:0] out_sum,
    output logic tile_first,
    output logic adds_last
);
{instance}
endmodule
",
        info.rows,
        info.cols,
        comment(&info.dataflow),
        comment(&manifest.source.accelerator),
        info.rows * a as usize - 1,
        info.cols * w as usize - 1,
        info.cols - 1,
        info.cols * sum as usize - 1
    )
}

/// The tiles for the bench, a line each: first beat, terms, first word (-1: later tiles add to its sums), words.
pub(crate) fn tiles(info: &ArrayInfo) -> String {
    let line = |tile: &Tile| {
        let word = tile.first_word.map_or("-1".into(), |word| word.to_string());
        format!("{} {} {word} {}\n", tile.first_beat, tile.terms, tile.words)
    };
    info.tiles.iter().map(line).collect()
}

/// The bench.
pub(crate) fn tb(manifest: &Manifest, info: &ArrayInfo) -> String {
    let arithmetic = &manifest.arithmetic;
    let (a, w, sum) = (arithmetic.activation.bits, arithmetic.weight.bits, sum_bits(arithmetic));
    // Sums that stay leave from the bottom row on; weights that stay are loaded the bottom row's first.
    let [pixel, beat_a, row_a, beat_w] = match is_output_stationary(info) {
        true => [&*format!("{} - line", info.rows - 1), "tile_beat+k", "pixel", "tile_beat+k"],
        false => ["line", "tile_beat+pixel", "k", "tile_beat-1-k"],
    };
    format!(
        "// Streams the tiles of array/ through gb_array, compares every sum that leaves it and measures cycles.
// Prints the first {shown} mismatches. Plusargs: +cycles=0 does not check cycles, +quick=1 stops at the first mismatch,
// +waves=FILE dumps every signal. Ends with a line RESULT and, if anything differs, $fatal.
`timescale 1ns / 1ps
module tb_array;
    localparam int BEATS = {beats};
    localparam int WORDS = {words};
    localparam int COLS = {cols};
    localparam int SUM_W = {sum};
    // What the cycle model says: from the first operand to the last sum.
    localparam int CYCLES = {cycles};
    // Tiles with real operands come first: cycles are measured over them.
    localparam int REAL_BEATS = {real_beats};
    localparam int REAL_WORDS = {real_words};
    // Cycles after the last beat in which the array is watched.
    localparam int WATCHED = {watched};

    logic clk = 1'b0;
    logic rst_n = 1'b0;
    always #5 clk = ~clk;

    logic [{top_a}:0] stim_a [0:BEATS-1];
    logic [{top_w}:0] stim_w [0:BEATS-1];
    logic [{top_ctrl}:0] ctrl [0:BEATS-1];
    logic [COLS*SUM_W-1:0] exp_sum [0:WORDS-1];
    logic [COLS-1:0] exp_mask [0:WORDS-1];

    logic [{top_ctrl}:0] in_ctrl;
    logic [{top_a}:0] in_a;
    logic [{top_w}:0] in_w;
    logic [COLS-1:0] out_valid;
    logic [COLS*SUM_W-1:0] out_sum;
    logic tile_first, adds_last;

    gb_array dut (
        .clk(clk), .rst_n(rst_n), .in_valid(in_ctrl[0]), .in_first(in_ctrl[1]), .in_last(in_ctrl[2]),
        .in_load(in_ctrl[3]), .in_start(in_ctrl[4]), .in_done(in_ctrl[5]), .in_a(in_a), .in_w(in_w),
        .out_valid(out_valid), .out_sum(out_sum), .tile_first(tile_first), .adds_last(adds_last)
    );

    integer cycle, beat, col, checked, mismatches, check_cycles;
    integer tiles, first_tile, second_tile, first_end, last_end, last_out;
    integer at [0:COLS-1];
    string waves;
    integer quick;
    logic [SUM_W-1:0] expected, got;
    logic shown;
    // Counts a mismatch; `shown` says whether to print it.
    task note;
        begin
            shown = (mismatches < {shown});
            mismatches = mismatches + 1;
        end
    endtask

    // Ends a line with the tile that a sum leaves (array/tiles.txt), the output's place in it, and operands of it:
    // activation * weight, the first {products} of the tile.
    integer tiles_file, read, tile, tile_beat, tile_terms, tile_word, tile_words, line, pixel, k;
    task of_word(input integer word, input integer column);
        begin
            tiles_file = $fopen(\"array/tiles.txt\", \"r\");
            tile       = -1;
            read       = 4;
            tile_word  = -1;
            while (read == 4 && (tile_word < 0 || word >= tile_word + tile_words)) begin
                read = $fscanf(tiles_file, \"%d %d %d %d\", tile_beat, tile_terms, tile_word, tile_words);
                tile = tile + 1;
            end
            $fclose(tiles_file);
            if (read == 4) begin
                line  = word - tile_word;
                pixel = {pixel};
                $write(\" tile=%0d pixel=%0d operands=\", tile, pixel);
                for (k = 0; k < tile_terms && k < {products}; k = k + 1) begin
                    if (k > 0) $write(\",\");
                    $write(\"%0d*%0d\", $signed(stim_a[{beat_a}][{row_a}*{a}+:{a}]), $signed(stim_w[{beat_w}][column*{w}+:{w}]));
                end
            end
            $write(\"\\n\");
        end
    endtask

    initial begin
        $readmemh(\"array/stim_a.mem\", stim_a);
        $readmemh(\"array/stim_w.mem\", stim_w);
        $readmemh(\"array/ctrl.mem\", ctrl);
        $readmemh(\"array/exp_sum.mem\", exp_sum);
        $readmemh(\"array/exp_mask.mem\", exp_mask);
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
        if (!$value$plusargs(\"cycles=%d\", check_cycles)) check_cycles = 1;
        if ($value$plusargs(\"waves=%s\", waves)) begin
            $dumpfile(waves);
            $dumpvars(0, tb_array);
        end
        if (!$value$plusargs(\"quick=%d\", quick)) quick = 0;
        repeat ({reset}) @(posedge clk);
        #2 rst_n = 1'b1;
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
                        if (shown) $display(\"MISMATCH kind=extra column=%0d cycle=%0d word=%0d\", col, cycle, at[col]);
                    end else if (exp_mask[at[col]][col]) begin
                        checked  = checked + 1;
                        expected = exp_sum[at[col]][col*SUM_W+:SUM_W];
                        got      = out_sum[col*SUM_W+:SUM_W];
                        if (got !== expected) begin
                            note();
                            if (shown) begin
                                $write(\"MISMATCH kind=sum column=%0d cycle=%0d word=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d\",
                                    col, cycle, at[col], expected, got, $signed(expected), $signed(got));
                                of_word(at[col], col);
                            end
                        end
                    end
                    at[col] = at[col] + 1;
                end else if (out_valid[col] !== 1'b0) begin
                    note();
                    if (shown) $display(\"MISMATCH kind=valid column=%0d cycle=%0d word=%0d\", col, cycle, at[col]);
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
                    if (shown) $display(\"MISMATCH kind=count column=%0d cycle=%0d word=%0d expected=%0d got=%0d\", col, cycle, at[col], WORDS, at[col]);
                end
            end
            if (check_cycles != 0 && last_out + 1 != CYCLES) begin
                note();
                if (shown) $display(\"MISMATCH kind=cycles column=0 cycle=%0d word=0 expected=%0d got=%0d\", last_out, CYCLES, last_out + 1);
            end
            report();
        end
    endtask

    task report;
        begin
            $display(\"RESULT checked=%0d mismatches=%0d cycles=%0d tiles=%0d preload=%0d fill=%0d period=%0d drain=%0d\",
                checked, mismatches, last_out + 1, tiles, first_tile, first_end - first_tile, second_tile - first_tile, last_out - last_end);
            if (mismatches != 0) $fatal(1, \"vectors differ\");
            $finish;
        end
    endtask
endmodule
",
        beats = info.beats,
        real_beats = info.real_beats + corner_gap(info),
        real_words = info.real_words,
        words = info.words,
        cols = info.cols,
        cycles = info.cycles.cycles,
        watched = 2 * (info.rows + info.cols) + 16,
        reset = 2 + info.rows + info.cols,
        top_a = info.rows * a as usize - 1,
        top_w = info.cols * w as usize - 1,
        top_ctrl = info.ctrl.len() - 1,
        shown = SHOWN,
        products = PRODUCTS,
    )
}
