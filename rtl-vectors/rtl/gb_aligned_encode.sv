// The code of `total * 2^(expo - BITS)`, rounded by ROUND. Combinational.
//
// A number beyond the largest finite one becomes infinity, or NaN in a format without, or the largest in one with
// neither. NEGATIVE_ZERO: whether a negative number that rounds to zero is -0.
module gb_aligned_encode #(
    parameter int W = 24,
    parameter int BITS = 13,
    parameter int EXP = 8,
    parameter int FRAC = 23,
    parameter int BIAS = 127,
    parameter int SPECIALS = gb_aligned_codes::IEEE,
    parameter int ROUND = gb_codes::ROUND_TOWARD_ZERO,
    parameter int NEGATIVE_ZERO = 0
) (
    input  logic signed [     W-1:0] total,
    input  logic signed [      11:0] expo,
    output logic        [EXP+FRAC:0] code
);
    localparam int CODE_W = EXP + FRAC + 1;
    // The code below the sign, with an exponent that is not limited yet.
    localparam int WIDE_W = 12 + FRAC + 1;
    localparam logic [CODE_W-2:0] ONES = {(CODE_W - 1) {1'b1}};
    localparam logic [CODE_W-2:0] LARGEST = (SPECIALS == gb_aligned_codes::IEEE) ? ONES - (CODE_W - 1)'(1 << FRAC)
                                          : (SPECIALS == gb_aligned_codes::LAST_IS_NAN) ? ONES - (CODE_W - 1)'(1) : ONES;
    localparam logic signed [11:0] LEAST = 12'(1 - BIAS);

    logic negative;
    logic [W-1:0] magnitude;
    assign negative  = total[W-1];
    assign magnitude = negative ? -total : total;

    // The leading bit's place.
    int i;
    logic [11:0] top;
    always_comb begin
        top = 12'd0;
        for (i = 0; i < W; i = i + 1) if (magnitude[i]) top = 12'(i);
    end
    logic signed [11:0] leading;
    assign leading = expo - 12'(BITS) + $signed(top);

    // A subnormal has the least exponent: it moves right by `below`.
    localparam int FAR = FRAC + 2;
    localparam int SHIFT_W = $clog2(FAR + 1);
    logic is_subnormal;
    logic [11:0] below;
    logic [SHIFT_W-1:0] shift;
    assign is_subnormal = leading < LEAST;
    assign below        = 12'(LEAST - leading);
    assign shift        = !is_subnormal ? '0 : (below > 12'(FAR)) ? SHIFT_W'(FAR) : SHIFT_W'(below);

    logic [W-1:0] normal;
    logic [W+FAR:0] wide;
    assign normal = magnitude << (12'(W - 1) - top);
    assign wide   = {normal, {(FAR + 1) {1'b0}}} >> shift;
    logic [FRAC:0] kept;
    logic up;
    assign kept = wide[W+FAR-:FRAC+1];
    gb_aligned_round #(.ROUND(ROUND)) u_round (
        .negative(negative), .odd(kept[0]), .guard(wide[W+FAR-FRAC-1]), .sticky(wide[W+FAR-FRAC-2:0] != 0), .up(up)
    );

    // The leading bit of a normal number adds 1 to the exponent, and so does a carry.
    logic [11:0] steps;
    logic [WIDE_W-1:0] below_sign;
    assign steps      = is_subnormal ? 12'd0 : 12'(leading - LEAST);
    assign below_sign = {1'b0, steps, {FRAC{1'b0}}} + WIDE_W'(kept) + WIDE_W'(up);

    logic [CODE_W-1:0] finite, beyond;
    gb_aligned_beyond #(.EXP(EXP), .FRAC(FRAC), .SPECIALS(SPECIALS)) u_beyond (.negative(negative), .code(beyond));
    localparam int IS_SIGNED = (NEGATIVE_ZERO != 0 && SPECIALS != gb_aligned_codes::NEGATIVE_ZERO_IS_NAN) ? 1 : 0;
    assign finite = {negative && (IS_SIGNED != 0 || below_sign != 0), below_sign[CODE_W-2:0]};
    assign code   = (magnitude == 0) ? '0 : (below_sign > WIDE_W'(LARGEST)) ? beyond : finite;
endmodule
