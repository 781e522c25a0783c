// Replays the vectors of this folder against gb_dut and compares every accumulator, flag, float32 sum and result.
// Prints the first mismatches. Ends with a line FAILED that lists the cases that differ, if any (places in cases.txt), a
// line RESULT and, if anything differs or was not compared, $fatal.
//
// Plusargs:
//   +idle=P         idle cycles before P percent of the beats, at most +idle_max=N (default 8)
//   +resets=N       up to N resets: between dot products, within one, after a cut term, after a vanished one
//   +seed=S         other places of idle cycles and resets
//   +latency=0      does not check latencies
//   +waves=FILE     dumps every signal; +from=CYCLE and +until=CYCLE: only from there on, and no longer
// A dot product that a reset interrupts is sent again, so every value is compared in any case.
`timescale 1ns / 1ps
module tb_aligned;
    import tb_params::*;

    // Edges order the stimuli here, not assignments.
    /* verilator lint_off BLKSEQ */

    // Cycles after which nothing is under way in a design.
    localparam int DRAIN = 64;

    logic clk, begun, halted, rst_n;
    tb_clock clock (.clk(clk), .rst_n(begun));
    assign rst_n = begun && !halted;

    logic [LANES*A_W-1:0] stim_a [0:BEATS-1];
    logic [LANES*W_W-1:0] stim_w [0:BEATS-1];
    logic [CTRL_W-1:0] ctrl [0:BEATS-1];
    logic [ACC_W-1:0] exp_acc [0:BEATS-1];
    logic [1:0] exp_flags [0:BEATS-1];
    logic [31:0] exp_total [0:BEATS-1];
    logic [SUM_W-1:0] exp_sum [0:OUTS];

    logic in_valid, in_clear, in_last, updated, cut, vanished, sum_valid;
    logic [LANES-1:0] in_keep;
    logic [LANES*A_W-1:0] in_a;
    logic [LANES*W_W-1:0] in_w;
    logic [ACC_W-1:0] acc;
    logic [31:0] total;
    // A result may be narrower.
    /* verilator lint_off UNUSEDSIGNAL */
    logic [31:0] sum;
    /* verilator lint_on UNUSEDSIGNAL */
    // Scales of blocks.
    localparam int SCALES_A = (SCALES == 0) ? 1 : SCALES * SA_W;
    localparam int SCALES_W = (SCALES == 0) ? 1 : SCALES * SW_W;
    logic [SCALES_A-1:0] stim_sa [0:BEATS-1];
    logic [SCALES_W-1:0] stim_sw [0:BEATS-1];
    /* verilator lint_off UNUSEDSIGNAL */
    logic [SCALES_A-1:0] in_sa;
    logic [SCALES_W-1:0] in_sw;
    /* verilator lint_on UNUSEDSIGNAL */
    gb_dut dut (
`ifdef GB_SCALED
        .in_sa(in_sa), .in_sw(in_sw),
`endif
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_clear(in_clear), .in_last(in_last), .in_keep(in_keep),
        .in_a(in_a), .in_w(in_w), .acc(acc), .updated(updated), .cut(cut), .vanished(vanished), .total(total),
        .sum_valid(sum_valid), .sum(sum)
    );

    int cycle, beat, drain, gap, mismatches, accs, totals, sums;
    // The beat that the accumulator shows next, and the one whose float32 sum comes next (-1: none).
    int at, total_at;
    logic is_running, shown;
    logic [ACC_W-1:0] held;
    logic [31:0] held_total;
    logic wrong_beat [0:BEATS];
    logic wrong_word [0:OUTS];
    // Cycles in which beats, and last beats, were accepted.
    int sent_in [0:BEATS];
    int last_in [0:OUTS];
    int lasts;

    task note;
        begin
            shown = (mismatches < SHOWN);
            mismatches = mismatches + 1;
        end
    endtask

    // The case at hand: first beat, beats, output word (-1: none) and identifier.
    int cases, fields, case_at, case_first, case_beats, case_word;
    logic [8*128-1:0] case_id;
    task next_case;
        begin
            fields = $fscanf(cases, "%d %d %d %s", case_first, case_beats, case_word, case_id);
            case_at = case_at + 1;
        end
    endtask

    // Ends a line with the case of a beat, or of a word.
    task of_case(input int of_beat, input int of_word);
        begin
            cases   = $fopen("cases.txt", "r");
            case_at = -1;
            fields  = 4;
            next_case();
            while (fields == 4 && !((of_beat >= 0) ? of_beat < case_first + case_beats : of_word == case_word))
                next_case();
            $fclose(cases);
            if (fields == 4) $write(" case=%0s", case_id);
            if (of_beat >= 0 && of_beat < BEATS) $write(" keep=%h a=%h w=%h", ctrl[of_beat] >> KEEP, stim_a[of_beat],
                                                        stim_w[of_beat]);
            $write("\n");
        end
    endtask

    int listed;
    logic is_wrong, is_listed;
    task list_failed;
        begin
            is_listed = 1'b0;
            cases   = $fopen("cases.txt", "r");
            case_at = -1;
            fields  = 4;
            next_case();
            while (fields == 4) begin
                is_wrong = (case_word >= 0 && wrong_word[case_word]);
                for (listed = case_first; listed < case_first + case_beats; listed = listed + 1)
                    if (wrong_beat[listed]) is_wrong = 1'b1;
                if (is_wrong) begin
                    if (!is_listed) $write("FAILED");
                    is_listed = 1'b1;
                    $write(" %0d", case_at);
                end
                next_case();
            end
            $fclose(cases);
            if (is_listed) $write("\n");
        end
    endtask

    // Numbers from 0 to 65535, in the same order in every simulator.
    int random;
    function int draw(input int below);
        begin
            random = (random * 75 + 74) % 65537;
            draw   = (random % 65536) % below;
        end
    endfunction

    int idle, idle_max, check_latency, n;
    initial begin
        $readmemh("stim_a.mem", stim_a);
        $readmemh("stim_w.mem", stim_w);
        if (SCALES != 0) $readmemh("stim_sa.mem", stim_sa);
        if (SCALES != 0) $readmemh("stim_sw.mem", stim_sw);
        $readmemh("ctrl.mem", ctrl);
        $readmemh("exp_acc.mem", exp_acc);
        $readmemh("exp_flags.mem", exp_flags);
        if (PROMOTE != 0) $readmemh("exp_total.mem", exp_total);
        $readmemh("exp_sum.mem", exp_sum, 0, OUTS - 1);
        if (!$value$plusargs("idle=%d", idle)) idle = 0;
        if (!$value$plusargs("idle_max=%d", idle_max)) idle_max = 8;
        if (!$value$plusargs("latency=%d", check_latency)) check_latency = 1;
        if (!$value$plusargs("resets=%d", resets)) resets = 0;
        if (!$value$plusargs("seed=%d", random)) random = 1;
        random = random % 65536 + 1;
        for (n = 0; n <= BEATS; n = n + 1) begin
            wrong_beat[n] = 1'b0;
            sent_in[n]    = -1;
        end
        for (n = 0; n <= OUTS; n = n + 1) begin
            wrong_word[n] = 1'b0;
            last_in[n]    = -1;
        end
        for (n = 0; n < KINDS; n = n + 1) last_place[n] = -1;
        for (n = 1; n < BEATS; n = n + 1)
            for (place = 0; place < KINDS; place = place + 1) if (is_place(place, n)) last_place[place] = n;
        halted = 1'b0;
        in_reset = 0;
        resetting = 0;
        quiet = 0;
        extra = -1;
        kind = 0;
        next_reset = 0;
        first_beat = 0;
        additions = 0;
        is_from_zero = 1'b0;
        cycle = 0;
        beat = 0;
        drain = 0;
        gap = -1;
        mismatches = 0;
        accs = 0;
        totals = 0;
        sums = 0;
        lasts = 0;
        at = 0;
        total_at = -1;
        is_running = 1'b0;
        held = 0;
        held_total = 0;
        in_valid = 1'b0;
        in_clear = 1'b0;
        in_last = 1'b0;
        in_keep = 0;
        in_a = 0;
        in_w = 0;
        in_sa = 0;
        in_sw = 0;
    end

    // Compares the registers before what enters changes them.
    task compare;
        begin
            if (total_at >= 0) begin
                totals = totals + 1;
                if (total !== want_total) begin
                    note();
                    wrong_beat[total_at] = 1'b1;
                    if (shown) begin
                        $write("MISMATCH kind=total cycle=%0d beat=%0d expected=%h got=%h", cycle, total_at, want_total,
                               total);
                        of_case(total_at, 0);
                    end
                end
                held_total = total;
            end else if (PROMOTE != 0 && total !== held_total) begin
                note();
                if (shown) $display("MISMATCH kind=hold cycle=%0d beat=%0d expected=%h got=%h", cycle, at, held_total, total);
                held_total = total;
            end
            total_at = -1;
            if (sum_valid === 1'b1) begin
                if (sums >= OUTS) begin
                    note();
                    if (shown) $display("MISMATCH kind=extra cycle=%0d word=%0d", cycle, sums);
                end else begin
                    if (sum[SUM_W-1:0] !== exp_sum[sums] || (check_latency != 0 && cycle - last_in[sums] != SUM_LATENCY)) begin
                        note();
                        wrong_word[sums] = 1'b1;
                        if (shown) begin
                            $write("MISMATCH kind=sum cycle=%0d word=%0d expected=%h got=%h latency=%0d", cycle, sums,
                                   exp_sum[sums], sum[SUM_W-1:0], cycle - last_in[sums]);
                            of_case(-1, sums);
                        end
                    end
                end
                sums = sums + 1;
            end else if (sum_valid !== 1'b0) begin
                note();
                if (shown) $display("MISMATCH kind=sum_valid cycle=%0d got=%b", cycle, sum_valid);
            end
            if (updated === 1'b1) begin
                while (at < BEATS && !ctrl[at][VALID]) at = at + 1;
                if (at >= BEATS || at >= beat) begin
                    note();
                    if (shown) $display("MISMATCH kind=extra cycle=%0d beat=%0d", cycle, at);
                end else begin
                    accs = accs + 1;
                    if (acc !== exp_acc[at] || {vanished, cut} !== exp_flags[at]
                        || (check_latency != 0 && cycle - sent_in[at] != ACC_LATENCY)) begin
                        note();
                        wrong_beat[at] = 1'b1;
                        if (shown) begin
                            if (acc !== exp_acc[at]) $write("MISMATCH kind=acc");
                            else if ({vanished, cut} !== exp_flags[at]) $write("MISMATCH kind=flags");
                            else $write("MISMATCH kind=latency");
                            $write(" cycle=%0d beat=%0d expected=%h got=%h flags=%b,%b latency=%0d", cycle, at, exp_acc[at],
                                   acc, exp_flags[at], {vanished, cut}, cycle - sent_in[at]);
                            of_case(at, 0);
                        end
                    end
                    if (PROMOTE != 0) begin
                        // After a reset the float32 sum is 0 until the next promotion.
                        additions = (ctrl[at][CLEAR] || additions == PROMOTE) ? 1 : additions + 1;
                        if (additions == PROMOTE || ctrl[at][LAST]) is_from_zero = 1'b0;
                        want_total = is_from_zero ? 32'd0 : exp_total[at];
                        total_at   = at;
                    end
                    at = at + 1;
                end
            end else if (updated !== 1'b0 || acc !== held) begin
                note();
                if (at < BEATS) wrong_beat[at] = 1'b1;
                if (shown) begin
                    $write("MISMATCH kind=hold cycle=%0d beat=%0d expected=%h got=%h", cycle, at, held, acc);
                    of_case(at, 0);
                end
            end
            held = acc;
        end
    endtask

    // A cycle without a beat: no other input matters.
    task no_beat;
        begin
            in_valid = 1'b0;
            in_clear = draw(2) != 0;
            in_last  = draw(2) != 0;
            in_keep  = {LANES{1'b1}};
        end
    endtask

    // From the second cycle of a reset on, nothing is held and nothing is valid.
    task compare_reset;
        begin
            held       = 0;
            held_total = 0;
            total_at   = -1;
            if (acc !== {ACC_W{1'b0}} || {vanished, cut} !== 2'b00 || updated !== 1'b0 || sum_valid !== 1'b0
                || (PROMOTE != 0 && total !== 32'd0)) begin
                note();
                if (shown) $display("MISMATCH kind=reset cycle=%0d beat=%0d expected=0 got=%h flags=%b updated=%b total=%h sum_valid=%b", cycle, beat, acc, {vanished, cut}, updated, total, sum_valid);
            end
        end
    endtask

    // Idle cycles and resets. A reset waits until the design is idle, lets a few beats enter that it must drop, and
    // sends the dot product again.
    localparam int KINDS = 4;
    int resets, resetting, in_reset, quiet, extra, kind, next_reset, first_beat, additions, place, n_again, drawn;
    int kept_accs, kept_totals;
    int last_place [0:KINDS-1];
    logic is_from_zero;
    logic [31:0] want_total;

    // The number of a beat needs fewer bits.
    /* verilator lint_off UNUSEDSIGNAL */
    function logic is_start(input int b);
        is_start = (ctrl[b][VALID] && ctrl[b][CLEAR]);
    endfunction

    function logic is_end(input int b);
        is_end = (ctrl[b][VALID] && ctrl[b][LAST]);
    endfunction

    // Whether a kind of reset may come before a beat, from 1 on: 0 between dot products, 1 within one, 2 after a cut
    // term, 3 after a vanished one.
    function logic is_place(input int of_kind, input int b);
        is_place = ctrl[b][VALID]
                   && ((of_kind == 0) ? ctrl[b][CLEAR] : (of_kind == 1) ? !ctrl[b][CLEAR]
                       : (of_kind == 2) ? exp_flags[b-1][0] : exp_flags[b-1][1]);
    endfunction
    /* verilator lint_on UNUSEDSIGNAL */

    // Everything that was sent must have been compared by now. What was compared of the dot product that is sent again
    // does not count.
    task check_drained;
        begin
            while (at < beat && !ctrl[at][VALID]) at = at + 1;
            if (at < beat || sums != lasts) begin
                note();
                if (at < beat) wrong_beat[at] = 1'b1;
                if (shown) $display("MISMATCH kind=missing cycle=%0d beat=%0d word=%0d", cycle, at, sums);
            end
            if (is_start(beat)) first_beat = beat;
            n_again = 0;
            for (n = first_beat; n < beat; n = n + 1) if (ctrl[n][VALID]) n_again = n_again + 1;
            kept_accs   = accs - n_again;
            kept_totals = (PROMOTE != 0) ? totals - n_again : totals;
        end
    endtask

    task send_again;
        begin
            beat   = first_beat;
            at     = first_beat;
            gap    = -1;
            accs   = kept_accs;
            totals = kept_totals;
            is_from_zero = 1'b1;
        end
    endtask

    task send;
        begin
            in_valid = ctrl[beat][VALID];
            in_clear = ctrl[beat][CLEAR];
            in_last  = ctrl[beat][LAST];
            in_keep  = ctrl[beat][KEEP+:LANES];
            in_a     = stim_a[beat];
            in_w     = stim_w[beat];
            in_sa    = stim_sa[beat];
            in_sw    = stim_sw[beat];
            sent_in[beat] = cycle;
            if (is_start(beat)) first_beat = beat;
            if (is_end(beat)) begin
                last_in[lasts] = cycle;
                lasts = lasts + 1;
            end
            beat = beat + 1;
            gap  = -1;
        end
    endtask

    always @(posedge clk) begin
        if (in_reset >= 2) compare_reset();
        else if (in_reset == 0 && is_running) compare();
        in_reset = rst_n ? 0 : in_reset + 1;
        // Changes with the edge, after what the design has read at it.
        #1;
        if (begun) begin
            is_running = 1'b1;
            cycle = cycle + 1;
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
                    // A reset after flags finds them set.
                    extra = draw(3);
                    if (kind >= 2) extra = 0;
                end
            end else if (extra > 0 && beat < BEATS && !is_end(beat) && (!is_start(beat) || beat == first_beat)) begin
                send();
                extra = extra - 1;
            end else if (extra >= 0) begin
                no_beat();
                halted     = 1'b1;
                resetting  = 3 + draw(4);
                extra      = -1;
                kind       = (kind + 1) % KINDS;
                resets     = resets - 1;
                next_reset = next_reset + BEATS / (resets + 1) / 2;
            end else begin
                // A kind without a place gives way to the next one.
                if (resets > 0 && beat > 0 && beat < BEATS && beat >= next_reset && gap < 0) begin
                    if (beat > last_place[kind]) kind = (kind + 1) % KINDS;
                    if (is_place(kind, beat)) quiet = DRAIN;
                end
                if (quiet > 0) no_beat();
                else next_cycle();
            end
        end
        if (drain > DRAIN) begin
            list_failed();
            $display("RESULT mismatches=%0d acc=%0d total=%0d sum=%0d cycles=%0d", mismatches, accs, totals, sums, cycle);
            if (mismatches != 0 || accs != COMPARED_ACC || totals != COMPARED_TOTAL || sums != COMPARED_SUM)
                $fatal(1, "differs, or was not compared");
            $finish;
        end
    end

    task next_cycle;
        begin
            // Simulators differ in whether they call what an expression does not need.
            if (beat < BEATS && gap < 0) begin
                drawn = draw(100);
                gap   = 0;
                if (drawn < idle) gap = 1 + draw(idle_max);
            end
            if (beat >= BEATS) begin
                no_beat();
                drain = drain + 1;
            end else if (gap > 0) begin
                no_beat();
                gap = gap - 1;
            end else begin
                send();
            end
        end
    endtask
endmodule
