// The code of infinity, and of a number beyond the largest finite one: NaN in a format without infinity, the largest
// finite number in a format with neither. Combinational.
module gb_aligned_beyond #(
    parameter int EXP = 8,
    parameter int FRAC = 23,
    parameter int SPECIALS = gb_aligned_codes::IEEE
) (
    // NaN has no sign.
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic              negative,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic [EXP+FRAC:0] code
);
    localparam logic [EXP-1:0] EXP_ONES = {EXP{1'b1}};
    localparam logic [FRAC-1:0] FRAC_ONES = {FRAC{1'b1}};
    localparam logic [FRAC-1:0] FRAC_ZERO = {FRAC{1'b0}};
    assign code = (SPECIALS == gb_aligned_codes::IEEE) ? {negative, EXP_ONES, FRAC_ZERO}
                : (SPECIALS == gb_aligned_codes::LAST_IS_NAN) ? {1'b0, EXP_ONES, FRAC_ONES}
                : (SPECIALS == gb_aligned_codes::NEGATIVE_ZERO_IS_NAN) ? {1'b1, {EXP{1'b0}}, FRAC_ZERO}
                : {negative, EXP_ONES, FRAC_ONES};
endmodule
