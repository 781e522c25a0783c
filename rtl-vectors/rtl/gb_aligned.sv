// Reference unit of a floating-point accumulator: products of codes, aligned to the largest exponent, cut and added.
//
// A beat is one addition: LANES products, of which those with `in_keep` count, and the accumulator. `in_clear` starts a
// dot product with its first beat, `in_last` ends it. After PROMOTE additions (0: never) the accumulator is added to a
// float32 sum, to nearest even, and starts again at zero. Stage 1 registers the products, stage 2 the accumulator, stage 3
// the float32 sum and the result.
//
// SCALES: products are multiplied by scales of blocks. 1: each product is a term with scales of its own. 2: GROUP products
// are added exactly to one term, whose scales they share; lanes of a group without `in_keep` hold no product, and a group
// without products is no term.
module gb_aligned #(
    parameter int LANES = 4,
    // Format of the operands, and bits from one lane to the next.
    parameter int A_EXP = 4,
    parameter int A_FRAC = 3,
    parameter int A_BIAS = 7,
    parameter int A_SPECIALS = gb_aligned_codes::LAST_IS_NAN,
    parameter int A_SLOT = 1 + A_EXP + A_FRAC,
    parameter int B_EXP = 4,
    parameter int B_FRAC = 3,
    parameter int B_BIAS = 7,
    parameter int B_SPECIALS = gb_aligned_codes::LAST_IS_NAN,
    parameter int B_SLOT = 1 + B_EXP + B_FRAC,
    // Scales of blocks of both operands, and the products of a term.
    parameter int SCALES = 0,
    parameter int GROUP = 1,
    parameter int SA_EXP = 8,
    parameter int SA_FRAC = 0,
    parameter int SA_BIAS = 127,
    parameter int SA_SLOT = SA_EXP + SA_FRAC,
    parameter int SB_EXP = 8,
    parameter int SB_FRAC = 0,
    parameter int SB_BIAS = 127,
    parameter int SB_SLOT = SB_EXP + SB_FRAC,
    parameter int TERMS = LANES / GROUP,
    // The addition.
    parameter int FRACTION_BITS = 13,
    parameter int ALIGN_ROUND = gb_codes::ROUND_TOWARD_ZERO,
    parameter int APART = 0,
    parameter int INTERLEAVED = 0,
    parameter int SUM_BITS = 31,
    parameter int ACC_BITS = 24,
    parameter int REACH = 0,
    // The result.
    parameter int R_EXP = 8,
    parameter int R_FRAC = 13,
    parameter int R_BIAS = 127,
    parameter int R_SPECIALS = gb_aligned_codes::IEEE,
    parameter int RESULT_ROUND = gb_codes::ROUND_TOWARD_ZERO,
    parameter int NEGATIVE_ZERO = 0,
    parameter logic [R_EXP+R_FRAC:0] NAN = {1'b0, {(R_EXP + 1) {1'b1}}, {(R_FRAC - 1) {1'b0}}},
    parameter int PROMOTE = 0
) (
    input  logic                    clk,
    input  logic                    rst_n,
    input  logic                    in_valid,
    input  logic                    in_clear,
    input  logic                    in_last,
    input  logic [       LANES-1:0] in_keep,
    // A slot may be wider than its code.
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic [LANES*A_SLOT-1:0] in_a,
    input  logic [LANES*B_SLOT-1:0] in_w,
    input  logic [TERMS*SA_SLOT-1:0] in_sa,
    input  logic [TERMS*SB_SLOT-1:0] in_sw,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic [  R_EXP+R_FRAC:0] acc,
    output logic                    updated,
    output logic                    cut,
    output logic                    vanished,
    output logic [            31:0] total,
    output logic                    sum_valid,
    output logic [            31:0] sum
);
    localparam int PRODUCT_FRAC = A_FRAC + B_FRAC;
    localparam int PRODUCT_W = PRODUCT_FRAC + 2;
    // Exponents of products that are not zero.
    localparam int LEAST = 2 - A_BIAS - B_BIAS;
    localparam int RAISE = (1 << A_EXP) + (1 << B_EXP) - 4;
    // Terms: products, or sums of groups, times the scales.
    localparam int EXACT = (SCALES == 2) ? 1 : 0;
    localparam int FRAC = PRODUCT_FRAC + SA_FRAC + SB_FRAC - ((EXACT != 0) ? LEAST : 0);
    localparam int SCALE_W = ((SA_FRAC == 0) ? 0 : SA_FRAC + 1) + ((SB_FRAC == 0) ? 0 : SB_FRAC + 1);
    localparam int SIG_W = PRODUCT_W + SCALE_W + ((EXACT != 0) ? RAISE + $clog2(GROUP) : 0);

    // Stage 1: products.
    logic [LANES-1:0] negative, inf, nan;
    logic [LANES*PRODUCT_W-1:0] sig;
    logic [LANES*12-1:0] expo;
    genvar lane;
    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : g_lane
            gb_aligned_product #(
                .A_EXP(A_EXP), .A_FRAC(A_FRAC), .A_BIAS(A_BIAS), .A_SPECIALS(A_SPECIALS), .B_EXP(B_EXP),
                .B_FRAC(B_FRAC), .B_BIAS(B_BIAS), .B_SPECIALS(B_SPECIALS)
            ) u_product (
                .a(in_a[lane*A_SLOT+:1+A_EXP+A_FRAC]), .b(in_w[lane*B_SLOT+:1+B_EXP+B_FRAC]),
                .negative(negative[lane]), .sig(sig[lane*PRODUCT_W+:PRODUCT_W]), .expo(expo[lane*12+:12]),
                .inf(inf[lane]), .nan(nan[lane])
            );
        end
    endgenerate

    logic [TERMS-1:0] used, term_negative, term_inf, term_nan;
    logic [TERMS*SIG_W-1:0] term_sig;
    logic [TERMS*12-1:0] term_expo;
    genvar term;
    generate
        if (SCALES == 0) begin : g_unscaled
            assign used          = in_keep;
            assign term_negative = negative;
            assign term_sig      = sig;
            assign term_expo     = expo;
            assign term_inf      = inf;
            assign term_nan      = nan;
            /* verilator lint_off UNUSEDSIGNAL */
            logic unused;
            /* verilator lint_on UNUSEDSIGNAL */
            assign unused = in_sa != 0 || in_sw != 0;
        end else begin : g_scaled
            for (term = 0; term < TERMS; term = term + 1) begin : g_term
                assign used[term] = in_keep[term*GROUP+:GROUP] != 0;
                gb_aligned_block #(
                    .EXACT(EXACT), .GROUP(GROUP), .SIG_W(PRODUCT_W), .LEAST(LEAST), .RAISE(RAISE), .SA_EXP(SA_EXP),
                    .SA_FRAC(SA_FRAC), .SA_BIAS(SA_BIAS), .SB_EXP(SB_EXP), .SB_FRAC(SB_FRAC), .SB_BIAS(SB_BIAS),
                    .TERM_SIG_W(SIG_W)
                ) u_block (
                    .keep(in_keep[term*GROUP+:GROUP]), .negative(negative[term*GROUP+:GROUP]),
                    .sig(sig[term*GROUP*PRODUCT_W+:GROUP*PRODUCT_W]), .expo(expo[term*GROUP*12+:GROUP*12]),
                    .inf(inf[term*GROUP+:GROUP]), .nan(nan[term*GROUP+:GROUP]),
                    .sa(in_sa[term*SA_SLOT+:SA_EXP+SA_FRAC]), .sb(in_sw[term*SB_SLOT+:SB_EXP+SB_FRAC]),
                    .term_negative(term_negative[term]), .term_sig(term_sig[term*SIG_W+:SIG_W]),
                    .term_expo(term_expo[term*12+:12]), .term_inf(term_inf[term]), .term_nan(term_nan[term])
                );
            end
        end
    endgenerate

    logic valid1, clear1, last1;
    logic [TERMS-1:0] keep1, negative1, inf1, nan1;
    logic [TERMS*SIG_W-1:0] sig1;
    logic [TERMS*12-1:0] expo1;
    always_ff @(posedge clk) begin
        valid1    <= rst_n && in_valid;
        clear1    <= in_clear;
        last1     <= in_last;
        keep1     <= used;
        negative1 <= term_negative;
        sig1      <= term_sig;
        expo1     <= term_expo;
        inf1      <= term_inf;
        nan1      <= term_nan;
    end

    // Stage 2: the accumulator, which starts at zero after a promotion, too.
    logic fresh, is_promoted, now_cut, now_vanished;
    logic [R_EXP+R_FRAC:0] from, next;
    assign from = (clear1 || fresh) ? '0 : acc;
    gb_aligned_sum #(
        .LANES(TERMS), .SIG_W(SIG_W), .FRAC(FRAC), .BITS(FRACTION_BITS), .ALIGN_ROUND(ALIGN_ROUND), .APART(APART),
        .INTERLEAVED(INTERLEAVED), .SUM_BITS(SUM_BITS), .ACC_BITS(ACC_BITS), .REACH(REACH), .R_EXP(R_EXP),
        .R_FRAC(R_FRAC), .R_BIAS(R_BIAS), .R_SPECIALS(R_SPECIALS), .RESULT_ROUND(RESULT_ROUND),
        .NEGATIVE_ZERO(NEGATIVE_ZERO), .NAN(NAN)
    ) u_sum (
        .keep(keep1), .negative(negative1), .sig(sig1), .expo(expo1), .inf(inf1), .nan(nan1), .c(from), .code(next),
        .cut(now_cut), .vanished(now_vanished)
    );
    logic last2, start2, promote2;
    always_ff @(posedge clk) begin
        if (!rst_n) begin
            updated  <= 1'b0;
            acc      <= '0;
            fresh    <= 1'b1;
            cut      <= 1'b0;
            vanished <= 1'b0;
        end else begin
            updated <= valid1;
            if (valid1) begin
                acc      <= next;
                fresh    <= is_promoted || last1;
                cut      <= now_cut;
                vanished <= now_vanished;
            end
        end
        last2    <= last1;
        promote2 <= is_promoted;
    end

    // Stage 3: the float32 sum, or the accumulator.
    generate
        if (PROMOTE != 0) begin : g_promote
            logic [31:0] count, done, promoted;
            // Additions since the accumulator was zero, and whether no promotion of the dot product was before.
            logic first, first2;
            assign done        = clear1 ? 32'd0 : count;
            assign is_promoted = last1 || done == 32'(PROMOTE - 1);
            assign start2      = first2;
            always_ff @(posedge clk) begin
                if (!rst_n) begin
                    count <= 32'd0;
                    first <= 1'b1;
                end else if (valid1) begin
                    count <= is_promoted ? 32'd0 : done + 32'd1;
                    first <= last1 || ((clear1 || first) && !is_promoted);
                end
                first2 <= clear1 || first;
            end
            gb_aligned_promote #(.EXP(R_EXP), .FRAC(R_FRAC), .BIAS(R_BIAS), .SPECIALS(R_SPECIALS)) u_promote (
                .total(start2 ? 32'd0 : total), .acc(acc), .sum(promoted)
            );
            always_ff @(posedge clk) begin
                if (!rst_n) total <= 32'd0;
                else if (updated && promote2) total <= promoted;
            end
            assign sum = total;
        end else begin : g_plain
            assign is_promoted = 1'b0;
            assign start2      = 1'b0;
            assign total       = 32'd0;
            logic [31:0] held;
            always_ff @(posedge clk) held <= 32'(acc);
            assign sum = held;
            /* verilator lint_off UNUSEDSIGNAL */
            logic unused;
            /* verilator lint_on UNUSEDSIGNAL */
            assign unused = start2 || promote2;
        end
    endgenerate
    always_ff @(posedge clk) sum_valid <= rst_n && updated && last2;
endmodule
