//! `lockstep/`: the design and the live golden model side by side on random beats.

use std::fmt::Write;

use crate::assemble::Sizes;
use crate::manifest::Manifest;
use crate::text::comment;

/// Every file of the lockstep bench, by path.
pub(crate) fn files(manifest: &Manifest, sizes: &Sizes) -> Vec<(String, String)> {
    vec![
        ("lockstep/guardbit_dpi.sv".into(), include_str!("../capi/dpi/guardbit_dpi.sv").into()),
        ("lockstep/gb_lockstep.sv".into(), include_str!("../capi/dpi/gb_lockstep.sv").into()),
        ("lockstep/Makefile".into(), include_str!("../capi/dpi/Makefile").into()),
        ("lockstep/tb.sv".into(), tb(manifest, sizes)),
    ]
}

/// Most values of a run, level by level: with more of them, registers without a width of their own would not do.
fn longest_runs(manifest: &Manifest) -> Vec<usize> {
    let mut values = manifest.layer.terms.max(1);
    let one = |terms: Option<usize>| {
        let run = terms.unwrap_or(values).min(values).max(1);
        values = values.div_ceil(run);
        run
    };
    manifest.arithmetic.levels.iter().map(|l| l.terms).map(one).collect()
}

fn tb(manifest: &Manifest, sizes: &Sizes) -> String {
    let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
    let levels = &arithmetic.levels;
    let (count, lanes) = (levels.len(), interface.lanes);
    let mut declare = String::new();
    let mut ports = String::new();
    let mut flat = String::new();
    let mut runs = String::new();
    for (index, (level, run)) in levels.iter().zip(longest_runs(manifest)).enumerate() {
        // A register that is not two's complement has one bit more on the design's signed port.
        let top = level.acc_bits + u32::from(!level.acc_signed) - 1;
        let _ =
            writeln!(declare, "    logic signed [{top}:0] acc_l{index}; // level {}", comment(&level.name));
        let _ = write!(ports, ".acc_l{index}(acc_l{index}), ");
        let _ = writeln!(flat, "    assign acc[{index}*64+:64] = 64'(acc_l{index});");
        let _ = writeln!(runs, "            {index}: longest = {run};");
    }
    let (a, w) = (&arithmetic.activation, &arithmetic.weight);
    let out = &arithmetic.requantize;
    format!(
        "// Random beats for gb_dut and the golden model: bubbles, clears and ends of runs at any time.
// Plusargs: +beats=N (default 100000), +seed=N (default 1), +bundle=DIR (default ..), +waves=FILE dumps every signal.
`timescale 1ns / 1ps
module tb;
    localparam int LEVELS = {count};
    localparam int LANES = {lanes};
    localparam int TREE = {tree};
    localparam int DOTS = {dots};

    logic clk = 1'b0;
    logic rst_n = 1'b0;
    always #5 clk = ~clk;

    logic in_valid, in_clear;
    logic [LEVELS-1:0] in_run_last, updated;
    logic [LANES-1:0] in_keep;
    logic [{top_a}:0] in_a;
    logic [{top_w}:0] in_w;
    logic signed [{top_bias}:0] in_bias;
    logic signed [{top_mult}:0] in_mult;
    logic signed [7:0] in_exp;
    logic [{top_flags}:0] flags;
    logic sum_valid, out_valid;
    logic signed [{top_sum}:0] sum;
    logic signed [{top_out}:0] out_code;
    logic [LEVELS*64-1:0] acc;
{declare}{flat}
    gb_dut dut (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_clear(in_clear), .in_run_last(in_run_last),
        .in_keep(in_keep), .in_a(in_a), .in_w(in_w), .in_bias(in_bias), .in_mult(in_mult), .in_exp(in_exp),
        {ports}
        .updated(updated), .flags(flags), .sum_valid(sum_valid), .sum(sum), .out_valid(out_valid), .out_code(out_code)
    );
    gb_lockstep #(
        .LEVELS(LEVELS), .LANES(LANES), .A_BITS({bits_a}), .W_BITS({bits_w}), .CHECK_OUT({check_out})
    ) lockstep (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_clear(in_clear), .in_run_last(in_run_last),
        .in_keep(in_keep), .in_a(in_a), .in_w(in_w), .in_bias(64'(in_bias)), .in_mult(64'(in_mult)), .in_exp(32'(in_exp)),
        .updated(updated), .acc(acc), .flags(flags), .sum_valid(sum_valid), .sum(64'(sum)), .out_valid(out_valid),
        .out_code(32'(out_code))
    );

    // Biases and multipliers are those of the bundle.
    logic [{top_bias}:0] stim_bias [0:DOTS-1];
    logic [{top_mult}:0] stim_mult [0:DOTS-1];
    logic [7:0] stim_exp [0:DOTS-1];

    longint unsigned state;
    // Xorshift: the same beats for the same seed in every simulator.
    function automatic longint unsigned draw(input longint unsigned below);
        state = state ^ (state << 13);
        state = state ^ (state >> 7);
        state = state ^ (state << 17);
        return (state >> 11) % below;
    endfunction

    // Mostly anything, often an end of the range, so that sums drift far.
    function automatic longint operand(input longint least, input longint greatest);
        case (draw(extremes ? 3 : 8))
            0: return least;
            1: return greatest;
            default: return least + longint'(draw(greatest - least + 1));
        endcase
    endfunction

    int count [0:LEVELS-1];
    int beats, sent, drain, dot, kept;
    logic extremes, fresh, arrives, stop;
    string dir, waves;

    initial begin
        if ($value$plusargs(\"waves=%s\", waves)) begin
            $dumpfile(waves);
            $dumpvars(0, tb);
        end
        if (!$value$plusargs(\"beats=%d\", beats)) beats = 100000;
        if (!$value$plusargs(\"seed=%d\", state)) state = 1;
        if (!$value$plusargs(\"bundle=%s\", dir)) dir = \"..\";
        state = state * 64'h9e3779b97f4a7c15 + 64'd1;
        $readmemh({{dir, \"/stim_bias.mem\"}}, stim_bias);
        $readmemh({{dir, \"/stim_mult.mem\"}}, stim_mult);
        $readmemh({{dir, \"/stim_exp.mem\"}}, stim_exp);
        sent = 0;
        drain = 0;
        fresh = 1'b1;
        in_valid = 1'b0;
        repeat (4) @(posedge clk);
        @(negedge clk) rst_n = 1'b1;
    end

    function automatic int longest_run(input int level);
        int longest;
        case (level)
{runs}            default: longest = 1;
        endcase
        return longest;
    endfunction

    // Inputs change at the falling edge.
    always @(negedge clk) begin
        if (rst_n) begin
            in_valid = 1'b0;
            if (sent < beats) begin
                for (int lane = 0; lane < LANES; lane++) begin
                    in_a[lane*{slot_a}+:{slot_a}] = {slot_a}'(operand({min_a}, {max_a}));
                    in_w[lane*{slot_w}+:{slot_w}] = {slot_w}'(operand({min_w}, {max_w}));
                end
                in_clear = 1'(draw(2));
                in_keep = LANES'(draw(2 ** 30));
                in_run_last = LEVELS'(draw(2 ** 30));
                if (draw(8) != 0) beat();
            end else begin
                drain = drain + 1;
                if (drain > 64) lockstep.finish();
            end
        end
    end

    // A beat: dot products of any length up to the layer's.
    task automatic beat();
        in_valid = 1'b1;
        in_clear = fresh || draw(64) == 0;
        kept = 1;
        if (LANES > 1 && draw(4) == 0) kept = 1 + int'(draw(LANES));
        else kept = LANES;
        for (int lane = 0; lane < LANES; lane++) in_keep[lane] = lane < kept;
        if (in_clear) begin
            for (int level = 0; level < LEVELS; level++) count[level] = 0;
            dot = int'(draw(DOTS));
            extremes = 1'(draw(2));
            in_bias = stim_bias[dot];
            in_mult = stim_mult[dot];
            in_exp = stim_exp[dot];
        end
        stop = draw(32) == 0;
        arrives = 1'b1;
        for (int level = 0; level < LEVELS; level++) begin
            if (arrives) begin
                count[level] = count[level] + 1;
                in_run_last[level] = stop || (TREE != 0 && level == 0) || count[level] >= longest_run(level) ||
                    (level + 1 < LEVELS && draw(8) == 0);
                if (in_run_last[level]) count[level] = 0;
                arrives = in_run_last[level];
            end
        end
        fresh = arrives;
        sent = sent + 1;
    endtask
endmodule
",
        tree = u8::from(levels[0].reduce == "tree"),
        dots = sizes.dots,
        check_out = u8::from(out.in_rtl),
        top_a = interface.activation_slot as usize * lanes - 1,
        top_w = interface.weight_slot as usize * lanes - 1,
        bits_a = interface.activation_slot as usize * lanes,
        bits_w = interface.weight_slot as usize * lanes,
        slot_a = interface.activation_slot,
        slot_w = interface.weight_slot,
        min_a = a.min,
        max_a = a.max,
        min_w = w.min,
        max_w = w.max,
        top_bias = arithmetic.bias.input_bits - 1,
        top_mult = out.mult_bits - 1,
        top_flags = count * 4 - 1,
        top_sum = levels[count - 1].stage.port_bits - 1,
        top_out = out.out_bits - 1,
    )
}
