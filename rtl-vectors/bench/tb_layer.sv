// Runs a whole layer from its memory images (layout.json) on the reference design, and compares every sum, code, spilled
// sum and, on the unit, overflow. Also measures cycles. The bench is the controller: it computes addresses, feeds the
// design, requantizes the sums of an array and writes the output image.
//
// Plusargs: +chained=1 reads what the designs of earlier layers wrote, +dump=FILE writes the output image, +cycles=0 does not
// check cycles, +waves=FILE dumps every signal. Ends with a line RESULT and, if anything differs, $fatal.
`timescale 1ns / 1ps
`ifdef GB_SPILL
`ifndef GB_NO_SPILL
`define GB_SPILL_COMPARED
`endif
`endif

// From a sum to a code: the bias at unit 1 in the unit of the sum, its adder, the requantizer. Combinational.
module gb_finish #(
    parameter int SUM_W = 14,
    parameter int POST = 1,
    parameter int BIAS_SHIFT = 0,
    parameter int BIAS_ROUND = 0,
    parameter int BIAS_W = 32,
    parameter int BIAS_BITS = 0,
    parameter int BIAS_SIGNED = 1,
    parameter int BIAS_MODE = 0,
    parameter int BIASED_W = 32,
    parameter int MULT_W = 32,
    parameter int SCHEME = 0,
    parameter int ZERO_POINT = 0,
    parameter int CLAMP_MIN = -128,
    parameter int CLAMP_MAX = 127,
    parameter int CODE_W = 8
) (
    input  logic signed [ SUM_W-1:0] sum,
    input  logic signed [      63:0] bias,
    input  logic signed [MULT_W-1:0] mult,
    input  logic signed [       7:0] expo,
    output logic signed [BIAS_W-1:0] bias_word,
    output logic signed [CODE_W-1:0] code
);
    logic signed [BIASED_W-1:0] biased;
    gb_round_shift #(.IN_W(64), .OUT_W(BIAS_W), .SHIFT(BIAS_SHIFT), .ROUND(BIAS_ROUND)) u_unit (.x(bias), .y(bias_word));
    generate
        if (POST != 0) begin : g_bias
            localparam int WITH_W = ((SUM_W > BIAS_W) ? SUM_W : BIAS_W) + 1;
            logic signed [WITH_W-1:0] with_bias;
            /* verilator lint_off UNUSEDSIGNAL */
            logic high, low;
            /* verilator lint_on UNUSEDSIGNAL */
            assign with_bias = WITH_W'(sum) + WITH_W'(bias_word);
            gb_fit #(
                .IN_W(WITH_W), .OUT_W(BIASED_W), .BITS(BIAS_BITS), .IS_SIGNED(BIAS_SIGNED), .MODE(BIAS_MODE)
            ) u_fit (.x(with_bias), .y(biased), .high(high), .low(low));
        end else begin : g_none
            assign biased = BIASED_W'(sum);
        end
    endgenerate
    gb_requant #(
        .IN_W(BIASED_W), .OUT_W(CODE_W), .MULT_W(MULT_W), .SCHEME(SCHEME), .ZERO_POINT(ZERO_POINT),
        .CLAMP_MIN(CLAMP_MIN), .CLAMP_MAX(CLAMP_MAX)
    ) u_requant (.x(biased), .mult(mult), .expo(expo), .code(code));
endmodule

module tb_layer;
    import tb_layer_params::*;

    // Edges order the stimuli here, not assignments. Ports are written whole: Verilator 5.006 misses parts that a process
    // with delays writes.
    /* verilator lint_off BLKSEQ */

    logic clk, rst_n;
    tb_clock #(.RESET(4 + 2 * (ROWS + COLS))) clock (.clk(clk), .rst_n(rst_n));

    logic [IFM_LANES*IFM_BITS-1:0] ifm [0:IFM_WORDS-1];
    logic [WEIGHT_LANES*WEIGHT_BITS-1:0] weights [0:WEIGHT_WORDS-1];
    logic [31:0] order [0:TERMS-1];
    logic signed [63:0] bias [0:CHANNELS-1];
    logic signed [MULT_W-1:0] mult [0:CHANNELS-1];
    logic signed [7:0] expo [0:CHANNELS-1];
    logic signed [31:0] zero_points [0:CHANNELS-1];
    logic [OFM_LANES*SUM_W-1:0] exp_sum [0:OFM_WORDS-1];
    logic [OFM_LANES*OFM_BITS-1:0] exp_ofm [0:OFM_WORDS-1];
    // What the design writes.
    logic [OFM_LANES*OFM_BITS-1:0] ofm [0:OFM_WORDS-1];
    logic [OFM_LANES-1:0] written [0:OFM_WORDS-1];

    // The element of a value, by its index in the order of the tensor's axes: channels fastest.
    function automatic int element(
        input int index, input int rows, input int cols, input int channels, input int block, input int by_image,
        input int by_row, input int by_col, input int by_channel
    );
        int c, w, h;
        c = index % channels;
        w = index / channels % cols;
        h = index / (channels * cols) % rows;
        element = index / (channels * cols * rows) * by_image + h * by_row + w * by_col + c / block * by_channel + c % block;
    endfunction

    function automatic int out_element(input int n, input int h, input int w, input int c);
        out_element = element(((n * OUT_H + h) * OUT_W + w) * CHANNELS + c,
            OFM_H, OFM_W, OFM_C, OFM_BLOCK, OFM_BY_IMAGE, OFM_BY_ROW, OFM_BY_COL, OFM_BY_CHANNEL);
    endfunction

    // The activation that output n, h, w, c multiplies with its k-th weight.
    function automatic int activation(input int n, input int h, input int w, input int c, input int k);
        int cell_at, row, col, channel, e;
        logic [IFM_BITS-1:0] code;
        cell_at = int'(order[k]);
        row     = h * STRIDE_H + cell_at / (KERNEL_C * KERNEL_W) * DILATION_H - PAD_H;
        col     = w * STRIDE_W + cell_at / KERNEL_C % KERNEL_W * DILATION_W - PAD_W;
        channel = cell_at % KERNEL_C + KERNEL_C * (c / (CHANNELS / GROUPS));
        if (row < 0 || row >= IN_H || col < 0 || col >= IN_W) begin
            activation = PADDING;
        end else begin
            e = element(((n * IN_H + row) * IN_W + col) * IN_C + channel,
                IFM_H, IFM_W, IFM_C, IFM_BLOCK, IFM_BY_IMAGE, IFM_BY_ROW, IFM_BY_COL, IFM_BY_CHANNEL);
            code = ifm[e/IFM_LANES][(e%IFM_LANES)*IFM_BITS+:IFM_BITS];
            activation = (IFM_SIGNED != 0 && code[IFM_BITS-1]) ? int'({{(32 - IFM_BITS) {1'b1}}, code}) : int'({{(32 - IFM_BITS) {1'b0}}, code});
            activation = activation - SUBTRACTED;
        end
    endfunction

    function automatic int weight(input int n, input int c, input int k);
        int cell_at, e;
        logic [WEIGHT_BITS-1:0] code;
        cell_at = int'(order[k]);
`ifdef GB_TWO_ACTIVATIONS
        e = element(int'(starts[n]) + c * BY_OUTPUT + cell_at / (KERNEL_C * KERNEL_W) * BY_ROW
            + cell_at / KERNEL_C % KERNEL_W * BY_COL + cell_at % KERNEL_C * BY_INPUT,
            WEIGHT_H, WEIGHT_W, WEIGHT_C, WEIGHT_BLOCK, WEIGHT_BY_IMAGE, WEIGHT_BY_ROW, WEIGHT_BY_COL, WEIGHT_BY_CHANNEL);
`else
        e = c / WEIGHT_BLOCK * WEIGHT_BY_IMAGE + c % WEIGHT_BLOCK + cell_at / (KERNEL_C * KERNEL_W) * WEIGHT_BY_ROW
            + cell_at / KERNEL_C % KERNEL_W * WEIGHT_BY_COL + cell_at % KERNEL_C * WEIGHT_BY_CHANNEL;
`endif
        code = weights[e/WEIGHT_LANES][(e%WEIGHT_LANES)*WEIGHT_BITS+:WEIGHT_BITS];
        weight = (WEIGHT_SIGNED != 0 && code[WEIGHT_BITS-1]) ? int'({{(32 - WEIGHT_BITS) {1'b1}}, code}) : int'({{(32 - WEIGHT_BITS) {1'b0}}, code});
        if (FOLDED == 0) weight = weight - zero_points[c];
    endfunction

    // The bias of an output at unit 1, with the sums of its operands where zero points are folded.
    function automatic logic signed [63:0] bias_of(input int n, input int h, input int w, input int c);
        int k;
        logic signed [63:0] activations, others;
        activations = 0;
        others = 0;
        if (FOLDED != 0) begin
            for (k = 0; k < TERMS; k = k + 1) begin
                activations = activations + 64'(activation(n, h, w, c, k));
                if (WEIGHT_SUM_FACTOR != 0) others = others + 64'(weight(n, c, k));
            end
        end
        bias_of = bias[c] - ((FOLDED != 0) ? 64'(zero_points[c]) * activations : 64'sd0) + 64'(WEIGHT_SUM_FACTOR) * others;
    endfunction

    // Pixels and channels of tiles, as places in the output.
    function automatic int n_of(input int pixel, input int channel);
        n_of = (TWO_ACTIVATIONS != 0) ? channel / CHANNELS : pixel / (OUT_H * OUT_W);
    endfunction
    function automatic int h_of(input int pixel);
        h_of = pixel / OUT_W % OUT_H;
    endfunction
    function automatic int w_of(input int pixel);
        w_of = pixel % OUT_W;
    endfunction

`ifdef GB_SPILL_COMPARED
    localparam int EXPECTED = COMPARED + SPILL_WORDS;
`else
    localparam int EXPECTED = COMPARED;
`endif
    int cycle, beat, checked, mismatches, last_out, check_cycles, chained, i, dots;
    string dump;

    // Counts a mismatch and prints the first ones.
    task automatic differ(input string kind, input int n, input int h, input int w, input int c, input longint expected, input longint got);
        mismatches = mismatches + 1;
        if (mismatches <= SHOWN)
            $display("MISMATCH kind=%0s output=%0d,%0d,%0d,%0d cycle=%0d expected=%0d got=%0d", kind, n, h, w, c, cycle, expected, got);
    endtask

    // Takes the sum and the code of an output.
    task automatic take(input int n, input int h, input int w, input int c, input logic signed [SUM_W-1:0] sum, input logic signed [CODE_W-1:0] code);
        int e;
        logic signed [SUM_W-1:0] expected_sum;
        logic [OFM_BITS-1:0] expected_code;
        e = out_element(n, h, w, c);
        expected_sum  = exp_sum[e/OFM_LANES][(e%OFM_LANES)*SUM_W+:SUM_W];
        expected_code = exp_ofm[e/OFM_LANES][(e%OFM_LANES)*OFM_BITS+:OFM_BITS];
        checked = checked + 1;
        dots = dots + 1;
        if (sum !== expected_sum) differ("sum", n, h, w, c, 64'(expected_sum), 64'(sum));
        if (HAS_CODES != 0) begin
            checked = checked + 1;
            if (code[OFM_BITS-1:0] !== expected_code) differ("code", n, h, w, c, 64'(expected_code), 64'(code[OFM_BITS-1:0]));
        end
        if (written[e/OFM_LANES][e%OFM_LANES] !== 1'b0) differ("twice", n, h, w, c, 1, 2);
        written[e/OFM_LANES][e%OFM_LANES] = 1'b1;
        ofm[e/OFM_LANES][(e%OFM_LANES)*OFM_BITS+:OFM_BITS] = (HAS_CODES != 0) ? code[OFM_BITS-1:0] : expected_code;
    endtask

`ifdef GB_TWO_ACTIVATIONS
    logic [31:0] starts [0:IMAGES-1];
    initial $readmemh({`GB_FOLDER, "/starts.mem"}, starts);
`endif

    initial begin
        if (!$value$plusargs("cycles=%d", check_cycles)) check_cycles = 1;
        if (!$value$plusargs("chained=%d", chained)) chained = 0;
        if (!$value$plusargs("dump=%s", dump)) dump = "";
        $readmemh(`GB_IFM, ifm);
        $readmemh(`GB_WEIGHTS, weights);
`ifdef GB_IFM_WRITTEN
        if (chained != 0) $readmemh(`GB_IFM_WRITTEN, ifm);
`endif
`ifdef GB_WEIGHTS_WRITTEN
        if (chained != 0) $readmemh(`GB_WEIGHTS_WRITTEN, weights);
`endif
        $readmemh({`GB_FOLDER, "/order.mem"}, order);
        $readmemh({`GB_FOLDER, "/bias.mem"}, bias);
        $readmemh({`GB_FOLDER, "/mult.mem"}, mult);
        $readmemh({`GB_FOLDER, "/exp.mem"}, expo);
        $readmemh({`GB_FOLDER, "/zero_points.mem"}, zero_points);
        $readmemh({`GB_FOLDER, "/sum.mem"}, exp_sum);
        $readmemh(`GB_OFM, exp_ofm);
        for (i = 0; i < OFM_WORDS; i = i + 1) begin
            ofm[i] = 0;
            written[i] = 0;
        end
        cycle = -1;
        beat = 0;
        checked = 0;
        mismatches = 0;
        last_out = -1;
        dots = 0;
    end

    task automatic report;
        if (dots != DOTS) differ("count", 0, 0, 0, 0, 64'(DOTS), 64'(dots));
        if (checked != EXPECTED) differ("compared", 0, 0, 0, 0, 64'(EXPECTED), 64'(checked));
        if (check_cycles != 0 && last_out + 1 - LATENCY != CYCLES) differ("cycles", 0, 0, 0, 0, 64'(CYCLES), 64'(last_out) + 1 - 64'(LATENCY));
        if (dump != "") $writememh(dump, ofm);
        $display("RESULT layer=%0s checked=%0d mismatches=%0d cycles=%0d model_compute=%0d model_layer=%0d",
            `GB_FOLDER, checked, mismatches, last_out + 1 - LATENCY, MODEL_COMPUTE, MODEL_LAYER);
        if (mismatches != 0) $fatal(1, "the layer differs");
        $finish;
    endtask

`ifdef GB_UNIT
    // One dot product after the other, in the order of the output tensor.
    localparam int BEATS = (TERMS + LANES - 1) / LANES;
    logic [LEVELS-1:0] run_last [0:BEATS-1];
    logic [OFM_LANES*FLAGS_W-1:0] exp_overflow [0:OFM_WORDS-1];
    initial begin
        $readmemh({`GB_FOLDER, "/run_last.mem"}, run_last);
        $readmemh({`GB_FOLDER, "/overflow.mem"}, exp_overflow);
    end

    logic in_valid, in_clear;
    logic [LEVELS-1:0] in_run_last;
    logic [LANES-1:0] in_keep;
    logic [LANES*A_W-1:0] in_a;
    logic [LANES*W_W-1:0] in_w;
    logic signed [63:0] raw_bias;
    logic signed [BIAS_W-1:0] in_bias;
    logic signed [MULT_W-1:0] in_mult;
    logic signed [7:0] in_exp;
    logic [LEVELS-1:0] updated;
    logic [LEVELS*4-1:0] flags;
    logic sum_valid, out_valid;
    logic signed [SUM_W-1:0] sum, held_sum;
    logic signed [CODE_W-1:0] out_code;
    gb_round_shift #(.IN_W(64), .OUT_W(BIAS_W), .SHIFT(BIAS_SHIFT), .ROUND(BIAS_ROUND)) u_bias (.x(raw_bias), .y(in_bias));
    gb_dut dut (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_clear(in_clear), .in_run_last(in_run_last), .in_keep(in_keep),
        .in_a(in_a), .in_w(in_w), .in_bias(in_bias), .in_mult(in_mult), .in_exp(in_exp), .updated(updated), .flags(flags),
        .sum_valid(sum_valid), .sum(sum), .out_valid(out_valid), .out_code(out_code)
    );

    int dot, step, lane, k, level, e, summed, n, h, w, c;
    logic [2*LEVELS-1:0] seen, of_sum, expected_flags;
    logic held;
    logic [LANES-1:0] next_keep;
    logic [LANES*A_W-1:0] next_a;
    logic [LANES*W_W-1:0] next_w;
    initial begin
        in_valid = 0;
        in_clear = 0;
        in_run_last = 0;
        in_keep = 0;
        in_a = 0;
        in_w = 0;
        raw_bias = 0;
        in_mult = 0;
        in_exp = 0;
        dot = 0;
        step = 0;
        summed = 0;
        seen = 0;
        held = 0;
    end

    always @(posedge clk) begin
        #1;
        if (rst_n) begin
            in_valid = 1'b0;
            if (dot < DOTS) begin
                n = dot / (OUT_H * OUT_W * CHANNELS);
                h = dot / (OUT_W * CHANNELS) % OUT_H;
                w = dot / CHANNELS % OUT_W;
                c = dot % CHANNELS;
                if (step == 0) begin
                    raw_bias = bias_of(n, h, w, c);
                    in_mult  = mult[c];
                    in_exp   = expo[c];
                end
                in_valid    = 1'b1;
                in_clear    = (step == 0);
                in_run_last = run_last[step];
                for (lane = 0; lane < LANES; lane = lane + 1) begin
                    k = step * LANES + lane;
                    next_keep[lane] = (k < TERMS);
                    // Unused lanes hold noise.
                    next_a[lane*A_W+:A_W] = (k < TERMS) ? A_W'(activation(n, h, w, c, k)) : A_W'($random);
                    next_w[lane*W_W+:W_W] = (k < TERMS) ? W_W'(weight(n, c, k)) : W_W'($random);
                end
                in_keep = next_keep;
                in_a    = next_a;
                in_w    = next_w;
                step = step + 1;
                if (step == BEATS) begin
                    step = 0;
                    dot = dot + 1;
                end
            end else if (beat > DOTS * BEATS + 16) begin
                report();
            end
            beat = beat + 1;
        end
    end

    always @(negedge clk) begin
        if (beat > 0) begin
            cycle = cycle + 1;
            // The code comes a cycle after its sum.
            if (held) begin
                n = summed / (OUT_H * OUT_W * CHANNELS);
                h = summed / (OUT_W * CHANNELS) % OUT_H;
                w = summed / CHANNELS % OUT_W;
                c = summed % CHANNELS;
                if (out_valid !== 1'b1) differ("valid", n, h, w, c, 1, 0);
                take(n, h, w, c, held_sum, out_code);
                e = out_element(n, h, w, c);
                expected_flags = exp_overflow[e/OFM_LANES][(e%OFM_LANES)*FLAGS_W+:2*LEVELS];
                checked = checked + 1;
                if (of_sum !== expected_flags) differ("overflow", n, h, w, c, 64'(expected_flags), 64'(of_sum));
                summed = summed + 1;
            end
            for (level = 0; level < LEVELS; level = level + 1)
                if (updated[level] === 1'b1) begin
                    seen[2*level]   = seen[2*level] | flags[4*level+1];
                    seen[2*level+1] = seen[2*level+1] | flags[4*level+2];
                end
            held = sum_valid;
            if (sum_valid === 1'b1) begin
                held_sum = sum;
                of_sum = seen;
                seen = 0;
                last_out = cycle;
            end
        end
    end
`else
    // Tile after tile, in the order and the distances of the model with ideal memories.
    logic [9*32-1:0] tiles [0:TILES-1];
    initial $readmemh({`GB_FOLDER, "/tiles.mem"}, tiles);
    function automatic int field(input int tile, input int index);
        field = int'(tiles[tile][index*32+:32]);
    endfunction
    // The first tile from `from` on whose sums are finished, or not.
    function automatic int next_tile(input int from, input logic finished);
        int t;
        logic found;
        found = 1'b0;
        next_tile = TILES;
        for (t = from; t < TILES && !found; t = t + 1)
            if (tiles[t][7*32] == finished) begin
                found = 1'b1;
                next_tile = t;
            end
    endfunction
    localparam int PIXEL = 0, PIXELS = 1, CHANNEL = 2, WIDTH = 3, TERM = 4, DEPTH = 5, START = 6, DONE = 7, SPILL = 8;

    logic in_valid, in_first, in_last, in_load, in_start, in_done;
    logic [ROWS*A_W-1:0] in_a;
    logic [COLS*W_W-1:0] in_w;
    logic [COLS-1:0] out_valid;
    logic [COLS*SUM_W-1:0] out_sum;
    /* verilator lint_off UNUSEDSIGNAL */
    logic tile_first, adds_last;
    /* verilator lint_on UNUSEDSIGNAL */
    gb_array dut (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_first(in_first), .in_last(in_last), .in_load(in_load),
        .in_start(in_start), .in_done(in_done), .in_a(in_a), .in_w(in_w), .out_valid(out_valid), .out_sum(out_sum),
        .tile_first(tile_first), .adds_last(adds_last)
    );

    // Sums are taken in the middle of a cycle, with their constants; the codes are read after the next edge.
    logic pending [0:COLS-1];
    int out_n [0:COLS-1], out_pixel [0:COLS-1], out_channel [0:COLS-1];
    logic signed [SUM_W-1:0] fin_sum [0:COLS-1];
    logic signed [63:0] fin_bias [0:COLS-1];
    logic signed [MULT_W-1:0] fin_mult [0:COLS-1];
    logic signed [7:0] fin_exp [0:COLS-1];
    logic signed [CODE_W-1:0] fin_code [0:COLS-1];
    genvar g;
    generate
        for (g = 0; g < COLS; g = g + 1) begin : g_finish
            /* verilator lint_off UNUSEDSIGNAL */
            logic signed [BIAS_W-1:0] word;
            /* verilator lint_on UNUSEDSIGNAL */
            gb_finish #(
                .SUM_W(SUM_W), .POST(POST), .BIAS_SHIFT(BIAS_SHIFT), .BIAS_ROUND(BIAS_ROUND), .BIAS_W(BIAS_W),
                .BIAS_BITS(BIAS_BITS), .BIAS_SIGNED(BIAS_SIGNED), .BIAS_MODE(BIAS_MODE), .BIASED_W(BIASED_W), .MULT_W(MULT_W),
                .SCHEME(SCHEME), .ZERO_POINT(ZERO_POINT), .CLAMP_MIN(CLAMP_MIN), .CLAMP_MAX(CLAMP_MAX), .CODE_W(CODE_W)
            ) u_finish (
                .sum(fin_sum[g]), .bias(fin_bias[g]), .mult(fin_mult[g]), .expo(fin_exp[g]), .bias_word(word),
                .code(fin_code[g])
            );
        end
    endgenerate

    int streamed, loaded, at, row, col, k, pixel, channel, n;
    // Per column: the tile whose sums leave next, and the next of its lines.
    int tile [0:COLS-1], line [0:COLS-1], lines;
    logic used;
    logic [ROWS*A_W-1:0] next_a;
    logic [COLS*W_W-1:0] next_w;
    initial begin
        in_valid = 0;
        in_first = 0;
        in_last = 0;
        in_load = 0;
        in_start = 0;
        in_done = 0;
        in_a = 0;
        in_w = 0;
        next_a = 0;
        next_w = 0;
        streamed = 0;
        loaded = 0;
        for (col = 0; col < COLS; col = col + 1) begin
            tile[col] = 0;
            line[col] = 0;
            pending[col] = 1'b0;
            fin_sum[col] = 0;
            fin_bias[col] = 0;
            fin_mult[col] = 0;
            fin_exp[col] = 0;
        end
    end

    always @(posedge clk) begin
        #1;
        if (rst_n) begin
            for (col = 0; col < COLS; col = col + 1) begin
                if (pending[col]) take(out_n[col], h_of(out_pixel[col]), w_of(out_pixel[col]), out_channel[col], fin_sum[col], fin_code[col]);
                pending[col] = 1'b0;
            end
            in_valid = 1'b0;
            in_load  = 1'b0;
            in_first = 1'b0;
            in_last  = 1'b0;
            if (SUMS_STAY == 0) begin
                if (loaded < TILES && beat >= field(loaded, START) + ROWS) loaded = loaded + 1;
                if (loaded < TILES && beat >= field(loaded, START)) begin
                    // The weights of the bottom row come first; rows beyond the tile's products get 0.
                    in_load = 1'b1;
                    row = ROWS - 1 - (beat - field(loaded, START));
                    for (col = 0; col < COLS; col = col + 1) begin
                        channel = field(loaded, CHANNEL) + col;
                        n = n_of(field(loaded, PIXEL), channel);
                        used = (row < field(loaded, DEPTH) && col < field(loaded, WIDTH));
                        next_w[col*W_W+:W_W] = used ? W_W'(weight(n, channel % CHANNELS, field(loaded, TERM) + row)) : W_W'(0);
                    end
                end
            end
            if (streamed < TILES && beat >= field(streamed, START) + PRELOAD + field(streamed, (SUMS_STAY != 0) ? DEPTH : PIXELS))
                streamed = streamed + 1;
            if (streamed < TILES && beat >= field(streamed, START) + PRELOAD) begin
                at       = beat - field(streamed, START) - PRELOAD;
                channel  = field(streamed, CHANNEL);
                in_valid = 1'b1;
                in_first = (at == 0);
                in_last  = (SUMS_STAY != 0 && at == field(streamed, DEPTH) - 1);
                in_start = (field(streamed, TERM) == 0);
                in_done  = (field(streamed, DONE) != 0);
                for (row = 0; row < ROWS; row = row + 1) begin
                    pixel = field(streamed, PIXEL) + ((SUMS_STAY != 0) ? row : at);
                    k     = field(streamed, TERM) + ((SUMS_STAY != 0) ? at : row);
                    used  = (row < field(streamed, (SUMS_STAY != 0) ? PIXELS : DEPTH));
                    n     = n_of(pixel, channel);
                    // Unused rows and columns hold noise.
                    next_a[row*A_W+:A_W] = used ? A_W'(activation(n, h_of(pixel), w_of(pixel), channel % CHANNELS, k)) : A_W'($random);
                end
                if (SUMS_STAY != 0) begin
                    for (col = 0; col < COLS; col = col + 1) begin
                        channel = field(streamed, CHANNEL) + col;
                        n = n_of(field(streamed, PIXEL), channel);
                        used = (col < field(streamed, WIDTH));
                        next_w[col*W_W+:W_W] = used ? W_W'(weight(n, channel % CHANNELS, at)) : W_W'($random);
                    end
                end
            end
            in_a = next_a;
            in_w = next_w;
            if (beat > field(TILES - 1, START) + PRELOAD + field(TILES - 1, (SUMS_STAY != 0) ? DEPTH : PIXELS) + 2 * (ROWS + COLS) + 16) report();
            beat = beat + 1;
        end
    end

    int out_col, out_row;
    always @(negedge clk) begin
        if (beat > 0) begin
            cycle = cycle + 1;
            for (out_col = 0; out_col < COLS; out_col = out_col + 1) begin
                if (out_valid[out_col] === 1'b1) begin
                    last_out = cycle;
                    tile[out_col] = next_tile(tile[out_col], 1'b1);
                    if (tile[out_col] >= TILES) begin
                        differ("extra", 0, 0, 0, out_col, 0, 64'($signed(out_sum[out_col*SUM_W+:SUM_W])));
                    end else begin
                        lines = (SUMS_STAY != 0) ? ROWS : field(tile[out_col], PIXELS);
                        // Sums that stay leave from the bottom row on.
                        out_row = (SUMS_STAY != 0) ? ROWS - 1 - line[out_col] : line[out_col];
                        if (out_row < field(tile[out_col], PIXELS) && out_col < field(tile[out_col], WIDTH)) begin
                            out_pixel[out_col]   = field(tile[out_col], PIXEL) + out_row;
                            out_channel[out_col] = field(tile[out_col], CHANNEL) + out_col;
                            out_n[out_col]       = n_of(out_pixel[out_col], out_channel[out_col]);
                            out_channel[out_col] = out_channel[out_col] % CHANNELS;
                            fin_sum[out_col]     = out_sum[out_col*SUM_W+:SUM_W];
                            fin_bias[out_col]    = bias_of(out_n[out_col], h_of(out_pixel[out_col]), w_of(out_pixel[out_col]), out_channel[out_col]);
                            fin_mult[out_col]    = mult[out_channel[out_col]];
                            fin_exp[out_col]     = expo[out_channel[out_col]];
                            pending[out_col]     = 1'b1;
                        end
                        line[out_col] = line[out_col] + 1;
                        if (line[out_col] == lines) begin
                            line[out_col] = 0;
                            tile[out_col] = tile[out_col] + 1;
                        end
                    end
                end else if (out_valid[out_col] !== 1'b0) begin
                    differ("valid", 0, 0, 0, out_col, 0, -1);
                end
            end
        end
    end

`ifdef GB_SPILL_COMPARED
    // What the accumulator memory keeps of dot products that later tiles complete.
    logic [ACC_BITS:0] exp_spill [0:SPILL_WORDS-1];
    initial $readmemh({`GB_FOLDER, "/spill.mem"}, exp_spill);
    wire [COLS-1:0] kept;
    wire [COLS*(ACC_BITS+1)-1:0] kept_word;
    generate
        for (g = 0; g < COLS; g = g + 1) begin : g_spill
            assign kept[g] = dut.u_array.g_col[g].u_acc.valid && !dut.u_array.g_col[g].u_acc.done;
            assign kept_word[g*(ACC_BITS+1)+:ACC_BITS+1] =
                {gb_codes::STICKY[ACC_MODE] && dut.u_array.g_col[g].u_acc.next_stuck, dut.u_array.g_col[g].u_acc.next[ACC_BITS-1:0]};
        end
    endgenerate
    int s_tile [0:COLS-1], s_line [0:COLS-1], s_col, s_word;
    initial for (s_col = 0; s_col < COLS; s_col = s_col + 1) begin
        s_tile[s_col] = 0;
        s_line[s_col] = 0;
    end
    always @(negedge clk) begin
        if (beat > 0) begin
            for (s_col = 0; s_col < COLS; s_col = s_col + 1) begin
                if (kept[s_col] === 1'b1) begin
                    s_tile[s_col] = next_tile(s_tile[s_col], 1'b0);
                    if (s_tile[s_col] >= TILES) begin
                        differ("extra_spill", 0, 0, 0, s_col, 0, 1);
                    end else begin
                        if (s_col < field(s_tile[s_col], WIDTH)) begin
                            s_word = field(s_tile[s_col], SPILL) + s_line[s_col] * field(s_tile[s_col], WIDTH) + s_col;
                            checked = checked + 1;
                            if (kept_word[s_col*(ACC_BITS+1)+:ACC_BITS+1] !== exp_spill[s_word])
                                differ("spill", s_tile[s_col], s_line[s_col], 0, s_col, 64'(exp_spill[s_word]), 64'(kept_word[s_col*(ACC_BITS+1)+:ACC_BITS+1]));
                        end
                        s_line[s_col] = s_line[s_col] + 1;
                        if (s_line[s_col] == field(s_tile[s_col], PIXELS)) begin
                            s_line[s_col] = 0;
                            s_tile[s_col] = s_tile[s_col] + 1;
                        end
                    end
                end
            end
        end
    end
`endif
`endif
endmodule
