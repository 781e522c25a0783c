// Watches the ports of a gb_dut and compares with the golden model, beat by beat, whatever the latency.
//
// Every accepted beat steps the model; what it shows waits until the design says `updated`, `sum_valid` or
// `out_valid`. Plusarg: +bundle=DIR (default ..).
module gb_lockstep #(
    parameter int LEVELS = 1,
    parameter int LANES = 1,
    parameter int A_BITS = 8,
    parameter int W_BITS = 8,
    parameter int CHECK_OUT = 1
) (
    input  logic                        clk,
    input  logic                        rst_n,
    input  logic                        in_valid,
    input  logic                        in_clear,
    input  logic        [   LEVELS-1:0] in_run_last,
    input  logic        [    LANES-1:0] in_keep,
    input  logic        [   A_BITS-1:0] in_a,
    input  logic        [   W_BITS-1:0] in_w,
    input  logic signed [         63:0] in_bias,
    input  logic signed [         63:0] in_mult,
    input  logic signed [         31:0] in_exp,
    input  logic        [   LEVELS-1:0] updated,
    input  logic        [LEVELS*64-1:0] acc,
    input  logic        [ LEVELS*4-1:0] flags,
    input  logic                        sum_valid,
    input  logic signed [         63:0] sum,
    input  logic                        out_valid,
    input  logic signed [         31:0] out_code
);
    import guardbit_dpi::*;

    // The model is stepped within an edge; an index has more bits than its memory needs.
    /* verilator lint_off BLKSEQ */
    /* verilator lint_off UNUSEDSIGNAL */

    // What the model has shown and the design has yet to: rings, as deep as the longest pipeline may be.
    localparam int DEPTH = 256;
    logic [63:0] want_acc [0:LEVELS*DEPTH-1];
    logic [63:0] want_exact [0:LEVELS*DEPTH-1];
    logic [3:0] want_flags [0:LEVELS*DEPTH-1];
    logic [63:0] want_sum [0:DEPTH-1];
    logic [31:0] want_code [0:DEPTH-1];
    int put [0:LEVELS-1];
    int got [0:LEVELS-1];
    int put_sum, got_sum, put_code, got_code;

    int model, beats, checked, mismatches, events;
    logic [LEVELS*64-1:0] held;
    logic holds;

    task automatic need(input int code);
        if (code < 0) $fatal(1, "golden model: %s", guardbit_error());
    endtask

    task automatic differs(input string kind, input int level, input logic [63:0] want, input logic [63:0] seen,
                           input logic [63:0] exact);
        if (mismatches == 0) begin
            $display("MISMATCH kind=%s level=%0d time=%0t expected=%h got=%h expected_dec=%0d got_dec=%0d exact=%0d",
                     kind, level, $time, want, seen, $signed(want), $signed(seen), $signed(exact));
        end
        mismatches++;
    endtask

    initial begin
        string dir;
        if (!$value$plusargs("bundle=%s", dir)) dir = "..";
        if (guardbit_abi() != GUARDBIT_ABI) $fatal(1, "golden model: interface %0d", guardbit_abi());
        model = guardbit_open_bundle(dir);
        need(model);
        if (guardbit_levels(model) != LEVELS) $fatal(1, "golden model: %0d levels", guardbit_levels(model));
        if (guardbit_lanes(model) != LANES) $fatal(1, "golden model: %0d lanes", guardbit_lanes(model));
    end

    // What the design shows, before this edge's beat.
    task automatic compare();
        for (int level = 0; level < LEVELS; level++) begin
            logic [63:0] seen;
            int at;
            seen = acc[level*64+:64];
            at = level * DEPTH + got[level] % DEPTH;
            if (updated[level]) begin
                if (got[level] == put[level]) differs("extra", level, 64'd0, seen, 64'd0);
                else begin
                    checked++;
                    if (seen != want_acc[at]) differs("acc", level, want_acc[at], seen, want_exact[at]);
                    if (flags[level*4+:4] != want_flags[at])
                        differs("flags", level, 64'(want_flags[at]), 64'(flags[level*4+:4]), want_exact[at]);
                    got[level]++;
                end
            end else if (holds && seen != held[level*64+:64]) begin
                differs("hold", level, held[level*64+:64], seen, 64'd0);
            end
        end
        held = acc;
        holds = 1'b1;
        if (sum_valid) begin
            if (got_sum == put_sum) differs("extra_sum", LEVELS - 1, 64'd0, sum, 64'd0);
            else begin
                checked++;
                if (sum != want_sum[got_sum%DEPTH])
                    differs("sum", LEVELS - 1, want_sum[got_sum%DEPTH], sum, want_sum[got_sum%DEPTH]);
                got_sum++;
            end
        end
        if (CHECK_OUT != 0 && out_valid) begin
            if (got_code == put_code) differs("extra_out", LEVELS - 1, 64'd0, 64'(out_code), 64'd0);
            else begin
                checked++;
                if (out_code != want_code[got_code%DEPTH])
                    differs("out", LEVELS - 1, 64'($signed(want_code[got_code%DEPTH])), 64'(out_code), 64'd0);
                got_code++;
            end
        end
    endtask

    // The beat that the design accepts at this edge.
    task automatic step();
        longint value, exact;
        int code, flag;
        need(guardbit_set_bias(model, in_bias));
        if (CHECK_OUT != 0) need(guardbit_set_multiplier_ports(model, in_mult, in_exp));
        need(guardbit_step_words(model, CTRL_BITS'({in_keep, in_run_last, in_clear, in_valid}), CTRL_BITS / 32,
                                 DATA_BITS'(in_a), DATA_BITS / 32, DATA_BITS'(in_w), DATA_BITS / 32));
        beats++;
        for (int level = 0; level < LEVELS; level++) begin
            if (guardbit_get_updated(model, level) == 1) begin
                need(guardbit_get_acc(model, level, value));
                need(guardbit_get_exact_acc(model, level, exact));
                flag = guardbit_get_flags(model, level);
                need(flag);
                want_acc[level*DEPTH+put[level]%DEPTH] = value;
                want_exact[level*DEPTH+put[level]%DEPTH] = exact;
                want_flags[level*DEPTH+put[level]%DEPTH] = 4'(flag);
                events += flag & 1;
                put[level]++;
                if (put[level] - got[level] > DEPTH) $fatal(1, "level %0d: no `updated` for %0d beats", level, DEPTH);
            end
        end
        if (guardbit_get_sum(model, value) == 1) begin
            want_sum[put_sum%DEPTH] = value;
            put_sum++;
        end
        if (CHECK_OUT != 0) begin
            if (guardbit_get_code(model, code) == 1) begin
                want_code[put_code%DEPTH] = code;
                put_code++;
            end
        end
    endtask

    always @(posedge clk) begin
        if (!rst_n) begin
            if (model > 0) need(guardbit_reset(model));
            for (int level = 0; level < LEVELS; level++) got[level] = put[level];
            got_sum = put_sum;
            got_code = put_code;
            holds = 1'b0;
        end else begin
            compare();
            if (in_valid) step();
        end
    end

    // To be called when the last beat has come out: the totals. Anything but agreement is fatal.
    task automatic finish();
        for (int level = 0; level < LEVELS; level++) begin
            if (got[level] != put[level]) differs("missing", level, 64'(put[level]), 64'(got[level]), 64'd0);
        end
        if (got_sum != put_sum) differs("missing_sum", LEVELS - 1, 64'(put_sum), 64'(got_sum), 64'd0);
        if (CHECK_OUT != 0 && got_code != put_code)
            differs("missing_out", LEVELS - 1, 64'(put_code), 64'(got_code), 64'd0);
        $display("LOCKSTEP beats=%0d checked=%0d mismatches=%0d events=%0d sums=%0d outputs=%0d", beats, checked,
                 mismatches, events, put_sum, got_code);
        need(guardbit_close(model));
        if (mismatches != 0) $fatal(1, "the design differs from the golden model");
        $finish;
    endtask
endmodule
