// One term, `sig * 2^(expo - FRAC)`, in units of `2^(largest - BITS)`, rounded by ROUND. Combinational.
//
// `largest` is at least `expo`. `cut`: bits were lost; `vanished`: a nonzero term left only bits that were lost.
module gb_aligned_term #(
    parameter int SIG_W = 8,
    parameter int FRAC = 6,
    parameter int BITS = 13,
    parameter int ROUND = gb_codes::ROUND_TOWARD_ZERO
) (
    input  logic                              negative,
    input  logic        [          SIG_W-1:0] sig,
    input  logic signed [               11:0] expo,
    input  logic signed [               11:0] largest,
    output logic signed [SIG_W-FRAC+BITS+1:0] value,
    output logic                              cut,
    output logic                              vanished
);
    localparam int LEFT = (BITS > FRAC) ? BITS - FRAC : 0;
    localparam int RIGHT = (FRAC > BITS) ? FRAC - BITS : 0;
    localparam int W = SIG_W + LEFT;
    localparam int OUT_W = SIG_W - FRAC + BITS + 2;
    // Any greater distance drops every bit, too.
    localparam int FAR = W + 1;
    localparam int SHIFT_W = $clog2(FAR + 1);

    logic [11:0] distance;
    logic [SHIFT_W-1:0] shift;
    assign distance = 12'(largest - expo) + 12'(RIGHT);
    assign shift    = (distance > 12'(FAR)) ? SHIFT_W'(FAR) : SHIFT_W'(distance);

    logic [2*W:0] wide;
    assign wide = {sig, {(LEFT + W + 1) {1'b0}}} >> shift;
    // Bits above the value's are 0.
    /* verilator lint_off UNUSEDSIGNAL */
    logic [W-1:0] kept;
    /* verilator lint_on UNUSEDSIGNAL */
    logic guard, sticky, up;
    assign kept   = wide[2*W:W+1];
    assign guard  = wide[W];
    assign sticky = wide[W-1:0] != 0;
    gb_aligned_round #(.ROUND(ROUND)) u_round (
        .negative(negative), .odd(kept[0]), .guard(guard), .sticky(sticky), .up(up)
    );

    logic [OUT_W-1:0] magnitude;
    assign magnitude = OUT_W'(kept) + OUT_W'(up);
    assign value     = negative ? -$signed(magnitude) : $signed(magnitude);
    assign cut       = guard || sticky;
    assign vanished  = (guard || sticky) && kept == 0;
endmodule
