// Replays the vectors of this folder against gb_stream_dut, a design that takes beats and gives results by valid and
// ready, and compares every sum and code. Also fails if a result changes or goes while it waits, if one is lost or comes
// twice, and if one is valid in a reset. Prints the first mismatches. Ends with a line FAILED that lists the cases that
// differ (places in cases.txt), a line RESULT and, if anything differs or was not compared, $fatal.
//
// Plusargs:
//   +waves=FILE      dumps every signal; +from=CYCLE and +until=CYCLE: only from there on, and no longer
//   +idle=P          idle cycles before P percent of the beats, +idle_max=N of them at most (default 64, at least 1)
//   +stall=P         results wait in P percent of the cases, up to +idle_max cycles
//   +resets=N        up to N resets: when everything has been taken, within a dot product, and after an overflow
//   +seed=S          other places of all these: the same ones in every simulator, in tb_stream.vhd and in test_stream.py
//   +out=0           does not compare codes
// What a reset drops is sent again, so every value is compared in any case.
`timescale 1ns / 1ps
`ifdef GB_COVERAGE
`define GB_SAMPLE(group, value) coverage.group.sample(value);
`else
`define GB_SAMPLE(group, value)
`endif
module tb_stream;
    import tb_params::*;
`ifdef GB_COVERAGE
    gb_stress coverage ();
`endif

    // Edges order the stimuli here, not assignments.
    /* verilator lint_off BLKSEQ */

    // Cycles after the last result in which none may follow, and cycles without progress after which the run ends.
    localparam int DRAIN = 64;
    localparam int PATIENCE = 4096;

    logic clk, begun, halted, rst_n;
    tb_clock clock (.clk(clk), .rst_n(begun));
    assign rst_n = begun && !halted;

    logic [LANES*A_SLOT-1:0] stim_a [0:BEATS-1];
    logic [LANES*W_SLOT-1:0] stim_w [0:BEATS-1];
    logic [CTRL_W-1:0] ctrl [0:BEATS-1];
    logic signed [BIAS_W-1:0] stim_bias [0:DOTS-1];
    logic signed [MULT_W-1:0] stim_mult [0:DOTS-1];
    logic signed [7:0] stim_exp [0:DOTS-1];
    logic [LEVELS*4-1:0] exp_flags [0:BEATS-1];
    logic signed [SUM_W-1:0] exp_sum [0:OUTS];
    logic signed [CODE_W-1:0] exp_out [0:OUTS];
    // Per output word: the first beat of its dot product, and the dot products before it.
    int word_beat [0:OUTS], word_dot [0:OUTS];
    logic wrong_word [0:OUTS];

    logic in_valid, in_ready, in_clear, out_valid, out_ready;
    logic [LEVELS-1:0] in_run_last;
    logic [LANES-1:0] in_keep;
    logic [LANES*A_SLOT-1:0] in_a;
    logic [LANES*W_SLOT-1:0] in_w;
    logic signed [BIAS_W-1:0] in_bias;
    logic signed [MULT_W-1:0] in_mult;
    logic signed [7:0] in_exp;
    logic signed [SUM_W-1:0] sum, held_sum;
    logic signed [CODE_W-1:0] out_code, held_code;
    gb_stream_dut dut (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_ready(in_ready), .in_clear(in_clear),
        .in_run_last(in_run_last), .in_keep(in_keep), .in_a(in_a), .in_w(in_w), .in_bias(in_bias), .in_mult(in_mult),
        .in_exp(in_exp), .out_valid(out_valid), .out_ready(out_ready), .sum(sum), .out_code(out_code)
    );

    // For waveforms: what is expected, as it is compared.
    /* verilator lint_off UNUSEDSIGNAL */
    logic signed [SUM_W-1:0] golden_sum;
    logic signed [CODE_W-1:0] golden_code;
    logic differs;
    /* verilator lint_on UNUSEDSIGNAL */

    // Beats that were accepted, results that were taken, and results that are due.
    int cycle, beat, dot, words, due, mismatches, still, drain, in_reset, check_out;
    logic is_waiting, is_accepted;

    // Counts a mismatch; `shown` says whether to print it.
    logic shown;
    task note(input int word);
        begin
            shown = (mismatches < SHOWN);
            mismatches = mismatches + 1;
            differs = 1'b1;
            wrong_word[(word < OUTS) ? word : OUTS] = 1'b1;
        end
    endtask

    // The case at hand: its place in cases.txt, first beat, beats, output word (-1: none) and identifier.
    /* verilator lint_off UNUSEDSIGNAL */
    int cases, fields, case_at, case_first, case_beats, case_word;
    /* verilator lint_on UNUSEDSIGNAL */
    logic [8*128-1:0] case_id;
    task next_case;
        begin
            fields = $fscanf(cases, "%d %d %d %s", case_first, case_beats, case_word, case_id);
            case_at = case_at + 1;
        end
    endtask

    // Ends a line with the case that an output word belongs to.
    task of_word(input int word);
        begin
            cases   = $fopen("cases.txt", "r");
            case_at = -1;
            next_case();
            while (fields == 4 && word != case_word) next_case();
            $fclose(cases);
            if (fields == 4) $write(" case=%0s", case_id);
            $write("\n");
        end
    endtask

    task list_failed;
        begin
            $write("FAILED");
            cases   = $fopen("cases.txt", "r");
            case_at = -1;
            next_case();
            while (fields == 4) begin
                if (case_word >= 0 && wrong_word[case_word]) $write(" %0d", case_at);
                next_case();
            end
            $fclose(cases);
            $write("\n");
        end
    endtask

    // Numbers from 0 to below - 1. Simulators disagree on which calls within an expression they make, so every draw is a
    // statement of its own. tb_stream.vhd and test_stream.py draw in the same order, per cycle:
    //   chance of idle cycles, draw(100), if no beat waits and no reset is due or under way; if there are any, draw_cycles
    //   in_clear and noise, draw(2) each, of a cycle without a beat
    //   cycles of a reset, draw(4), in its first one
    //   chance that results wait, draw(100), unless they do; if they begin to, draw_cycles
    int random, drawn;
    function int draw(input int below);
        begin
            random = (random * 75 + 74) % 65537;
            draw   = (random % 65536) % below;
        end
    endfunction

    int idle, idle_max, stall, resets, gap, pause, stalled, resetting, kind, next_reset, bin, in_wait, out_wait, sought;
    logic is_paused, noise;
    int gap_inside [0:4], gap_between [0:4], done_resets [0:2], stall_in [0:3], stall_out [0:3];

    // As often one or two cycles as several or many.
    int cycles, few, many;
    task draw_cycles;
        begin
            drawn  = draw(4);
            few    = draw(5);
            many   = draw(idle_max);
            cycles = (drawn < 2) ? drawn + 1 : (drawn == 2) ? 3 + few : 8 + many;
            if (cycles > idle_max) cycles = idle_max;
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
        $readmemh("exp_sum.mem", exp_sum, 0, OUTS - 1);
        $readmemh("exp_out.mem", exp_out, 0, OUTS - 1);
        if (!$value$plusargs("idle=%d", idle)) idle = 0;
        if (!$value$plusargs("idle_max=%d", idle_max)) idle_max = 64;
        if (!$value$plusargs("stall=%d", stall)) stall = 0;
        if (!$value$plusargs("resets=%d", resets)) resets = 0;
        if (!$value$plusargs("seed=%d", random)) random = 1;
        if (!$value$plusargs("out=%d", check_out)) check_out = 1;
        random = random % 65536 + 1;
        if (idle_max < 1) idle_max = 1;
        {in_valid, in_clear, out_ready, halted, is_waiting, is_accepted, is_paused, differs, shown} = 0;
        {in_run_last, in_keep, in_a, in_w, in_bias, in_mult, in_exp, golden_sum, golden_code} = 0;
        {cycle, beat, words, due, mismatches, still, drain, in_reset} = 0;
        {gap, pause, stalled, resetting, kind, next_reset, in_wait, out_wait} = 0;
        for (bin = 0; bin < 5; bin = bin + 1) begin
            gap_inside[bin]  = 0;
            gap_between[bin] = 0;
        end
        for (bin = 0; bin < 4; bin = bin + 1) begin
            stall_in[bin]  = 0;
            stall_out[bin] = 0;
        end
        for (bin = 0; bin < 3; bin = bin + 1) done_resets[bin] = 0;
        for (sought = 0; sought <= OUTS; sought = sought + 1) wrong_word[sought] = 1'b0;
        // A cycle without a beat is no transfer.
        dot = 0;
        for (sought = 0; sought < BEATS; sought = sought + 1) begin
            if (is_start(sought)) begin
                word_beat[words] = sought;
                word_dot[words]  = dot;
                dot = dot + 1;
            end
            if (is_end(sought)) words = words + 1;
        end
        word_beat[OUTS] = BEATS;
        word_dot[OUTS]  = dot;
        words = 0;
        dot   = -1;
    end

    // The number of a beat needs fewer bits.
    /* verilator lint_off UNUSEDSIGNAL */
    function logic is_end(input int b);
        is_end = (ctrl[b][0] && ctrl[b][1+LEVELS]);
    endfunction

    function logic is_start(input int b);
        is_start = (ctrl[b][0] && ctrl[b][1]);
    endfunction

    // Whether a level has overflowed in the last beat.
    logic has_overflowed;
    task look_for_overflow;
        begin
            has_overflowed = 1'b0;
            for (bin = 0; bin < LEVELS; bin = bin + 1) if (beat > 0 && exp_flags[beat-1][bin*4+3]) has_overflowed = 1'b1;
        end
    endtask
    /* verilator lint_on UNUSEDSIGNAL */

    // Whether the beat at hand is a place for the next kind of reset: 0 when everything has been taken, 1 within a dot
    // product, 2 after an overflow.
    logic is_reset_due;
    task look_for_reset;
        begin
            is_reset_due = 1'b0;
            look_for_overflow();
            if (resets > 0 && beat >= next_reset && beat > 0 && beat < BEATS) begin
                case (kind)
                    0: is_reset_due = (is_start(beat) && words == due);
                    1: is_reset_due = !is_start(beat);
                    default: is_reset_due = has_overflowed;
                endcase
                // Not every bundle overflows.
                if (kind == 2 && !is_reset_due && beat > next_reset + BEATS / 2) kind = 0;
            end
        end
    endtask

    // A cycle without a beat: nothing else matters.
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

    // Offers the beat at hand, which stays until it is accepted.
    task offer;
        begin
            in_valid    = 1'b1;
            in_clear    = ctrl[beat][1];
            in_run_last = ctrl[beat][2+:LEVELS];
            in_keep     = ctrl[beat][KEEP+:LANES];
            in_a        = stim_a[beat];
            in_w        = stim_w[beat];
            bin = (gap < 3) ? gap : (gap < 8) ? 3 : 4;
            if (in_clear) begin
                `GB_SAMPLE(gap_between, gap)
                gap_between[bin] = gap_between[bin] + 1;
                dot = dot + 1;
            end else begin
                `GB_SAMPLE(gap_inside, gap)
                gap_inside[bin] = gap_inside[bin] + 1;
            end
            gap = 0;
            in_bias = stim_bias[dot];
            in_mult = stim_mult[dot];
            in_exp  = stim_exp[dot];
        end
    endtask

    function int stall_bin(input int length);
        stall_bin = (length < 3) ? length - 1 : (length < 8) ? 2 : 3;
    endfunction

    // Inputs change a little after the edge; outputs are read a little before the next one.
    always @(posedge clk) begin
        in_reset = rst_n ? 0 : in_reset + 1;
        #1;
        if (begun && resetting > 0) begin
            resetting = resetting - 1;
            if (resetting == 0) halted = 1'b0;
        end else if (begun && (!in_valid || is_accepted)) begin
            if (is_accepted) begin
                if (is_end(beat)) due = due + 1;
                beat = beat + 1;
                is_paused = 1'b0;
            end
            while (beat < BEATS && !ctrl[beat][0]) beat = beat + 1;
            look_for_reset();
            if (is_reset_due) begin
                no_beat();
                halted    = 1'b1;
                drawn     = draw(4);
                resetting = 3 + drawn;
                `GB_SAMPLE(reset, kind)
                done_resets[kind] = done_resets[kind] + 1;
                kind   = (kind + 1) % 3;
                resets = resets - 1;
                next_reset = next_reset + BEATS / (resets + 1) / 2;
                // Everything that is under way is lost.
                beat = word_beat[words];
                dot  = word_dot[words] - 1;
                due  = words;
                is_waiting = 1'b0;
                out_wait   = 0;
            end else begin
                drawn = draw(100);
                if (beat >= BEATS) begin
                    no_beat();
                end else if (pause > 0) begin
                    no_beat();
                    pause = pause - 1;
                end else if (drawn < idle && !is_paused) begin
                    draw_cycles();
                    pause = cycles - 1;
                    is_paused = 1'b1;
                    no_beat();
                end else begin
                    offer();
                end
            end
        end
        if (begun) begin
            if (stalled > 0) begin
                stalled = stalled - 1;
            end else begin
                drawn = draw(100);
                if (drawn < stall && beat < BEATS) begin
                    draw_cycles();
                    stalled = cycles;
                end
            end
            out_ready = (stalled == 0);
        end
    end

    always @(negedge clk) begin
        differs = 1'b0;
        is_accepted = 1'b0;
        if (begun) cycle = cycle + 1;
        if (in_reset > 1 && out_valid !== 1'b0) begin
            note(words);
            if (shown) $display("MISMATCH kind=reset level=%0d cycle=%0d out_valid=%b", LEVELS - 1, cycle, out_valid);
        end
        if (in_reset == 0 && rst_n) transfer();
    end

    task transfer;
        begin
            still = still + 1;
            if (out_valid !== 1'b0 && out_valid !== 1'b1 || in_ready !== 1'b0 && in_ready !== 1'b1) begin
                note(words);
                if (shown) $display("MISMATCH kind=handshake level=%0d cycle=%0d out_valid=%b in_ready=%b", LEVELS - 1, cycle, out_valid, in_ready);
            end
            if (in_valid && in_ready === 1'b1) begin
                is_accepted = 1'b1;
                still = 0;
                if (in_wait > 0) begin
                    `GB_SAMPLE(stall_in, in_wait)
                    stall_in[stall_bin(in_wait)] = stall_in[stall_bin(in_wait)] + 1;
                end
                in_wait = 0;
            end else if (in_valid) begin
                in_wait = in_wait + 1;
            end
            if (is_waiting && (out_valid !== 1'b1 || sum !== held_sum || out_code !== held_code)) begin
                note(words);
                if (shown) begin
                    $write("MISMATCH kind=unstable level=%0d cycle=%0d word=%0d expected=%h,%h got=%h,%h out_valid=%b", LEVELS - 1, cycle,
                        words, held_sum, held_code, sum, out_code, out_valid);
                    of_word(words);
                end
            end
            is_waiting = (out_valid === 1'b1 && !out_ready);
            held_sum   = sum;
            held_code  = out_code;
            if (is_waiting) begin
                out_wait = out_wait + 1;
            end else if (out_valid === 1'b1) begin
                still = 0;
                if (out_wait > 0) begin
                    `GB_SAMPLE(stall_out, out_wait)
                    stall_out[stall_bin(out_wait)] = stall_out[stall_bin(out_wait)] + 1;
                end
                out_wait = 0;
                compare();
            end
            if (beat >= BEATS && words >= OUTS) begin
                drain = drain + 1;
                if (drain > DRAIN) done();
            end else if (still > PATIENCE) begin
                note(words);
                $write("MISMATCH kind=missing level=%0d cycle=%0d word=%0d beat=%0d", LEVELS - 1, cycle, words, beat);
                of_word(words);
                done();
            end
        end
    endtask

    task compare;
        begin
            if (words >= OUTS || words >= due && !(is_accepted && is_end(beat))) begin
                note(words);
                if (shown) begin
                    $write("MISMATCH kind=extra level=%0d cycle=%0d word=%0d got=%h,%h", LEVELS - 1, cycle, words, sum, out_code);
                    of_word(words);
                end
            end else begin
                golden_sum  = exp_sum[words];
                golden_code = exp_out[words];
                if (sum !== golden_sum) begin
                    note(words);
                    if (shown) begin
                        $write("MISMATCH kind=sum level=%0d cycle=%0d word=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d",
                            LEVELS - 1, cycle, words, golden_sum, sum, golden_sum, sum);
                        of_word(words);
                    end
                end
                if (CHECK_OUT != 0 && check_out != 0 && out_code !== golden_code) begin
                    note(words);
                    if (shown) begin
                        $write("MISMATCH kind=out level=%0d cycle=%0d word=%0d expected=%h got=%h expected_dec=%0d got_dec=%0d",
                            LEVELS - 1, cycle, words, golden_code, out_code, golden_code, out_code);
                        of_word(words);
                    end
                end
                words = words + 1;
            end
        end
    endtask

    task done;
        begin
            if (words != OUTS) begin
                note(words);
                // Never hidden by other mismatches.
                $display("MISMATCH kind=count level=%0d cycle=%0d what=sum expected=%0d got=%0d", LEVELS - 1, cycle, OUTS, words);
            end
            if (mismatches != 0) list_failed();
            $write("RESULT checked=%0d mismatches=%0d cycles=%0d outputs=%0d sum=%0d out=%0d",
                words + ((CHECK_OUT != 0 && check_out != 0) ? words : 0), mismatches, cycle, CHECK_OUT, words, words);
            $write(" gap_inside=%0d,%0d,%0d,%0d,%0d gap_between=%0d,%0d,%0d,%0d,%0d reset=%0d,%0d,%0d",
                gap_inside[0], gap_inside[1], gap_inside[2], gap_inside[3], gap_inside[4],
                gap_between[0], gap_between[1], gap_between[2], gap_between[3], gap_between[4],
                done_resets[0], done_resets[1], done_resets[2]);
            $display(" stall_in=%0d,%0d,%0d,%0d stall_out=%0d,%0d,%0d,%0d random=%0d", stall_in[0], stall_in[1], stall_in[2],
                stall_in[3], stall_out[0], stall_out[1], stall_out[2], stall_out[3], random);
            if (mismatches != 0) $fatal(1, "vectors differ");
            $finish;
        end
    endtask
endmodule
