// The float32 sum of `total`, a float32, and the accumulator, to nearest even. Combinational.
module gb_aligned_promote #(
    parameter int EXP = 8,
    parameter int FRAC = 13,
    parameter int BIAS = 127,
    parameter int SPECIALS = gb_aligned_codes::IEEE
) (
    input  logic [      31:0] total,
    input  logic [EXP+FRAC:0] acc,
    output logic [      31:0] sum
);
    logic a_negative, a_inf, a_nan, t_negative, t_inf, t_nan;
    logic [FRAC:0] a_code_sig;
    logic [23:0] a_sig, t_sig;
    logic signed [11:0] a_code_expo, a_expo, t_expo;
    gb_aligned_decode #(.EXP(EXP), .FRAC(FRAC), .BIAS(BIAS), .SPECIALS(SPECIALS)) u_acc (
        .code(acc), .negative(a_negative), .sig(a_code_sig), .expo(a_code_expo), .inf(a_inf), .nan(a_nan)
    );
    gb_aligned_decode #(.EXP(8), .FRAC(23), .BIAS(127), .SPECIALS(gb_aligned_codes::IEEE)) u_total (
        .code(total), .negative(t_negative), .sig(t_sig), .expo(t_expo), .inf(t_inf), .nan(t_nan)
    );
    generate
        if (EXP < 8) begin : g_normalize
            // A subnormal is a normal float32.
            int i;
            logic [11:0] zeros;
            always_comb begin
                zeros = 12'd0;
                for (i = 0; i <= FRAC; i = i + 1) if (a_code_sig[i]) zeros = 12'(FRAC - i);
            end
            assign a_sig  = {a_code_sig, {(23 - FRAC) {1'b0}}} << zeros;
            assign a_expo = a_code_expo - $signed(zeros);
        end else begin : g_same
            assign a_sig  = 24'({a_code_sig, 23'd0} >> FRAC);
            assign a_expo = a_code_expo;
        end
    endgenerate

    // Three more bits, the last of which says whether any bit below is 1.
    logic signed [11:0] largest;
    logic [11:0] a_far, t_far;
    logic [4:0] a_shift, t_shift;
    logic [53:0] a_wide, t_wide;
    logic [26:0] a_kept, t_kept;
    assign largest = (a_expo > t_expo) ? a_expo : t_expo;
    assign a_far   = 12'(largest - a_expo);
    assign t_far   = 12'(largest - t_expo);
    assign a_shift = (a_far > 12'd27) ? 5'd27 : 5'(a_far);
    assign t_shift = (t_far > 12'd27) ? 5'd27 : 5'(t_far);
    assign a_wide  = {a_sig, 30'd0} >> a_shift;
    assign t_wide  = {t_sig, 30'd0} >> t_shift;
    assign a_kept  = {a_wide[53:28], a_wide[27:0] != 0};
    assign t_kept  = {t_wide[53:28], t_wide[27:0] != 0};

    logic signed [28:0] a_value, t_value, both;
    logic [31:0] finite;
    assign a_value = a_negative ? -$signed({2'b00, a_kept}) : $signed({2'b00, a_kept});
    assign t_value = t_negative ? -$signed({2'b00, t_kept}) : $signed({2'b00, t_kept});
    assign both    = a_value + t_value;
    gb_aligned_encode #(.W(29), .BITS(26), .ROUND(gb_codes::ROUND_HALF_EVEN)) u_encode (
        .total(both), .expo(largest), .code(finite)
    );

    logic nan, inf, negative;
    assign nan      = a_nan || t_nan || (a_inf && t_inf && a_negative != t_negative);
    assign inf      = a_inf || t_inf;
    assign negative = a_inf ? a_negative : t_negative;
    assign sum      = nan ? 32'h7fc00000 : inf ? {negative, 8'hff, 23'd0} : finite;
endmodule
