// Rounds an unsigned integer to BITS significant bits, ties to even: its value as a float64 (53 bits) or float32 (24
// bits) of IEEE 754. Combinational.
module gb_float #(
    parameter int W = 116,
    parameter int BITS = 53
) (
    input  logic [W-1:0] x,
    output logic [W-1:0] y
);
    generate
        if (W <= BITS) begin : g_exact
            assign y = x;
        end else begin : g_round
            // Every bit from the leading one down.
            logic [W-1:0] by1, by2, by4, by8, by16, by32, by64;
            assign by1  = x | (x >> 1);
            assign by2  = by1 | (by1 >> 2);
            assign by4  = by2 | (by2 >> 4);
            assign by8  = by4 | (by4 >> 8);
            assign by16 = by8 | (by8 >> 16);
            assign by32 = by16 | (by16 >> 32);
            assign by64 = by32 | (by32 >> 64);

            // Of these, all below the BITS-th are dropped; unit is the last one that stays.
            logic [W-1:0] dropped, half, rest, unit;
            logic up;
            assign dropped = by64 >> BITS;
            assign half    = dropped ^ (dropped >> 1);
            assign unit    = dropped + {{(W - 1) {1'b0}}, 1'b1};
            assign rest    = x & dropped;
            assign up      = (dropped != 0) && ((rest > half) || (rest == half && (x & unit) != 0));
            assign y       = (x & ~dropped) + (up ? unit : {W{1'b0}});
        end
    endgenerate
endmodule
