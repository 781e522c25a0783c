// The exact product of two codes: `sig * 2^(expo - A_FRAC - B_FRAC)`. Combinational.
module gb_aligned_product #(
    parameter int A_EXP = 4,
    parameter int A_FRAC = 3,
    parameter int A_BIAS = 7,
    parameter int A_SPECIALS = gb_aligned_codes::LAST_IS_NAN,
    parameter int B_EXP = 4,
    parameter int B_FRAC = 3,
    parameter int B_BIAS = 7,
    parameter int B_SPECIALS = gb_aligned_codes::LAST_IS_NAN
) (
    input  logic        [  A_EXP+A_FRAC:0] a,
    input  logic        [  B_EXP+B_FRAC:0] b,
    output logic                           negative,
    output logic        [A_FRAC+B_FRAC+1:0] sig,
    output logic signed [            11:0] expo,
    output logic                           inf,
    output logic                           nan
);
    localparam int SIG_W = A_FRAC + B_FRAC + 2;

    logic a_negative, b_negative, a_inf, b_inf, a_nan, b_nan;
    logic [A_FRAC:0] a_sig;
    logic [B_FRAC:0] b_sig;
    logic signed [11:0] a_expo, b_expo;
    gb_aligned_decode #(.EXP(A_EXP), .FRAC(A_FRAC), .BIAS(A_BIAS), .SPECIALS(A_SPECIALS)) u_a (
        .code(a), .negative(a_negative), .sig(a_sig), .expo(a_expo), .inf(a_inf), .nan(a_nan)
    );
    gb_aligned_decode #(.EXP(B_EXP), .FRAC(B_FRAC), .BIAS(B_BIAS), .SPECIALS(B_SPECIALS)) u_b (
        .code(b), .negative(b_negative), .sig(b_sig), .expo(b_expo), .inf(b_inf), .nan(b_nan)
    );
    assign negative = a_negative ^ b_negative;
    assign sig      = SIG_W'(a_sig) * SIG_W'(b_sig);
    assign expo     = a_expo + b_expo;
    // Zero times infinity.
    assign nan = a_nan || b_nan || (a_inf && b_sig == 0) || (b_inf && a_sig == 0);
    assign inf = a_inf || b_inf;
endmodule
