// Whether a magnitude is rounded up. Combinational.
//
// ROUND: how the signed number is rounded, by gb_codes. `odd`: the last bit that is kept; `guard`: the first one that is
// dropped; `sticky`: whether any other is 1.
module gb_aligned_round #(
    parameter int ROUND = gb_codes::ROUND_TOWARD_ZERO
) (
    // No rounding needs them all.
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic negative,
    input  logic odd,
    input  logic guard,
    input  logic sticky,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic up
);
    logic tie_up;
    assign tie_up = (ROUND == gb_codes::ROUND_HALF_UP) ? !negative
                  : (ROUND == gb_codes::ROUND_HALF_DOWN) ? negative
                  : (ROUND == gb_codes::ROUND_HALF_AWAY) ? 1'b1
                  : (ROUND == gb_codes::ROUND_HALF_TO_ZERO) ? 1'b0
                  : (ROUND == gb_codes::ROUND_HALF_EVEN) ? odd
                  : (ROUND == gb_codes::ROUND_HALF_ODD) ? !odd
                  : 1'bx;
    assign up = (ROUND == gb_codes::ROUND_FLOOR) ? negative && (guard || sticky)
              : (ROUND == gb_codes::ROUND_TOWARD_ZERO) ? 1'b0
              : guard && (sticky || tie_up);
endmodule
