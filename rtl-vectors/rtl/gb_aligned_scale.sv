// The scale of a block: `sig * 2^(expo - FRAC)`, or NaN. Combinational.
//
// FRAC 0: a power of two, as of OCP microscaling; it has no zero, and its last code is NaN. Otherwise a floating-point
// number without a sign, as of NVFP4.
module gb_aligned_scale #(
    parameter int EXP = 8,
    parameter int FRAC = 0,
    parameter int BIAS = 127
) (
    input  logic        [EXP+FRAC-1:0] code,
    output logic        [      FRAC:0] sig,
    output logic signed [        11:0] expo,
    output logic                       nan
);
    generate
        if (FRAC == 0) begin : g_power
            assign sig  = 1'b1;
            assign expo = $signed(12'(code)) - 12'(BIAS);
            assign nan  = &code;
        end else begin : g_number
            /* verilator lint_off UNUSEDSIGNAL */
            logic negative, inf;
            /* verilator lint_on UNUSEDSIGNAL */
            gb_aligned_decode #(
                .EXP(EXP), .FRAC(FRAC), .BIAS(BIAS), .SPECIALS(gb_aligned_codes::LAST_IS_NAN)
            ) u_decode (
                .code({1'b0, code}), .negative(negative), .sig(sig), .expo(expo), .inf(inf), .nan(nan)
            );
        end
    endgenerate
endmodule
