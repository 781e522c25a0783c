// Replays the vectors of this folder against gb_dut and compares every accumulator, flag, sum and output.
// Prints the first mismatches. Plusargs: +latency=0 does not check latencies, +waves=FILE dumps every signal.
// Ends with a line RESULT and, if anything differs, $fatal.
`timescale 1ns / 1ps
module tb;
    import tb_params::*;

    // Edges order the stimuli here, not assignments.
    /* verilator lint_off BLKSEQ */

    logic clk, rst_n;
    tb_clock clock (.clk(clk), .rst_n(rst_n));

    // The vectors. Of a dot product there is a word per beat, per start (bias, multiplier) or per end (sum, output).
    logic [LANES*A_SLOT-1:0] stim_a [0:BEATS-1];
    logic [LANES*W_SLOT-1:0] stim_w [0:BEATS-1];
    logic [CTRL_W-1:0] ctrl [0:BEATS-1];
    logic signed [BIAS_W-1:0] stim_bias [0:DOTS-1];
    logic signed [MULT_W-1:0] stim_mult [0:DOTS-1];
    logic signed [7:0] stim_exp [0:DOTS-1];
    // Level by level.
    logic [63:0] exp_acc [0:LEVELS*BEATS-1];
    logic [LEVELS*4-1:0] exp_flags [0:BEATS-1];
    logic [LEVELS-1:0] mask [0:BEATS-1];
    logic signed [63:0] exp_wide [0:BEATS-1];
    logic signed [SUM_W-1:0] exp_sum [0:OUTS];
    logic signed [CODE_W-1:0] exp_out [0:OUTS];

    logic in_valid, in_clear;
    logic [LEVELS-1:0] in_run_last, updated;
    logic [LANES-1:0] in_keep;
    logic [LANES*A_SLOT-1:0] in_a;
    logic [LANES*W_SLOT-1:0] in_w;
    logic signed [BIAS_W-1:0] in_bias;
    logic signed [MULT_W-1:0] in_mult;
    logic signed [7:0] in_exp;
    logic [LEVELS*64-1:0] acc;
    logic [LEVELS*4-1:0] flags;
    logic sum_valid, out_valid;
    logic signed [SUM_W-1:0] sum;
    logic signed [CODE_W-1:0] out_code;
    tb_ports ports (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_clear(in_clear), .in_run_last(in_run_last),
        .in_keep(in_keep), .in_a(in_a), .in_w(in_w), .in_bias(in_bias), .in_mult(in_mult), .in_exp(in_exp),
        .acc(acc), .updated(updated), .flags(flags), .sum_valid(sum_valid), .sum(sum), .out_valid(out_valid),
        .out_code(out_code)
    );

    int cycle, beat, dot, drain, checked, mismatches, sums, outs;
    int first_in, first_last, acc_seen, out_seen, check_latency;
    logic shown;
    // Counts a mismatch; `shown` says whether to print it.
    task note;
        begin
            shown = (mismatches < SHOWN);
            mismatches = mismatches + 1;
        end
    endtask

    // Writes the low bits of a value in hexadecimal digits.
    int digit;
    logic [3:0] nibble;
    task hex(input logic [63:0] value, input int bits);
        begin
            for (digit = (bits + 3) / 4 - 1; digit >= 0; digit = digit - 1) begin
                nibble = value[digit*4+:4];
                if (digit * 4 + 4 > bits) nibble = nibble & (4'hf >> (digit * 4 + 4 - bits));
                $write("%h", nibble);
            end
        end
    endtask

    // The case at hand: its place in cases.txt, first beat, beats, output word (-1: none) and identifier.
    int cases, fields, case_at, case_first, case_beats, case_word;
    logic [8*128-1:0] case_id;
    task next_case;
        begin
            fields = $fscanf(cases, "%d %d %d %s", case_first, case_beats, case_word, case_id);
            case_at = case_at + 1;
        end
    endtask

    // Ends a line with the case that a beat belongs to, and the operands of the beat: activation * weight.
    task of_beat(input int at);
        begin
            cases   = $fopen("cases.txt", "r");
            case_at = -1;
            fields  = 4;
            next_case();
            while (fields == 4 && at >= case_first + case_beats) next_case();
            $fclose(cases);
            if (fields == 4) begin
                $write(" case=%0s", case_id);
                operands(at);
            end
            $write("\n");
        end
    endtask

    // The same for a finished dot product: the operands of its last beat, its bias and multiplier.
    task of_word(input int at);
        begin
            cases   = $fopen("cases.txt", "r");
            case_at = -1;
            fields  = 4;
            next_case();
            while (fields == 4 && at != case_word) next_case();
            $fclose(cases);
            if (fields == 4) begin
                $write(" case=%0s", case_id);
                operands(case_first + case_beats - 1);
                $write(" sum=%0d bias=%0d mult=%0d exp=%0d", exp_sum[at], stim_bias[case_at], stim_mult[case_at],
                       stim_exp[case_at]);
            end
            $write("\n");
        end
    endtask

    int lane;
    logic comma;
    task operands(input int at);
        begin
            if (at < BEATS) begin
                comma = 1'b0;
                $write(" operands=");
                for (lane = 0; lane < LANES; lane = lane + 1) begin
                    if (ctrl[at][0] && ctrl[at][KEEP+lane]) begin
                        if (comma) $write(",");
                        $write("%0d*%0d", $signed(stim_a[at][lane*A_SLOT+:A_W]), $signed(stim_w[at][lane*W_SLOT+:W_W]));
                        comma = 1'b1;
                    end
                end
            end
        end
    endtask

    // Per level: the beat that it shows next, and what it showed last.
    int level, bits, at [0:LEVELS-1];
    logic [63:0] held [0:LEVELS-1];
    logic [63:0] got, want;
    logic [3:0] got_flags, want_flags;

    // Skips the beats in which the level does nothing.
    task next_beat;
        begin
            while (at[level] < BEATS && !mask[at[level]][level]) at[level] = at[level] + 1;
        end
    endtask

    // A register's word as a number: its sign bit is the highest one, where it has one.
    function logic signed [63:0] number(input logic [63:0] word);
        number = (ACC_SIGNED[level*32+:32] != 0) ? $signed(word << (64 - bits)) >>> (64 - bits)
                                                 : $signed((word << (64 - bits)) >> (64 - bits));
    endfunction

    // One level in one cycle.
    task compare_level;
        begin
            bits = ACC_BITS[level*32+:32];
            got  = acc[level*64+:64];
            if (updated[level] === 1'b1) begin
                next_beat();
                checked = checked + 1;
                if (acc_seen < 0) acc_seen = cycle;
                if (at[level] >= BEATS) begin
                    note();
                    if (shown) $display("MISMATCH kind=extra level=%0d cycle=%0d beat=%0d", level, cycle, BEATS);
                end else begin
                    want       = exp_acc[level*BEATS+at[level]];
                    got_flags  = flags[level*4+:4];
                    want_flags = exp_flags[at[level]][level*4+:4];
                    if ((got << (64 - bits)) !== (want << (64 - bits))) begin
                        note();
                        if (shown) begin
                            $write("MISMATCH kind=acc level=%0d cycle=%0d beat=%0d expected=", level, cycle, at[level]);
                            hex(want, bits);
                            $write(" got=");
                            hex(got, bits);
                            $write(" expected_dec=%0d got_dec=%0d exact=%0d", number(want), number(got), exp_wide[at[level]]);
                            of_beat(at[level]);
                        end
                    end
                    if (got_flags !== want_flags) begin
                        note();
                        if (shown) begin
                            $write("MISMATCH kind=flags level=%0d cycle=%0d beat=%0d expected=%h got=%h exact=%0d",
                                level, cycle, at[level], want_flags, got_flags, exp_wide[at[level]]);
                            of_beat(at[level]);
                        end
                    end
                end
                at[level] = at[level] + 1;
            end else if (updated[level] !== 1'b0 || got !== held[level]) begin
                note();
                if (shown) begin
                    // The port of a register without a sign has one bit more.
                    if (ACC_SIGNED[level*32+:32] == 0) bits = bits + 1;
                    $write("MISMATCH kind=hold level=%0d cycle=%0d beat=%0d expected=", level, cycle, at[level]);
                    hex(held[level], bits);
                    $write(" got=");
                    hex(got, bits);
                    of_beat(at[level]);
                end
            end
            held[level] = got;
        end
    endtask

    initial begin
        $readmemh("stim_a.mem", stim_a);
        $readmemh("stim_w.mem", stim_w);
        $readmemh("ctrl.mem", ctrl);
        $readmemh("stim_bias.mem", stim_bias);
        $readmemh("stim_mult.mem", stim_mult);
        $readmemh("stim_exp.mem", stim_exp);
        $readmemh("exp_flags.mem", exp_flags);
        $readmemh("mask.mem", mask);
        $readmemh("exp_wide.mem", exp_wide);
        $readmemh("exp_sum.mem", exp_sum, 0, OUTS - 1);
        $readmemh("exp_out.mem", exp_out, 0, OUTS - 1);
        for (level = 0; level < LEVELS; level = level + 1) begin
            $readmemh(acc_file(level), exp_acc, level * BEATS, level * BEATS + BEATS - 1);
            at[level]   = 0;
            held[level] = 0;
        end
        cycle = 0;
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
        if (!$value$plusargs("latency=%d", check_latency)) check_latency = 1;
    end

    // Inputs change a little after the edge; outputs are read a little before it.
    always @(posedge clk) begin
        #1;
        if (rst_n) begin
            in_valid = 1'b0;
            if (beat < BEATS) begin
                in_valid    = ctrl[beat][0];
                in_clear    = ctrl[beat][1];
                in_run_last = ctrl[beat][2+:LEVELS];
                in_keep     = ctrl[beat][KEEP+:LANES];
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
            if (in_valid && first_last < 0 && &in_run_last) first_last = cycle;
            for (level = 0; level < LEVELS; level = level + 1) compare_level();
            if (sum_valid === 1'b1) begin
                checked = checked + 1;
                if (sums >= OUTS || sum !== exp_sum[sums]) begin
                    note();
                    if (shown) begin
                        $write("MISMATCH kind=sum level=%0d cycle=%0d word=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d",
                            LEVELS - 1, cycle, sums, exp_sum[sums], sum, exp_sum[sums], sum);
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
                            $write("MISMATCH kind=out level=%0d cycle=%0d word=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d",
                                LEVELS - 1, cycle, outs, exp_out[outs], out_code, exp_out[outs], out_code);
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
            for (level = 0; level < LEVELS; level = level + 1) begin
                next_beat();
                if (at[level] < BEATS) begin
                    note();
                    if (shown) begin
                        $write("MISMATCH kind=missing level=%0d cycle=%0d beat=%0d", level, cycle, at[level]);
                        of_beat(at[level]);
                    end
                end
            end
            if (sums != OUTS || outs != OUTS) begin
                note();
                if (shown) $display("MISMATCH kind=count level=%0d cycle=%0d word=%0d expected=%0d got=%0d", LEVELS - 1, cycle, sums, OUTS, outs);
            end
            if (check_latency != 0 && acc_seen - first_in != ACC_LATENCY) begin
                note();
                if (shown) $display("MISMATCH kind=latency level=0 cycle=%0d beat=0 expected=%0d got=%0d", cycle, ACC_LATENCY, acc_seen - first_in);
            end
            if (check_latency != 0 && out_seen - first_last != OUT_LATENCY) begin
                note();
                if (shown) $display("MISMATCH kind=out_latency level=%0d cycle=%0d beat=0 expected=%0d got=%0d", LEVELS - 1, cycle, OUT_LATENCY, out_seen - first_last);
            end
            $display("RESULT checked=%0d mismatches=%0d cycles=%0d acc_latency=%0d out_latency=%0d outputs=%0d",
                checked, mismatches, cycle, acc_seen - first_in, out_seen - first_last, CHECK_OUT);
            if (mismatches != 0) $fatal(1, "vectors differ");
            $finish;
        end
    endtask
endmodule
