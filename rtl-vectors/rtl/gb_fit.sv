// Fits an exact value to a register of BITS bits. Combinational.
//
// MODE: the overflow mode, by gb_codes. A sticky one saturates here; the register behind it remembers. BITS = 0:
// everything passes.
// high and low: the exact value lies above or below what the register can hold.
module gb_fit #(
    parameter int IN_W = 16,
    parameter int OUT_W = 14,
    parameter int BITS = 14,
    parameter int IS_SIGNED = 1,
    parameter int MODE = gb_codes::MODE_SATURATE
) (
    input  logic signed [ IN_W-1:0] x,
    output logic signed [OUT_W-1:0] y,
    output logic                    high,
    output logic                    low
);
    localparam int MAX_W = (IN_W > OUT_W) ? IN_W : OUT_W;
    localparam int W = ((MAX_W > BITS) ? MAX_W : BITS) + 2;

    // Its bits above the result's do not matter where the result fits.
    /* verilator lint_off UNUSEDSIGNAL */
    logic signed [W-1:0] wide;
    /* verilator lint_on UNUSEDSIGNAL */
    assign wide = {{(W - IN_W) {x[IN_W-1]}}, x};

    generate
        if (BITS == 0) begin : g_pass
            assign high = 1'b0;
            assign low  = 1'b0;
            assign y    = wide[OUT_W-1:0];
        end else begin : g_fit
            localparam int TOP = (IS_SIGNED != 0) ? BITS - 1 : BITS;
            localparam logic signed [W-1:0] ONE = 1;
            localparam logic signed [W-1:0] MAX = (ONE <<< TOP) - ONE;
            localparam logic signed [W-1:0] MIN = (IS_SIGNED == 0) ? (ONE - ONE) : gb_codes::SYMMETRIC[MODE] ? -MAX : -MAX - ONE;

            logic signed [W-1:0] wrapped;
            logic signed [W-1:0] rail;
            logic signed [W-1:0] beyond;
            if (IS_SIGNED != 0) begin : g_signed
                assign wrapped = {{(W - BITS) {wide[BITS-1]}}, wide[BITS-1:0]};
            end else begin : g_unsigned
                assign wrapped = {{(W - BITS) {1'b0}}, wide[BITS-1:0]};
            end

            assign high = wide > MAX;
            assign low  = wide < MIN;
            assign rail = high ? MAX : MIN;
            gb_overflow #(.W(W), .MODE(MODE)) u_overflow (
                .exact(wide), .wrapped(wrapped), .rail(rail), .min(MIN), .max(MAX), .y(beyond)
            );
            /* verilator lint_off UNUSEDSIGNAL */
            logic signed [W-1:0] held;
            /* verilator lint_on UNUSEDSIGNAL */
            assign held = (high || low) ? beyond : wide;
            assign y = held[OUT_W-1:0];
        end
    endgenerate
endmodule
