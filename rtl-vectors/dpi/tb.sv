// Random beats for gb_dut and the golden model: bubbles, clears and ends of runs at any time.
// Plusargs: +beats=N (default 100000), +seed=N (default 1), +bundle=DIR (default ..), +waves=FILE dumps every signal.
`timescale 1ns / 1ps
module tb;
    import tb_params::*;

    // Edges order the stimuli here, not assignments; an index has more bits than its memory needs.
    /* verilator lint_off BLKSEQ */
    /* verilator lint_off UNUSEDSIGNAL */

    logic clk, rst_n;
    tb_clock clock (.clk(clk), .rst_n(rst_n));

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
    gb_lockstep #(
        .LEVELS(LEVELS), .LANES(LANES), .A_BITS(LANES*A_SLOT), .W_BITS(LANES*W_SLOT), .CHECK_OUT(CHECK_OUT)
    ) lockstep (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_clear(in_clear), .in_run_last(in_run_last),
        .in_keep(in_keep), .in_a(in_a), .in_w(in_w), .in_bias(64'(in_bias)), .in_mult(64'(in_mult)), .in_exp(32'(in_exp)),
        .updated(updated), .acc(acc), .flags(flags), .sum_valid(sum_valid), .sum(64'(sum)), .out_valid(out_valid),
        .out_code(32'(out_code))
    );

    // Biases and multipliers are those of the bundle.
    logic signed [BIAS_W-1:0] stim_bias [0:DOTS-1];
    logic signed [MULT_W-1:0] stim_mult [0:DOTS-1];
    logic signed [7:0] stim_exp [0:DOTS-1];

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
    string dir;

    initial begin
        if (!$value$plusargs("beats=%d", beats)) beats = 100000;
        if (!$value$plusargs("seed=%d", state)) state = 1;
        if (!$value$plusargs("bundle=%s", dir)) dir = "..";
        state = state * 64'h9e3779b97f4a7c15 + 64'd1;
        $readmemh({dir, "/stim_bias.mem"}, stim_bias);
        $readmemh({dir, "/stim_mult.mem"}, stim_mult);
        $readmemh({dir, "/stim_exp.mem"}, stim_exp);
        sent = 0;
        drain = 0;
        fresh = 1'b1;
        in_valid = 1'b0;
    end

    // Inputs change at the falling edge.
    always @(negedge clk) begin
        if (rst_n) begin
            in_valid = 1'b0;
            if (sent < beats) begin
                for (int lane = 0; lane < LANES; lane++) begin
                    in_a[lane*A_SLOT+:A_SLOT] = A_SLOT'(operand(longint'(A_MIN), longint'(A_MAX)));
                    in_w[lane*W_SLOT+:W_SLOT] = W_SLOT'(operand(longint'(W_MIN), longint'(W_MAX)));
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

    // A beat: dot products of any length up to the layer's. A level that takes its lanes at once ends with every beat.
    task automatic beat();
        in_valid = 1'b1;
        in_clear = fresh || draw(64) == 0;
        kept = 1;
        if (LANES > 1 && draw(4) == 0) kept = 1 + int'(draw(64'(LANES)));
        else kept = LANES;
        for (int lane = 0; lane < LANES; lane++) in_keep[lane] = lane < kept;
        if (in_clear) begin
            for (int level = 0; level < LEVELS; level++) count[level] = 0;
            dot = int'(draw(64'(DOTS)));
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
                in_run_last[level] = stop || (AT_ONCE != 0 && level == 0) || count[level] >= LONGEST_RUN[level*32+:32] ||
                    (level + 1 < LEVELS && draw(8) == 0);
                if (in_run_last[level]) count[level] = 0;
                arrives = in_run_last[level];
            end
        end
        fresh = arrives;
        sent = sent + 1;
    endtask
endmodule
