// One addition: products and the accumulator `c`, aligned, cut and added, as a code of the result. Combinational.
//
// APART 0: `c` is one more term. APART 1: the sum of the products and `c` are aligned to the larger of their exponents and
// cut toward minus infinity, to SUM_BITS and ACC_BITS. INTERLEAVED: even and odd products are added separately first.
// REACH: `c` counts only if its exponent is at most this far below the larger one; 0: always.
module gb_aligned_sum #(
    parameter int LANES = 4,
    parameter int SIG_W = 8,
    parameter int FRAC = 6,
    parameter int BITS = 13,
    parameter int ALIGN_ROUND = gb_codes::ROUND_TOWARD_ZERO,
    parameter int APART = 0,
    parameter int INTERLEAVED = 0,
    parameter int SUM_BITS = 31,
    parameter int ACC_BITS = 24,
    parameter int REACH = 0,
    parameter int R_EXP = 8,
    parameter int R_FRAC = 13,
    parameter int R_BIAS = 127,
    parameter int R_SPECIALS = gb_aligned_codes::IEEE,
    parameter int RESULT_ROUND = gb_codes::ROUND_TOWARD_ZERO,
    parameter int NEGATIVE_ZERO = 0,
    parameter logic [R_EXP+R_FRAC:0] NAN = {1'b0, {(R_EXP + 1) {1'b1}}, {(R_FRAC - 1) {1'b0}}}
) (
    input  logic        [      LANES-1:0] keep,
    input  logic        [      LANES-1:0] negative,
    input  logic        [LANES*SIG_W-1:0] sig,
    input  logic        [   LANES*12-1:0] expo,
    input  logic        [      LANES-1:0] inf,
    input  logic        [      LANES-1:0] nan,
    input  logic        [ R_EXP+R_FRAC:0] c,
    output logic        [ R_EXP+R_FRAC:0] code,
    output logic                          cut,
    output logic                          vanished
);
    localparam int GROUP_W = SIG_W - FRAC + BITS + 2 + $clog2(LANES);

    logic c_negative, c_inf, c_nan;
    logic [R_FRAC:0] c_sig;
    logic signed [11:0] c_expo;
    gb_aligned_decode #(.EXP(R_EXP), .FRAC(R_FRAC), .BIAS(R_BIAS), .SPECIALS(R_SPECIALS)) u_c (
        .code(c), .negative(c_negative), .sig(c_sig), .expo(c_expo), .inf(c_inf), .nan(c_nan)
    );

    logic [R_EXP+R_FRAC:0] finite;
    logic [1:0] cuts, gone;
    logic c_cut, c_gone;
    // Numbers that count as infinite if no term is an infinity.
    logic [LANES-1:0] beyond;
    generate
        if (APART == 0) begin : g_term
            localparam int C_W = BITS + 3;
            localparam int W = ((GROUP_W > C_W) ? GROUP_W : C_W) + 1;
            logic signed [11:0] own, largest;
            logic signed [GROUP_W-1:0] products;
            logic signed [C_W-1:0] c_value;
            logic signed [W-1:0] total;
            assign largest = (own > c_expo) ? own : c_expo;
            gb_aligned_group #(.LANES(LANES), .SIG_W(SIG_W), .FRAC(FRAC), .BITS(BITS), .ROUND(ALIGN_ROUND)) u_group (
                .keep(keep), .negative(negative), .sig(sig), .expo(expo), .largest(largest), .own(own),
                .total(products), .cut(cuts[0]), .vanished(gone[0])
            );
            gb_aligned_term #(.SIG_W(R_FRAC + 1), .FRAC(R_FRAC), .BITS(BITS), .ROUND(ALIGN_ROUND)) u_term (
                .negative(c_negative), .sig(c_sig), .expo(c_expo), .largest(largest), .value(c_value), .cut(c_cut),
                .vanished(c_gone)
            );
            assign total   = W'(products) + W'(c_value);
            assign cuts[1] = 1'b0;
            assign gone[1] = 1'b0;
            assign beyond  = '0;
            gb_aligned_encode #(
                .W(W), .BITS(BITS), .EXP(R_EXP), .FRAC(R_FRAC), .BIAS(R_BIAS), .SPECIALS(R_SPECIALS),
                .ROUND(RESULT_ROUND), .NEGATIVE_ZERO(NEGATIVE_ZERO)
            ) u_encode (
                .total(total), .expo(largest), .code(finite)
            );
        end else begin : g_apart
            // The sum of the products, in units of 2^(own - BITS).
            localparam int JOINED_W = GROUP_W + 1;
            logic signed [11:0] own, largest;
            logic signed [JOINED_W-1:0] products;
            if (INTERLEAVED != 0) begin : g_interleaved
                logic [LANES-1:0] even;
                logic signed [11:0] even_own, odd_own;
                logic signed [GROUP_W-1:0] even_total, odd_total, even_cut, odd_cut;
                int i;
                always_comb for (i = 0; i < LANES; i = i + 1) even[i] = (i % 2 == 0);
                gb_aligned_group #(.LANES(LANES), .SIG_W(SIG_W), .FRAC(FRAC), .BITS(BITS), .ROUND(ALIGN_ROUND)) u_even (
                    .keep(keep & even), .negative(negative), .sig(sig), .expo(expo), .largest(even_own),
                    .own(even_own), .total(even_total), .cut(cuts[0]), .vanished(gone[0])
                );
                gb_aligned_group #(.LANES(LANES), .SIG_W(SIG_W), .FRAC(FRAC), .BITS(BITS), .ROUND(ALIGN_ROUND)) u_odd (
                    .keep(keep & ~even), .negative(negative), .sig(sig), .expo(expo), .largest(odd_own),
                    .own(odd_own), .total(odd_total), .cut(cuts[1]), .vanished(gone[1])
                );
                assign own      = (even_own > odd_own) ? even_own : odd_own;
                assign even_cut = even_total >>> 12'(own - even_own);
                assign odd_cut  = odd_total >>> 12'(own - odd_own);
                assign products = JOINED_W'(even_cut) + JOINED_W'(odd_cut);
            end else begin : g_together
                logic signed [GROUP_W-1:0] total;
                gb_aligned_group #(.LANES(LANES), .SIG_W(SIG_W), .FRAC(FRAC), .BITS(BITS), .ROUND(ALIGN_ROUND)) u_group (
                    .keep(keep), .negative(negative), .sig(sig), .expo(expo), .largest(own), .own(own), .total(total),
                    .cut(cuts[0]), .vanished(gone[0])
                );
                assign products = JOINED_W'(total);
                assign cuts[1]  = 1'b0;
                assign gone[1]  = 1'b0;
            end

            localparam int UP = (SUM_BITS > BITS) ? SUM_BITS - BITS : 0;
            localparam int DOWN = (BITS > SUM_BITS) ? BITS - SUM_BITS : 0;
            localparam int SHIFTED_W = JOINED_W + UP;
            localparam int C_W = ACC_BITS + 3;
            localparam int C_SHIFTED_W = C_W + SUM_BITS - ACC_BITS;
            localparam int W = ((SHIFTED_W > C_SHIFTED_W) ? SHIFTED_W : C_SHIFTED_W) + 1;
            logic near, own_cut, own_gone;
            logic signed [C_W-1:0] c_value;
            logic signed [SHIFTED_W-1:0] shifted;
            logic signed [W-1:0] total;
            assign largest = (own > c_expo) ? own : c_expo;
            assign near    = (REACH == 0) || c_expo >= largest - 12'(REACH);
            gb_aligned_term #(.SIG_W(R_FRAC + 1), .FRAC(R_FRAC), .BITS(ACC_BITS), .ROUND(gb_codes::ROUND_FLOOR)) u_term (
                .negative(c_negative), .sig(c_sig), .expo(c_expo), .largest(largest), .value(c_value), .cut(own_cut),
                .vanished(own_gone)
            );
            assign c_cut   = near && own_cut;
            assign c_gone  = near && own_gone;
            assign shifted = (SHIFTED_W'(products) <<< UP) >>> (12'(largest - own) + 12'(DOWN));
            assign total   = W'(shifted) + (near ? W'(c_value) <<< (SUM_BITS - ACC_BITS) : '0);
            // Products from 2^128 on.
            int lane, place;
            always_comb begin
                beyond = '0;
                for (lane = 0; lane < LANES; lane = lane + 1)
                    for (place = 0; place < SIG_W; place = place + 1)
                        if (sig[lane*SIG_W+place] && $signed(expo[lane*12+:12]) >= 12'(128 + FRAC - place))
                            beyond[lane] = 1'b1;
            end
            gb_aligned_encode #(
                .W(W), .BITS(SUM_BITS), .EXP(R_EXP), .FRAC(R_FRAC), .BIAS(R_BIAS), .SPECIALS(R_SPECIALS),
                .ROUND(RESULT_ROUND), .NEGATIVE_ZERO(NEGATIVE_ZERO)
            ) u_encode (
                .total(total), .expo(largest), .code(finite)
            );
        end
    endgenerate

    // What is not finite: a NaN, or infinities of both signs; one infinity.
    logic any_nan, up, down, up_beyond, down_beyond, up_any, down_any;
    assign any_nan     = c_nan || (keep & nan) != 0;
    assign up          = (c_inf && !c_negative) || (keep & inf & ~negative) != 0;
    assign down        = (c_inf && c_negative) || (keep & inf & negative) != 0;
    assign up_beyond   = (keep & beyond & ~negative) != 0;
    assign down_beyond = (keep & beyond & negative) != 0;
    assign up_any      = up || (!down && up_beyond);
    assign down_any    = down || (!up && down_beyond);

    logic [R_EXP+R_FRAC:0] infinite;
    gb_aligned_beyond #(.EXP(R_EXP), .FRAC(R_FRAC), .SPECIALS(R_SPECIALS)) u_infinite (
        .negative(down_any), .code(infinite)
    );
    logic special;
    assign special  = any_nan || up_any || down_any;
    assign code     = (any_nan || (up_any && down_any)) ? NAN : special ? infinite : finite;
    assign cut      = !special && (cuts != 0 || c_cut);
    assign vanished = !special && (gone != 0 || c_gone);
endmodule
