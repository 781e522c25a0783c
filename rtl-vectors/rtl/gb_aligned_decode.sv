// Takes a floating-point code apart: the value is `sig * 2^(expo - FRAC)`. Combinational.
//
// SPECIALS: the codes that are not finite, by gb_aligned_codes. `expo` is the place of a normal significand's leading
// bit; a subnormal has the least one, and a zero -126 in every format.
module gb_aligned_decode #(
    parameter int EXP = 4,
    parameter int FRAC = 3,
    parameter int BIAS = 7,
    parameter int SPECIALS = gb_aligned_codes::LAST_IS_NAN
) (
    input  logic        [EXP+FRAC:0] code,
    output logic                     negative,
    output logic        [    FRAC:0] sig,
    output logic signed [      11:0] expo,
    output logic                     inf,
    output logic                     nan
);
    localparam logic signed [11:0] LEAST = 12'(1 - BIAS);
    localparam logic signed [11:0] ZERO = 12'(gb_aligned_codes::ZERO_EXPO);

    logic sign;
    logic [EXP-1:0] field;
    logic [FRAC-1:0] fraction;
    assign {sign, field, fraction} = code;
    assign negative = sign;
    assign sig      = {field != 0, fraction};
    assign expo     = (sig == 0) ? ZERO : (field == 0) ? LEAST : $signed(12'(field)) + LEAST - 12'sd1;

    assign inf = (SPECIALS == gb_aligned_codes::IEEE) && (&field) && fraction == 0;
    assign nan = (SPECIALS == gb_aligned_codes::IEEE) ? (&field) && fraction != 0
               : (SPECIALS == gb_aligned_codes::LAST_IS_NAN) ? (&field) && (&fraction)
               : (SPECIALS == gb_aligned_codes::NEGATIVE_ZERO_IS_NAN) ? sign && field == 0 && fraction == 0
               : 1'b0;
endmodule
