// What the modules of floating-point accumulators share.
package gb_aligned_codes;
    // No module needs them all.
    /* verilator lint_off UNUSEDPARAM */

    // Codes of a format that are not finite.
    localparam int IEEE = 0; // the largest exponent: infinity (fraction 0) and NaN
    localparam int LAST_IS_NAN = 1; // all bits below the sign 1: NaN; no infinity
    localparam int NEGATIVE_ZERO_IS_NAN = 2; // no infinity and no negative zero
    localparam int NO_SPECIALS = 3; // every code is finite

    // The exponent with which a zero takes part in the choice of the largest one.
    localparam int ZERO_EXPO = -126;

    /* verilator lint_on UNUSEDPARAM */
endpackage
