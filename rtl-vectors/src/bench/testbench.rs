//! `tb.sv`: drives the beats, compares what comes out, reports the first divergences and totals.

use std::fmt::Write;

use super::SHOWN;
use super::design::acc_width;
use crate::assemble::Sizes;
use crate::manifest::Manifest;
use crate::text::file_part;

/// The bench.
pub(crate) fn tb(manifest: &Manifest, sizes: &Sizes) -> String {
    let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
    let levels = &arithmetic.levels;
    let (count, lanes) = (levels.len(), interface.lanes);
    let ctrl_w = 2 + count + lanes;
    let mut declare = String::new();
    let mut load = String::new();
    let mut ports = String::new();
    let mut compare = String::new();
    let mut finish = String::new();
    let mut clear = String::new();
    for (index, level) in levels.iter().enumerate() {
        let (w, name) = (level.acc_bits, file_part(&level.name));
        let _ = writeln!(
            declare,
            "    logic [{top}:0] exp_acc_{index} [0:BEATS-1]; // level {name}
    logic signed [{rtl}:0] acc_{index}, held_{index};
    integer at_{index};",
            top = w - 1,
            rtl = acc_width(level) - 1
        );
        let _ = writeln!(load, "        $readmemh(\"exp_acc_{name}.mem\", exp_acc_{index});");
        let _ = writeln!(ports, "        .acc_l{index}(acc_{index}),");
        let _ = writeln!(clear, "        at_{index} = 0;\n        held_{index} = 0;");
        let decimal = |value: &str| match level.acc_signed {
            true => format!("$signed({value})"),
            false => value.to_owned(),
        };
        let _ = writeln!(
            compare,
            "            if (updated[{index}] === 1'b1) begin
                while (at_{index} < BEATS && !mask[at_{index}][{index}]) at_{index} = at_{index} + 1;
                checked = checked + 1;
                if (acc_seen < 0) acc_seen = cycle;
                if (at_{index} >= BEATS) begin
                    note();
                    if (shown) $display(\"MISMATCH kind=extra level={index} cycle=%0d beat=%0d\", cycle, BEATS);
                end else begin
                    if (acc_{index}[{top}:0] !== exp_acc_{index}[at_{index}]) begin
                        note();
                        if (shown) begin
                            $write(\"MISMATCH kind=acc level={index} cycle=%0d beat=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d exact=%0d\",
                                cycle, at_{index}, exp_acc_{index}[at_{index}], acc_{index}[{top}:0], {expected_dec}, {got_dec}, $signed(exp_wide[at_{index}]));
                            of_beat(at_{index});
                        end
                    end
                    if (flags[{flag}+:4] !== exp_flags[at_{index}][{flag}+:4]) begin
                        note();
                        if (shown) begin
                            $write(\"MISMATCH kind=flags level={index} cycle=%0d beat=%0d expected=%h got=%h exact=%0d\",
                                cycle, at_{index}, exp_flags[at_{index}][{flag}+:4], flags[{flag}+:4], $signed(exp_wide[at_{index}]));
                            of_beat(at_{index});
                        end
                    end
                end
                at_{index} = at_{index} + 1;
            end else if (updated[{index}] !== 1'b0 || acc_{index} !== held_{index}) begin
                note();
                if (shown) begin
                    $write(\"MISMATCH kind=hold level={index} cycle=%0d beat=%0d expected=%h got=%h\", cycle, at_{index}, held_{index}, acc_{index});
                    of_beat(at_{index});
                end
            end
            held_{index} = acc_{index};",
            top = w - 1,
            flag = index * 4,
            expected_dec = decimal(&format!("exp_acc_{index}[at_{index}]")),
            got_dec = decimal(&format!("acc_{index}[{}:0]", w - 1)),
        );
        let _ = writeln!(
            finish,
            "        while (at_{index} < BEATS && !mask[at_{index}][{index}]) at_{index} = at_{index} + 1;
        if (at_{index} < BEATS) begin
            note();
            if (shown) begin
                $write(\"MISMATCH kind=missing level={index} cycle=%0d beat=%0d\", cycle, at_{index});
                of_beat(at_{index});
            end
        end"
        );
    }
    let out = &arithmetic.requantize;
    let sum_w = levels[count - 1].stage.port_bits;
    format!(
        "// Replays the vectors of this folder against gb_dut and compares every accumulator, flag, sum and output.
// Prints the first {shown} mismatches. Plusargs: +latency=0 does not check latencies, +waves=FILE dumps every signal.
// Ends with a line RESULT and, if anything differs, $fatal.
`timescale 1ns / 1ps
module tb;
    localparam int BEATS = {beats};
    localparam int DOTS = {dots};
    localparam int OUTS = {outs};
    localparam int CHECK_OUT = {check_out};
    localparam int ACC_LATENCY = {acc_latency};
    localparam int OUT_LATENCY = {out_latency};

    logic clk = 1'b0;
    logic rst_n = 1'b0;
    always #5 clk = ~clk;

    logic [{top_a}:0] stim_a [0:BEATS-1];
    logic [{top_w}:0] stim_w [0:BEATS-1];
    logic [{top_ctrl}:0] ctrl [0:BEATS-1];
    logic [{top_bias}:0] stim_bias [0:DOTS-1];
    logic [{top_mult}:0] stim_mult [0:DOTS-1];
    logic [7:0] stim_exp [0:DOTS-1];
    logic [{top_flags}:0] exp_flags [0:BEATS-1];
    logic [{top_level}:0] mask [0:BEATS-1];
    logic [63:0] exp_wide [0:BEATS-1];
    logic [{top_sum}:0] exp_sum [0:OUTS];
    logic [{top_out}:0] exp_out [0:OUTS];

    logic in_valid, in_clear;
    logic [{top_level}:0] in_run_last, updated;
    logic [{top_lane}:0] in_keep;
    logic [{top_a}:0] in_a;
    logic [{top_w}:0] in_w;
    logic [{top_bias}:0] in_bias;
    logic [{top_mult}:0] in_mult;
    logic [7:0] in_exp;
    logic [{top_flags}:0] flags;
    logic sum_valid, out_valid;
    logic [{top_sum}:0] sum;
    logic [{top_out}:0] out_code;
{declare}
    gb_dut dut (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_clear(in_clear), .in_run_last(in_run_last),
        .in_keep(in_keep), .in_a(in_a), .in_w(in_w), .in_bias(in_bias), .in_mult(in_mult), .in_exp(in_exp),
{ports}        .updated(updated), .flags(flags), .sum_valid(sum_valid), .sum(sum), .out_valid(out_valid), .out_code(out_code)
    );

    integer cycle, beat, dot, drain, checked, mismatches, sums, outs;
    integer first_in, first_last, acc_seen, out_seen, check_latency;
    string waves;
    logic shown;
    // Counts a mismatch; `shown` says whether to print it.
    task note;
        begin
            shown = (mismatches < {shown});
            mismatches = mismatches + 1;
        end
    endtask

    // The case at hand: its place in cases.txt, first beat, beats, output word (-1: none) and identifier.
    integer cases, read, case_at, case_first, case_beats, case_word;
    logic [8*128-1:0] case_id;
    task next_case;
        begin
            read = $fscanf(cases, \"%d %d %d %s\", case_first, case_beats, case_word, case_id);
            case_at = case_at + 1;
        end
    endtask

    // Ends a line with the case that a beat belongs to, and the operands of the beat: activation * weight.
    task of_beat(input integer at);
        begin
            cases   = $fopen(\"cases.txt\", \"r\");
            case_at = -1;
            read    = 4;
            next_case();
            while (read == 4 && at >= case_first + case_beats) next_case();
            $fclose(cases);
            if (read == 4) begin
                $write(\" case=%0s\", case_id);
                operands(at);
            end
            $write(\"\\n\");
        end
    endtask

    // The same for a finished dot product: the operands of its last beat, its bias and multiplier.
    task of_word(input integer at);
        begin
            cases   = $fopen(\"cases.txt\", \"r\");
            case_at = -1;
            read    = 4;
            next_case();
            while (read == 4 && at != case_word) next_case();
            $fclose(cases);
            if (read == 4) begin
                $write(\" case=%0s\", case_id);
                operands(case_first + case_beats - 1);
                $write(\" sum=%0d bias=%0d mult=%0d exp=%0d\", $signed(exp_sum[at]), $signed(stim_bias[case_at]),
                    $signed(stim_mult[case_at]), $signed(stim_exp[case_at]));
            end
            $write(\"\\n\");
        end
    endtask

    integer lane;
    logic comma;
    task operands(input integer at);
        begin
            if (at < BEATS) begin
                comma = 1'b0;
                $write(\" operands=\");
                for (lane = 0; lane < {lanes}; lane = lane + 1) begin
                    if (ctrl[at][0] && ctrl[at][{keep_at}+lane]) begin
                        if (comma) $write(\",\");
                        $write(\"%0d*%0d\", $signed(stim_a[at][lane*{slot_a}+:{a}]), $signed(stim_w[at][lane*{slot_w}+:{w}]));
                        comma = 1'b1;
                    end
                end
            end
        end
    endtask

    initial begin
        $readmemh(\"stim_a.mem\", stim_a);
        $readmemh(\"stim_w.mem\", stim_w);
        $readmemh(\"ctrl.mem\", ctrl);
        $readmemh(\"stim_bias.mem\", stim_bias);
        $readmemh(\"stim_mult.mem\", stim_mult);
        $readmemh(\"stim_exp.mem\", stim_exp);
        $readmemh(\"exp_flags.mem\", exp_flags);
        $readmemh(\"mask.mem\", mask);
        $readmemh(\"exp_wide.mem\", exp_wide);
        $readmemh(\"exp_sum.mem\", exp_sum, 0, OUTS - 1);
        $readmemh(\"exp_out.mem\", exp_out, 0, OUTS - 1);
{load}{clear}        cycle = 0;
        beat = 0;
        dot = -1;
        drain = 0;
        checked = 0;
        mismatches = 0;
        sums = 0;
        outs = 0;
        first_in = -1;
        first_last = -1;
        acc_seen = -1;
        out_seen = -1;
        shown = 1'b0;
        in_valid = 1'b0;
        in_clear = 1'b0;
        in_run_last = 0;
        in_keep = 0;
        in_a = 0;
        in_w = 0;
        in_bias = 0;
        in_mult = 0;
        in_exp = 0;
        if (!$value$plusargs(\"latency=%d\", check_latency)) check_latency = 1;
        if ($value$plusargs(\"waves=%s\", waves)) begin
            $dumpfile(waves);
            $dumpvars(0, tb);
        end
        repeat (4) @(posedge clk);
        #1 rst_n = 1'b1;
    end

    // Inputs change a little after the edge; outputs are read a little before it.
    always @(posedge clk) begin
        #1;
        if (rst_n) begin
            in_valid = 1'b0;
            if (beat < BEATS) begin
                in_valid    = ctrl[beat][0];
                in_clear    = ctrl[beat][1];
                in_run_last = ctrl[beat][2+:{count}];
                in_keep     = ctrl[beat][{keep_at}+:{lanes}];
                in_a        = stim_a[beat];
                in_w        = stim_w[beat];
                if (in_valid && in_clear) dot = dot + 1;
                if (dot >= 0) begin
                    in_bias = stim_bias[dot];
                    in_mult = stim_mult[dot];
                    in_exp  = stim_exp[dot];
                end
                beat = beat + 1;
            end else begin
                drain = drain + 1;
                if (drain > 64) done();
            end
        end
    end

    always @(negedge clk) begin
        if (rst_n) begin
            cycle = cycle + 1;
            if (in_valid && first_in < 0) first_in = cycle;
            if (in_valid && in_run_last[{top_level}] && first_last < 0 && &in_run_last) first_last = cycle;
{compare}
            if (sum_valid === 1'b1) begin
                checked = checked + 1;
                if (sums >= OUTS || sum !== exp_sum[sums]) begin
                    note();
                    if (shown) begin
                        $write(\"MISMATCH kind=sum level={top_level} cycle=%0d word=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d\",
                            cycle, sums, exp_sum[sums], sum, $signed(exp_sum[sums]), $signed(sum));
                        of_word(sums);
                    end
                end
                sums = sums + 1;
            end
            if (out_valid === 1'b1) begin
                if (out_seen < 0) out_seen = cycle;
                if (CHECK_OUT != 0) begin
                    checked = checked + 1;
                    if (outs >= OUTS || out_code !== exp_out[outs]) begin
                        note();
                        if (shown) begin
                            $write(\"MISMATCH kind=out level={top_level} cycle=%0d word=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d\",
                                cycle, outs, exp_out[outs], out_code, $signed(exp_out[outs]), $signed(out_code));
                            of_word(outs);
                        end
                    end
                end
                outs = outs + 1;
            end
        end
    end

    task done;
        begin
{finish}
            if (sums != OUTS || outs != OUTS) begin
                note();
                if (shown) $display(\"MISMATCH kind=count level={top_level} cycle=%0d word=%0d expected=%0d got=%0d\", cycle, sums, OUTS, outs);
            end
            if (check_latency != 0 && acc_seen - first_in != ACC_LATENCY) begin
                note();
                if (shown) $display(\"MISMATCH kind=latency level=0 cycle=%0d beat=0 expected=%0d got=%0d\", cycle, ACC_LATENCY, acc_seen - first_in);
            end
            if (check_latency != 0 && out_seen - first_last != OUT_LATENCY) begin
                note();
                if (shown) $display(\"MISMATCH kind=out_latency level={top_level} cycle=%0d beat=0 expected=%0d got=%0d\", cycle, OUT_LATENCY, out_seen - first_last);
            end
            $display(\"RESULT checked=%0d mismatches=%0d cycles=%0d acc_latency=%0d out_latency=%0d outputs=%0d\",
                checked, mismatches, cycle, acc_seen - first_in, out_seen - first_last, CHECK_OUT);
            if (mismatches != 0) $fatal(1, \"vectors differ\");
            $finish;
        end
    endtask
endmodule
",
        beats = sizes.beats,
        dots = sizes.dots,
        outs = sizes.outputs,
        check_out = u8::from(out.in_rtl),
        acc_latency = interface.acc_latency,
        out_latency = interface.out_latency,
        top_a = interface.activation_slot as usize * lanes - 1,
        top_w = interface.weight_slot as usize * lanes - 1,
        top_ctrl = ctrl_w - 1,
        top_bias = arithmetic.bias.input_bits - 1,
        top_flags = count * 4 - 1,
        top_level = count - 1,
        top_sum = sum_w - 1,
        top_out = out.out_bits - 1,
        top_mult = out.mult_bits - 1,
        top_lane = lanes - 1,
        keep_at = 2 + count,
        shown = SHOWN,
        slot_a = interface.activation_slot,
        slot_w = interface.weight_slot,
        a = arithmetic.activation.bits,
        w = arithmetic.weight.bits,
    )
}
