// One MAC unit: multipliers, accumulation levels one within the other, bias adder, requantizer.
//
// A parameter of the levels is a vector of 32 bits a level, level 0 (innermost) in the least significant ones. Stage 1
// registers the products, stage 2 the accumulators (levels hand over within a cycle), stage 3 the output code.
module gb_unit #(
    // Products per beat, and accumulation levels.
    parameter int LANES = 1,
    parameter int LEVELS = 1,
    // Width of an operand, and bits from one lane to the next.
    parameter int A_W = 9,
    parameter int A_SLOT = 9,
    parameter int B_W = 8,
    parameter int B_SLOT = 8,
    // The multiplier's register.
    parameter int P_BITS = 0,
    parameter int P_SIGNED = 1,
    parameter int P_MODE = gb_codes::MODE_SATURATE,
    parameter int P_SHIFT = 0,
    parameter int P_ROUND = gb_codes::ROUND_FLOOR,
    parameter int P_W = 17,
    // The levels: kind, register, port behind it.
    parameter logic [LEVELS*32-1:0] REDUCE = {LEVELS{32'd0}},
    parameter logic [LEVELS*32-1:0] BITS = {LEVELS{32'd14}},
    parameter logic [LEVELS*32-1:0] IS_SIGNED = {LEVELS{32'd1}},
    parameter logic [LEVELS*32-1:0] MODE = {LEVELS{32'd1}},
    parameter logic [LEVELS*32-1:0] HAND_OVER = {LEVELS{32'd0}},
    parameter logic [LEVELS*32-1:0] SHIFT = {LEVELS{32'd0}},
    parameter logic [LEVELS*32-1:0] ROUND = {LEVELS{32'd0}},
    parameter logic [LEVELS*32-1:0] ACC_W = {LEVELS{32'd14}},
    parameter logic [LEVELS*32-1:0] OUT_W = {LEVELS{32'd14}},
    // Bits of a level in acc: those of the widest register or port.
    parameter int LEVEL_W = 14,
    parameter int SUM_W = 14,
    // The bias: loaded into the last level (PRELOAD), or added behind it (POST) in a register of its own.
    parameter int BIAS_W = 32,
    parameter int PRELOAD = 0,
    parameter int POST = 1,
    parameter int BIAS_BITS = 32,
    parameter int BIAS_SIGNED = 1,
    parameter int BIAS_MODE = gb_codes::MODE_SATURATE,
    parameter int BIASED_W = 32,
    // The requantizer.
    parameter int MULT_W = 32,
    parameter int SCHEME = gb_codes::SCHEME_DOUBLE,
    parameter logic signed [31:0] ZERO_POINT = 0,
    parameter logic signed [31:0] CLAMP_MIN = -128,
    parameter logic signed [31:0] CLAMP_MAX = 127,
    parameter int CODE_W = 8
) (
    input  logic                             clk,
    input  logic                             rst_n,
    input  logic                             in_valid,
    input  logic                             in_clear,
    input  logic        [        LEVELS-1:0] in_run_last,
    input  logic        [         LANES-1:0] in_keep,
    // A slot may be wider than its operand.
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic        [  LANES*A_SLOT-1:0] in_a,
    input  logic        [  LANES*B_SLOT-1:0] in_w,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic signed [        BIAS_W-1:0] in_bias,
    input  logic signed [        MULT_W-1:0] in_mult,
    input  logic signed [               7:0] in_exp,
    output logic        [LEVELS*LEVEL_W-1:0] acc,
    output logic        [        LEVELS-1:0] updated,
    output logic        [      LEVELS*4-1:0] flags,
    output logic                             sum_valid,
    output logic signed [         SUM_W-1:0] sum,
    output logic                             out_valid,
    output logic signed [        CODE_W-1:0] out_code
);
    // Stage 1: products. Nothing of it is a beat unless valid1.
    logic valid1, clear1;
    logic [LEVELS-1:0] run_last1;
    logic [LANES-1:0] keep1;
    logic signed [BIAS_W-1:0] bias1;
    logic signed [MULT_W-1:0] mult1;
    logic signed [7:0] exp1;
    logic [LANES*P_W-1:0] product, product1;
    genvar lane;
    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : g_lane
            gb_product #(
                .A_W(A_W), .B_W(B_W), .BITS(P_BITS), .IS_SIGNED(P_SIGNED), .MODE(P_MODE), .SHIFT(P_SHIFT),
                .ROUND(P_ROUND), .OUT_W(P_W)
            ) u_product (
                .a(in_a[lane*A_SLOT+:A_W]), .b(in_w[lane*B_SLOT+:B_W]), .p(product[lane*P_W+:P_W])
            );
        end
    endgenerate
    always_ff @(posedge clk) begin
        if (!rst_n) begin
            valid1 <= 1'b0;
            clear1 <= 1'b0;
        end else begin
            valid1 <= in_valid;
            clear1 <= in_valid && in_clear;
        end
        run_last1 <= in_run_last;
        keep1     <= in_keep;
        bias1     <= in_bias;
        mult1     <= in_mult;
        exp1      <= in_exp;
        product1  <= product;
    end

    // Stage 2: accumulators. valid[i]: a value arrives at level i; port: what a level hands on.
    logic [LEVELS:0] valid /* verilator split_var */;
    // A level's lane is as wide as the widest level's.
    /* verilator lint_off UNUSEDSIGNAL */
    logic [LEVELS*LEVEL_W-1:0] port /* verilator split_var */;
    /* verilator lint_on UNUSEDSIGNAL */
    assign valid[0] = valid1;
    genvar i;
    generate
        for (i = 0; i < LEVELS; i = i + 1) begin : g_level
            localparam int IN_W = (i == 0) ? P_W : OUT_W[((i == 0) ? 0 : i-1)*32+:32];
            localparam int VALUES = (i == 0) ? LANES : 1;
            localparam int HELD_W = ACC_W[i*32+:32];
            localparam int HANDED_W = OUT_W[i*32+:32];
            localparam int LOADED = (PRELOAD != 0 && i == LEVELS - 1) ? 1 : 0;
            localparam int INIT_W = (LOADED != 0) ? BIAS_W : 2;

            logic [VALUES*IN_W-1:0] x;
            logic [VALUES-1:0] keep;
            if (i == 0) begin : g_products
                assign x    = product1;
                assign keep = keep1;
            end else begin : g_results
                assign x    = port[(i-1)*LEVEL_W+:IN_W];
                assign keep = 1'b1;
            end
            logic signed [INIT_W-1:0] init;
            if (LOADED != 0) begin : g_load
                assign init = bias1;
            end else begin : g_clear
                assign init = {INIT_W{1'b0}};
            end

            logic signed [HELD_W-1:0] held;
            logic signed [HANDED_W-1:0] y;
            logic high, low, sticky;
            gb_reduce #(
                .REDUCE(REDUCE[i*32+:32]), .LANES(VALUES), .IN_W(IN_W), .ACC_W(HELD_W),
                .BITS(BITS[i*32+:32]), .IS_SIGNED(IS_SIGNED[i*32+:32]), .MODE(MODE[i*32+:32]),
                .HAND_OVER(HAND_OVER[i*32+:32]), .SHIFT(SHIFT[i*32+:32]), .ROUND(ROUND[i*32+:32]),
                .OUT_W(HANDED_W), .INIT_W(INIT_W)
            ) u_level (
                .clk(clk), .rst_n(rst_n), .clear(clear1), .valid(valid[i]), .run_last(run_last1[i]), .keep(keep),
                .x(x), .init(init), .y(y), .acc(held), .updated(updated[i]), .high(high), .low(low), .sticky(sticky)
            );
            assign valid[i+1]  = valid[i] && run_last1[i];
            assign flags[i*4+:4] = {sticky, low, high, high || low};
            assign acc[i*LEVEL_W+:LEVEL_W]  = LEVEL_W'(held);
            assign port[i*LEVEL_W+:LEVEL_W] = LEVEL_W'(y);
        end
    endgenerate

    // The delivered sum, with what belongs to its dot product.
    // A bias of its own adder.
    /* verilator lint_off UNUSEDSIGNAL */
    logic signed [BIAS_W-1:0] bias2;
    /* verilator lint_on UNUSEDSIGNAL */
    logic signed [MULT_W-1:0] mult2;
    logic signed [7:0] exp2;
    always_ff @(posedge clk) begin
        sum_valid <= rst_n && valid[LEVELS];
        sum       <= port[(LEVELS-1)*LEVEL_W+:SUM_W];
        bias2     <= bias1;
        mult2     <= mult1;
        exp2      <= exp1;
    end

    // Stage 3: bias, requantization.
    logic signed [BIASED_W-1:0] biased;
    generate
        if (POST != 0) begin : g_bias
            localparam int WITH_W = ((SUM_W > BIAS_W) ? SUM_W : BIAS_W) + 1;
            logic signed [WITH_W-1:0] with_bias;
            // Nothing shows them.
            /* verilator lint_off UNUSEDSIGNAL */
            logic bias_high, bias_low;
            /* verilator lint_on UNUSEDSIGNAL */
            assign with_bias = WITH_W'(sum) + WITH_W'(bias2);
            gb_fit #(
                .IN_W(WITH_W), .OUT_W(BIASED_W), .BITS(BIAS_BITS), .IS_SIGNED(BIAS_SIGNED), .MODE(BIAS_MODE)
            ) u_bias (
                .x(with_bias), .y(biased), .high(bias_high), .low(bias_low)
            );
        end else begin : g_no_bias
            assign biased = sum;
        end
    endgenerate
    logic signed [CODE_W-1:0] code;
    gb_requant #(
        .IN_W(BIASED_W), .OUT_W(CODE_W), .MULT_W(MULT_W), .SCHEME(SCHEME), .ZERO_POINT(ZERO_POINT),
        .CLAMP_MIN(CLAMP_MIN), .CLAMP_MAX(CLAMP_MAX)
    ) u_requant (
        .x(biased), .mult(mult2), .expo(exp2), .code(code)
    );
    always_ff @(posedge clk) begin
        out_valid <= rst_n && sum_valid;
        out_code  <= code;
    end
endmodule
