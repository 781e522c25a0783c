// From a sum to an output code: round(x * multiplier) + zero point, clamped. Combinational.
//
// SCHEME, by gb_codes: double (TensorFlow Lite, gemmlowp: two roundings in 32 bits), single (one rounding, half up),
// away (one rounding, half away from zero): the multiplier is mult * 2^(expo - 31), MULT_W = 32.
// even (ONNX Runtime): the multiplier is the float32 mult * 2^(expo - 31), MULT_W = 32; float64_away (LiteRT's fully
// connected layers): it is the float64 mult * 2^(expo - 53), MULT_W = 54. In both, expo is from -64 to 30. Sum and product
// are rounded to a float of that size each, the product then to an integer: half to even, or half away from zero. IN_W is
// at most 62.
// Any other scheme is not here: the code is 0.
module gb_requant #(
    parameter int IN_W = 32,
    parameter int OUT_W = 8,
    parameter int MULT_W = 32,
    parameter int SCHEME = gb_codes::SCHEME_DOUBLE,
    parameter logic signed [31:0] ZERO_POINT = 0,
    parameter logic signed [31:0] CLAMP_MIN = -128,
    parameter logic signed [31:0] CLAMP_MAX = 127
) (
    input  logic signed [  IN_W-1:0] x,
    input  logic signed [MULT_W-1:0] mult,
    input  logic signed [       7:0] expo,
    output logic signed [ OUT_W-1:0] code
);
    localparam int W = 128;
    localparam logic signed [W-1:0] ONE = 1;

    logic signed [W-1:0] wide_mult, scaled;
    // Not every scheme multiplies it as it is.
    /* verilator lint_off UNUSEDSIGNAL */
    logic signed [W-1:0] wide_x;
    /* verilator lint_on UNUSEDSIGNAL */
    assign wide_x    = {{(W - IN_W) {x[IN_W-1]}}, x};
    assign wide_mult = {{(W - MULT_W) {mult[MULT_W-1]}}, mult};

    generate
        if (SCHEME == gb_codes::SCHEME_DOUBLE) begin : g_double
            logic [7:0] left, right;
            logic signed [W-1:0] low32, product, high_half, adjusted;
            assign left  = expo[7] ? 8'd0 : expo;
            assign right = expo[7] ? -expo : 8'd0;
            // The register before the multiplier has 32 bits and does not saturate.
            /* verilator lint_off UNUSEDSIGNAL */
            logic signed [W-1:0] moved;
            /* verilator lint_on UNUSEDSIGNAL */
            assign moved     = wide_x <<< left;
            assign low32     = {{(W - 32) {moved[31]}}, moved[31:0]};
            assign product   = low32 * wide_mult;
            assign high_half = (product + (ONE <<< 30)) >>> 31;
            assign adjusted  = high_half + ((ONE <<< right) >>> 1) - ((high_half[W-1] && right != 0) ? ONE : (ONE - ONE));
            assign scaled    = adjusted >>> right;
        end else if (SCHEME == gb_codes::SCHEME_FLOAT64_AWAY || SCHEME == gb_codes::SCHEME_EVEN) begin : g_float
            localparam int BITS = (SCHEME == gb_codes::SCHEME_EVEN) ? 24 : 53;
            localparam logic [7:0] POINT = (SCHEME == gb_codes::SCHEME_EVEN) ? 8'd31 : 8'd53;
            // Unsigned: the sign is taken off first, as a float has it.
            logic [7:0] shift;
            logic [IN_W-1:0] size, float_x;
            logic [W-1:0] product, float_product, rounded;
            assign size = x[IN_W-1] ? -x : x;
            gb_float #(.W(IN_W), .BITS(BITS)) u_sum (.x(size), .y(float_x));
            assign product = {{(W - IN_W) {1'b0}}, float_x} * wide_mult;
            gb_float #(.W(W), .BITS(BITS)) u_product (.x(product), .y(float_product));
            assign shift = POINT - expo;
            // Whether a tie rounds down.
            logic tie_down;
            /* verilator lint_off UNUSEDSIGNAL */
            logic [W-1:0] whole;
            /* verilator lint_on UNUSEDSIGNAL */
            assign whole    = float_product >> shift;
            assign tie_down = (SCHEME == gb_codes::SCHEME_EVEN) && !whole[0];
            assign rounded  = (float_product + ((ONE <<< shift) >>> 1) - (tie_down ? ONE : (ONE - ONE))) >> shift;
            assign scaled   = x[IN_W-1] ? -rounded : rounded;
        end else if (SCHEME == gb_codes::SCHEME_SINGLE || SCHEME == gb_codes::SCHEME_AWAY) begin : g_single
            logic [7:0] shift;
            logic signed [W-1:0] product, adjusted;
            assign shift    = 8'd31 - expo;
            assign product  = wide_x * wide_mult;
            assign adjusted = product + ((ONE <<< shift) >>> 1)
                            - ((SCHEME == gb_codes::SCHEME_AWAY && product[W-1]) ? ONE : (ONE - ONE));
            assign scaled   = adjusted >>> shift;
        end else begin : g_none
            assign scaled = {W{1'b0}};
        end
    endgenerate

    localparam logic signed [W-1:0] ZERO = W'(ZERO_POINT);
    localparam logic signed [W-1:0] LEAST = W'(CLAMP_MIN);
    localparam logic signed [W-1:0] GREATEST = W'(CLAMP_MAX);
    logic signed [W-1:0] shifted, low_end, high_end;
    assign low_end  = LEAST;
    assign high_end = GREATEST;
    assign shifted  = scaled + ZERO;
    // It fits the port once it is clamped.
    /* verilator lint_off UNUSEDSIGNAL */
    logic signed [W-1:0] clamped;
    /* verilator lint_on UNUSEDSIGNAL */
    assign clamped  = (shifted < low_end) ? low_end : (shifted > high_end) ? high_end : shifted;
    assign code     = clamped[OUT_W-1:0];
endmodule
