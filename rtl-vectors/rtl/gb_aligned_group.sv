// The sum of products, each cut to BITS below the largest exponent. Combinational.
//
// `own` is the largest exponent of the products; the products are aligned to `largest`, which is at least `own`.
module gb_aligned_group #(
    parameter int LANES = 4,
    parameter int SIG_W = 8,
    parameter int FRAC = 6,
    parameter int BITS = 13,
    parameter int ROUND = gb_codes::ROUND_TOWARD_ZERO,
    parameter int SUM_W = SIG_W - FRAC + BITS + 2 + $clog2(LANES)
) (
    input  logic        [      LANES-1:0] keep,
    input  logic        [      LANES-1:0] negative,
    input  logic        [LANES*SIG_W-1:0] sig,
    input  logic        [   LANES*12-1:0] expo,
    input  logic signed [           11:0] largest,
    output logic signed [           11:0] own,
    output logic signed [      SUM_W-1:0] total,
    output logic                          cut,
    output logic                          vanished
);
    localparam int VALUE_W = SIG_W - FRAC + BITS + 2;

    int i;
    always_comb begin
        own = -12'sd2048;
        for (i = 0; i < LANES; i = i + 1)
            if (keep[i] && $signed(expo[i*12+:12]) > own) own = $signed(expo[i*12+:12]);
        if (keep == 0) own = 12'(gb_aligned_codes::ZERO_EXPO);
    end

    logic [LANES*VALUE_W-1:0] value;
    logic [LANES-1:0] cuts, gone;
    genvar lane;
    generate
        for (lane = 0; lane < LANES; lane = lane + 1) begin : g_term
            gb_aligned_term #(.SIG_W(SIG_W), .FRAC(FRAC), .BITS(BITS), .ROUND(ROUND)) u_term (
                .negative(negative[lane]), .sig(sig[lane*SIG_W+:SIG_W]), .expo($signed(expo[lane*12+:12])),
                .largest(largest), .value(value[lane*VALUE_W+:VALUE_W]), .cut(cuts[lane]), .vanished(gone[lane])
            );
        end
    endgenerate
    assign cut      = (cuts & keep) != 0;
    assign vanished = (gone & keep) != 0;

    int k;
    always_comb begin
        total = 0;
        for (k = 0; k < LANES; k = k + 1)
            if (keep[k]) total = total + SUM_W'($signed(value[k*VALUE_W+:VALUE_W]));
    end
endmodule
