// Replays the vectors of this folder against gb_dut and compares every accumulator, flag, sum and output.
// Prints the first mismatches. Ends with a line FAILED that lists the cases that differ (places in cases.txt), a line
// RESULT and, if anything differs or was not compared, $fatal.
//
// Plusargs:
//   +latency=0       does not check latencies
//   +waves=FILE      dumps every signal; +from=CYCLE and +until=CYCLE: only from there on, and no longer
//   +idle=P          idle cycles before P percent of the beats, +idle_max=N of them at most (default 64, at least 1)
//   +resets=N        up to N resets: between dot products, within one, and after an overflow
//   +seed=S          other places of idle cycles and resets: the same ones in every simulator, in tb.vhd and in test_bundle.py
//   +acc_latency=N   compares only the latency of accumulators and sums, with N cycles
//   +acc=0, +out=0   does not compare accumulators and flags, or codes: for designs without these ports
// A dot product that a reset interrupts is sent again, so every value is compared in any case.
`timescale 1ns / 1ps
`ifdef GB_COVERAGE
`define GB_SAMPLE(group, value) coverage.group.sample(value);
`else
`define GB_SAMPLE(group, value)
`endif
module tb;
    import tb_params::*;
`ifdef GB_COVERAGE
    gb_stress coverage ();
`endif

    // Edges order the stimuli here, not assignments.
    /* verilator lint_off BLKSEQ */

    // Cycles after which nothing is under way in a design.
    localparam int DRAIN = 64;

    logic clk, begun, halted, rst_n;
    tb_clock clock (.clk(clk), .rst_n(begun));
    assign rst_n = begun && !halted;

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

    // For waveforms: what is expected, as it is compared.
    /* verilator lint_off UNUSEDSIGNAL */
    logic [LEVELS*64-1:0] golden_acc;
    logic [LEVELS*4-1:0] golden_flags;
    logic signed [SUM_W-1:0] golden_sum;
    logic signed [CODE_W-1:0] golden_code;
    logic differs;
    /* verilator lint_on UNUSEDSIGNAL */

    // Cases that differ, by a beat or an output word of theirs.
    logic wrong_beat [0:BEATS];
    logic wrong_word [0:OUTS];

    int cycle, beat, dot, drain, mismatches, sums, outs, due;
    int seen [0:LEVELS-1];
    int first_in, first_last, acc_seen, sum_seen, out_seen, check_latency, acc_latency, check_acc, check_out;
    logic shown;
    // Counts a mismatch; `shown` says whether to print it.
    task note;
        begin
            shown = (mismatches < SHOWN);
            mismatches = mismatches + 1;
            differs = 1'b1;
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

    // Lists the cases that differ.
    int listed;
    logic is_wrong;
    task list_failed;
        begin
            $write("FAILED");
            cases   = $fopen("cases.txt", "r");
            case_at = -1;
            fields  = 4;
            next_case();
            while (fields == 4) begin
                is_wrong = (case_word >= 0 && wrong_word[case_word]);
                for (listed = case_first; listed < case_first + case_beats; listed = listed + 1)
                    if (wrong_beat[listed]) is_wrong = 1'b1;
                if (is_wrong) $write(" %0d", case_at);
                next_case();
            end
            $fclose(cases);
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
                if (acc_seen < 0) acc_seen = cycle;
                if (at[level] >= BEATS) begin
                    note();
                    if (shown) $display("MISMATCH kind=extra level=%0d cycle=%0d beat=%0d", level, cycle, BEATS);
                end else begin
                    seen[level] = seen[level] + 1;
                    want       = exp_acc[level*BEATS+at[level]];
                    got_flags  = flags[level*4+:4];
                    want_flags = exp_flags[at[level]][level*4+:4];
                    golden_acc[level*64+:64] = number(want);
                    golden_flags[level*4+:4] = want_flags;
                    if ((got << (64 - bits)) !== (want << (64 - bits))) begin
                        note();
                        wrong_beat[at[level]] = 1'b1;
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
                        wrong_beat[at[level]] = 1'b1;
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
                wrong_beat[at[level]] = 1'b1;
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
            seen[level] = 0;
            held[level] = 0;
        end
        for (sought = 0; sought <= BEATS; sought = sought + 1) wrong_beat[sought] = 1'b0;
        for (sought = 0; sought <= OUTS; sought = sought + 1) wrong_word[sought] = 1'b0;
        golden_acc = 0;
        golden_flags = 0;
        golden_sum = 0;
        golden_code = 0;
        differs = 1'b0;
        cycle = 0;
        beat = 0;
        dot = -1;
        drain = 0;
        mismatches = 0;
        sums = 0;
        outs = 0;
        due = 0;
        first_in = -1;
        first_last = -1;
        acc_seen = -1;
        sum_seen = -1;
        out_seen = -1;
        shown = 1'b0;
        halted = 1'b0;
        in_reset = 0;
        gap = 0;
        pause = 0;
        quiet = 0;
        extra = -1;
        resetting = 0;
        kind = 0;
        next_reset = 0;
        first_beat = 0;
        first_dot = -1;
        is_paused = 1'b0;
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
        if (!$value$plusargs("acc_latency=%d", acc_latency)) acc_latency = -1;
        if (!$value$plusargs("acc=%d", check_acc)) check_acc = 1;
        if (!$value$plusargs("out=%d", check_out)) check_out = 1;
        if (!$value$plusargs("idle=%d", idle)) idle = 0;
        if (!$value$plusargs("idle_max=%d", idle_max)) idle_max = 64;
        if (!$value$plusargs("resets=%d", resets)) resets = 0;
        if (!$value$plusargs("seed=%d", random)) random = 1;
        random = random % 65536 + 1;
        if (idle_max < 1) idle_max = 1;
        for (bin = 0; bin < 5; bin = bin + 1) begin
            gaps_inside[bin]  = 0;
            gaps_between[bin] = 0;
        end
        for (bin = 0; bin < 3; bin = bin + 1) done_resets[bin] = 0;
        for (level = 0; level < LEVELS; level = level + 1) begin
            last_flag[level] = -1;
            for (sought = 0; sought < BEATS; sought = sought + 1)
                if (exp_flags[sought][level*4+3]) last_flag[level] = sought;
        end
        last_within = -1;
        for (sought = 0; sought < BEATS; sought = sought + 1)
            if (ctrl[sought][0] && !is_start(sought)) last_within = sought;
    end

    // Numbers from 0 to below - 1. Simulators disagree on which calls within an expression they make, so every draw is a
    // statement of its own. tb.vhd and test_bundle.py draw in the same order, per cycle:
    //   chance of idle cycles, draw(100), if a beat could be sent and no reset is due; if there are any, draw_cycles
    //   in_clear and noise, draw(2) each, of a cycle without a beat
    //   in_valid, draw(2), of a cycle in a reset but its first one
    //   beats to drop, draw(3), in the last cycle before a reset in which the design drains
    //   cycles of a reset, draw(4), in its first one
    int random, drawn;
    function int draw(input int below);
        begin
            random = (random * 75 + 74) % 65537;
            draw   = (random % 65536) % below;
        end
    endfunction

    // Idle cycles and resets. A reset waits until the design is idle, lets a few beats enter that it must drop, and
    // sends the dot product again.
    int idle, idle_max, resets, gap, pause, quiet, extra, resetting, in_reset;
    int kind, next_reset, first_beat, first_dot, bin;
    logic is_paused, is_reset_due, noise;
    int gaps_inside [0:4], gaps_between [0:4], done_resets [0:2];
    // Per level: the last beat after which its sticky flag is set.
    int last_flag [0:LEVELS-1];

    // As often one or two cycles as several or many.
    int few, many;
    task draw_cycles;
        begin
            drawn = draw(4);
            few   = draw(5);
            many  = draw(idle_max);
            pause = (drawn < 2) ? drawn + 1 : (drawn == 2) ? 3 + few : 8 + many;
            if (pause > idle_max) pause = idle_max;
        end
    endtask

    // A cycle without a beat: no other input matters.
    task no_beat;
        begin
            in_valid    = 1'b0;
            drawn       = draw(2);
            in_clear    = drawn != 0;
            in_run_last = {LEVELS{1'b1}};
            in_keep     = {LANES{1'b1}};
            drawn       = draw(2);
            noise       = drawn != 0;
            in_a        = {LANES*A_SLOT{noise}};
            in_w        = {LANES*W_SLOT{noise}};
            gap = gap + 1;
        end
    endtask

    task send;
        begin
            in_valid    = ctrl[beat][0];
            in_clear    = ctrl[beat][1];
            in_run_last = ctrl[beat][2+:LEVELS];
            in_keep     = ctrl[beat][KEEP+:LANES];
            in_a        = stim_a[beat];
            in_w        = stim_w[beat];
            if (in_valid) begin
                bin = (gap < 3) ? gap : (gap < 8) ? 3 : 4;
                if (in_clear) begin
                    `GB_SAMPLE(gap_between, gap)
                    gaps_between[bin] = gaps_between[bin] + 1;
                    first_beat = beat;
                    first_dot  = dot;
                    dot = dot + 1;
                end else begin
                    `GB_SAMPLE(gap_inside, gap)
                    gaps_inside[bin] = gaps_inside[bin] + 1;
                end
                gap = 0;
                if (in_run_last[LEVELS-1]) due = due + 1;
            end else begin
                gap = gap + 1;
            end
            if (dot >= 0) begin
                in_bias = stim_bias[dot];
                in_mult = stim_mult[dot];
                in_exp  = stim_exp[dot];
            end
            beat = beat + 1;
            is_paused = 1'b0;
        end
    endtask

    // The number of a beat needs fewer bits.
    /* verilator lint_off UNUSEDSIGNAL */
    // Whether a beat ends a dot product, or starts one.
    function logic is_end(input int b);
        is_end = (ctrl[b][0] && ctrl[b][1+LEVELS]);
    endfunction

    function logic is_start(input int b);
        is_start = (ctrl[b][0] && ctrl[b][1]);
    endfunction

    // The level whose overflow the next reset follows: in turn, from the last one on, of those that overflow in the beat
    // before or later. -1 if there is none.
    int flag_level, candidate, turn, sought;
    // The last beat within a dot product; -1 if each is one beat.
    int last_within;
    task choose_level;
        begin
            flag_level = -1;
            for (turn = 0; turn < LEVELS && flag_level < 0; turn = turn + 1) begin
                candidate = (LEVELS - 1 + done_resets[2] + turn) % LEVELS;
                if (last_flag[candidate] >= beat - 1) flag_level = candidate;
            end
        end
    endtask
    /* verilator lint_on UNUSEDSIGNAL */

    // Whether the beat at hand is a place for the next kind of reset: 0 between dot products, 1 within one, 2 after an
    // overflow.
    task look_for_reset;
        begin
            is_reset_due = 1'b0;
            if (resets > 0 && beat >= next_reset && beat > 0 && ctrl[beat][0]) begin
                case (kind)
                    0: is_reset_due = is_start(beat);
                    1: begin
                        if (beat > last_within) kind = 2;
                        else is_reset_due = !is_start(beat);
                    end
                    default: begin
                        choose_level();
                        if (flag_level < 0) kind = 0;
                        else is_reset_due = exp_flags[beat-1][flag_level*4+3];
                    end
                endcase
            end
        end
    endtask

    // Everything that was sent must have been compared by now.
    task check_drained;
        begin
            for (level = 0; level < LEVELS && check_acc != 0; level = level + 1) begin
                next_beat();
                if (at[level] < beat) begin
                    note();
                    wrong_beat[at[level]] = 1'b1;
                    if (shown) begin
                        $write("MISMATCH kind=missing level=%0d cycle=%0d beat=%0d", level, cycle, at[level]);
                        of_beat(at[level]);
                    end
                end
            end
            if (sums != due) begin
                note();
                wrong_word[(sums < OUTS) ? sums : OUTS] = 1'b1;
                if (shown) $display("MISMATCH kind=missing_sum level=%0d cycle=%0d word=%0d expected=%0d got=%0d", LEVELS - 1, cycle, sums, due, sums);
            end
            if (outs != due && check_out != 0) begin
                note();
                wrong_word[(outs < OUTS) ? outs : OUTS] = 1'b1;
                if (shown) $display("MISMATCH kind=missing_out level=%0d cycle=%0d word=%0d expected=%0d got=%0d", LEVELS - 1, cycle, outs, due, outs);
            end
        end
    endtask

    // Back to the first beat of the dot product; what was compared of it does not count.
    task send_again;
        begin
            beat = first_beat;
            dot  = first_dot;
            for (level = 0; level < LEVELS; level = level + 1) begin
                while (at[level] > first_beat) begin
                    at[level] = at[level] - 1;
                    if (mask[at[level]][level]) seen[level] = seen[level] - 1;
                end
            end
        end
    endtask

    // Inputs change a little after the edge; outputs are read a little before the next one.
    always @(posedge clk) begin
        in_reset = rst_n ? 0 : in_reset + 1;
        #1;
        if (begun) begin
            if (resetting > 0) begin
                no_beat();
                // Beats during a reset must have no effect, the last one above all.
                drawn     = draw(2);
                in_valid  = (resetting > 1 && drawn != 0) || resetting == 2;
                resetting = resetting - 1;
                if (resetting == 0) begin
                    halted = 1'b0;
                    send_again();
                end
            end else if (quiet > 0) begin
                no_beat();
                quiet = quiet - 1;
                if (quiet == 0) begin
                    check_drained();
                    extra = draw(3);
                    // A reset after an overflow finds its sticky flag set, which the next dot product would clear.
                    if (kind == 2) extra = 0;
                    // A reset between dot products drops beats of the next one.
                    if (is_start(beat)) begin
                        first_beat = beat;
                        first_dot  = dot;
                    end
                end
            end else if (extra >= 0) begin
                if (extra > 0 && beat < BEATS && !is_end(beat) && (!is_start(beat) || beat == first_beat)) begin
                    send();
                    extra = extra - 1;
                end else begin
                    no_beat();
                    halted    = 1'b1;
                    drawn     = draw(4);
                    resetting = 3 + drawn;
                    extra     = -1;
                    `GB_SAMPLE(reset, kind)
                    done_resets[kind] = done_resets[kind] + 1;
                    kind   = (kind + 1) % 3;
                    resets = resets - 1;
                    next_reset = next_reset + BEATS / (resets + 1) / 2;
                end
            end else if (pause > 0) begin
                no_beat();
                pause = pause - 1;
            end else if (beat < BEATS) begin
                look_for_reset();
                if (is_reset_due) begin
                    no_beat();
                    quiet = DRAIN;
                end else begin
                    drawn = draw(100);
                    if (drawn < idle && !is_paused && ctrl[beat][0]) begin
                        draw_cycles();
                        no_beat();
                        pause = pause - 1;
                        is_paused = 1'b1;
                    end else begin
                        send();
                    end
                end
            end else begin
                no_beat();
                drain = drain + 1;
                if (drain > DRAIN) done();
            end
        end
    end

    always @(negedge clk) begin
        differs = 1'b0;
        if (begun) begin
            cycle = cycle + 1;
            if (in_valid && first_in < 0) first_in = cycle;
            if (in_valid && first_last < 0 && in_run_last[LEVELS-1]) first_last = cycle;
        end
        if (in_reset == 0) compare_all();
        else if (in_reset > 1) compare_reset();
    end

    // From the second cycle of a reset on, nothing is held and nothing is valid.
    task compare_reset;
        begin
            for (level = 0; level < LEVELS; level = level + 1) begin
                held[level] = 0;
                got         = acc[level*64+:64];
                got_flags   = flags[level*4+:4];
                if (got !== 64'd0 || updated[level] !== 1'b0 || got_flags !== 4'd0) begin
                    note();
                    if (shown) begin
                        $write("MISMATCH kind=reset level=%0d cycle=%0d beat=%0d expected=0 got=", level, cycle, beat);
                        hex(got, 64);
                        $display(" updated=%b flags=%h", updated[level], got_flags);
                    end
                end
            end
            if (sum_valid !== 1'b0 || out_valid !== 1'b0) begin
                note();
                if (shown) $display("MISMATCH kind=reset level=%0d cycle=%0d beat=%0d sum_valid=%b out_valid=%b", LEVELS - 1, cycle, beat, sum_valid, out_valid);
            end
        end
    endtask

    task compare_all;
        begin
            for (level = 0; level < LEVELS && check_acc != 0; level = level + 1) compare_level();
            if (sum_valid === 1'b1) begin
                if (sum_seen < 0) sum_seen = cycle;
                golden_sum = exp_sum[(sums < OUTS) ? sums : OUTS];
                if (sums >= OUTS || sum !== exp_sum[sums]) begin
                    note();
                    wrong_word[(sums < OUTS) ? sums : OUTS] = 1'b1;
                    if (shown) begin
                        $write("MISMATCH kind=sum level=%0d cycle=%0d word=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d",
                            LEVELS - 1, cycle, sums, exp_sum[sums], sum, exp_sum[sums], sum);
                        of_word(sums);
                    end
                end
                sums = sums + 1;
            end else if (sum_valid !== 1'b0) begin
                note();
                if (shown) $display("MISMATCH kind=sum_valid level=%0d cycle=%0d beat=%0d got=%b", LEVELS - 1, cycle, beat, sum_valid);
            end
            if (check_out == 0) begin
            end else if (out_valid === 1'b1) begin
                if (out_seen < 0) out_seen = cycle;
                golden_code = exp_out[(outs < OUTS) ? outs : OUTS];
                if (outs >= OUTS || (CHECK_OUT != 0 && out_code !== exp_out[outs])) begin
                    note();
                    wrong_word[(outs < OUTS) ? outs : OUTS] = 1'b1;
                    if (shown) begin
                        $write("MISMATCH kind=out level=%0d cycle=%0d word=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d",
                            LEVELS - 1, cycle, outs, exp_out[outs], out_code, exp_out[outs], out_code);
                        of_word(outs);
                    end
                end
                outs = outs + 1;
            end else if (out_valid !== 1'b0) begin
                note();
                if (shown) $display("MISMATCH kind=out_valid level=%0d cycle=%0d beat=%0d got=%b", LEVELS - 1, cycle, beat, out_valid);
            end
        end
    endtask

    int checked;
    task done;
        begin
            check_drained();
            checked = sums + ((CHECK_OUT != 0 && check_out != 0) ? outs : 0);
            for (level = 0; level < LEVELS; level = level + 1) begin
                checked = checked + seen[level];
                if (seen[level] != COMPARED[level*32+:32] && check_acc != 0) count("acc", level, COMPARED[level*32+:32], seen[level]);
            end
            if (sums != OUTS) count("sum", LEVELS - 1, OUTS, sums);
            if (outs != OUTS && check_out != 0) count("out", LEVELS - 1, OUTS, outs);
            if (acc_latency < 0 && check_latency != 0) acc_latency = ACC_LATENCY;
            if (acc_latency != ACC_LATENCY) check_latency = 0;
            if (acc_latency >= 0 && check_acc != 0 && acc_seen - first_in != acc_latency) begin
                note();
                if (shown) $display("MISMATCH kind=latency level=0 cycle=%0d beat=0 expected=%0d got=%0d", cycle, acc_latency, acc_seen - first_in);
            end
            if (acc_latency >= 0 && sum_seen - first_last != acc_latency) begin
                note();
                if (shown) $display("MISMATCH kind=sum_latency level=%0d cycle=%0d beat=0 expected=%0d got=%0d", LEVELS - 1, cycle, acc_latency, sum_seen - first_last);
            end
            if (check_latency != 0 && check_out != 0 && out_seen - first_last != OUT_LATENCY) begin
                note();
                if (shown) $display("MISMATCH kind=out_latency level=%0d cycle=%0d beat=0 expected=%0d got=%0d", LEVELS - 1, cycle, OUT_LATENCY, out_seen - first_last);
            end
            if (mismatches != 0) list_failed();
            $write("RESULT checked=%0d mismatches=%0d cycles=%0d acc_latency=%0d out_latency=%0d outputs=%0d acc=",
                checked, mismatches, cycle, acc_seen - first_in, out_seen - first_last, CHECK_OUT);
            for (level = 0; level < LEVELS; level = level + 1) begin
                if (level > 0) $write(",");
                $write("%0d", seen[level]);
            end
            $display(" sum=%0d out=%0d gap_inside=%0d,%0d,%0d,%0d,%0d gap_between=%0d,%0d,%0d,%0d,%0d reset=%0d,%0d,%0d random=%0d",
                sums, outs, gaps_inside[0], gaps_inside[1], gaps_inside[2], gaps_inside[3], gaps_inside[4],
                gaps_between[0], gaps_between[1], gaps_between[2], gaps_between[3], gaps_between[4],
                done_resets[0], done_resets[1], done_resets[2], random);
            if (mismatches != 0) $fatal(1, "vectors differ");
            $finish;
        end
    endtask

    // Not as many values were compared as the manifest requires.
    task count(input logic [8*4-1:0] what, input int of_level, input int expected, input int found);
        begin
            note();
            // Never hidden by other mismatches.
            $display("MISMATCH kind=count level=%0d cycle=%0d what=%0s expected=%0d got=%0d", of_level, cycle, what, expected, found);
        end
    endtask
endmodule
