// A term of products that share the scales of their blocks: `term_sig * 2^(term_expo - TERM_FRAC)`. Combinational.
//
// EXACT 0: one product, whose exponent those of the scales are added to. EXACT 1: the exact sum of GROUP products of
// finite codes, whose exponent is 0, times the scales. LEAST is the least exponent of a product that is not zero, RAISE
// the distance to the largest one.
module gb_aligned_block #(
    parameter int EXACT = 0,
    parameter int GROUP = 1,
    parameter int SIG_W = 8,
    parameter int LEAST = -12,
    parameter int RAISE = 29,
    parameter int SA_EXP = 8,
    parameter int SA_FRAC = 0,
    parameter int SA_BIAS = 127,
    parameter int SB_EXP = 8,
    parameter int SB_FRAC = 0,
    parameter int SB_BIAS = 127,
    parameter int TERM_SIG_W = SIG_W
) (
    // One product needs no sum.
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic        [         GROUP-1:0] keep,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic        [         GROUP-1:0] negative,
    input  logic        [   GROUP*SIG_W-1:0] sig,
    input  logic        [      GROUP*12-1:0] expo,
    // A sum is finite.
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic        [         GROUP-1:0] inf,
    input  logic        [         GROUP-1:0] nan,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic        [SA_EXP+SA_FRAC-1:0] sa,
    input  logic        [SB_EXP+SB_FRAC-1:0] sb,
    output logic                             term_negative,
    output logic        [    TERM_SIG_W-1:0] term_sig,
    output logic signed [              11:0] term_expo,
    output logic                             term_inf,
    output logic                             term_nan
);
    logic [SA_FRAC:0] sa_sig;
    logic [SB_FRAC:0] sb_sig;
    logic signed [11:0] sa_expo, sb_expo, own;
    logic sa_nan, sb_nan, scale_nan;
    gb_aligned_scale #(.EXP(SA_EXP), .FRAC(SA_FRAC), .BIAS(SA_BIAS)) u_sa (
        .code(sa), .sig(sa_sig), .expo(sa_expo), .nan(sa_nan)
    );
    gb_aligned_scale #(.EXP(SB_EXP), .FRAC(SB_FRAC), .BIAS(SB_BIAS)) u_sb (
        .code(sb), .sig(sb_sig), .expo(sb_expo), .nan(sb_nan)
    );

    assign scale_nan = sa_nan || sb_nan;

    logic [TERM_SIG_W-1:0] own_sig;
    generate
        if (EXACT == 0) begin : g_product
            assign own_sig       = TERM_SIG_W'(sig);
            assign own           = $signed(expo[11:0]);
            assign term_negative = negative[0];
            assign term_inf      = inf[0];
            assign term_nan      = nan[0] || scale_nan;
        end else begin : g_sum
            localparam int VALUE_W = SIG_W + RAISE;
            localparam int SUM_W = VALUE_W + $clog2(GROUP) + 1;
            // Products in units of the last bit that one can have.
            logic [GROUP*VALUE_W-1:0] value;
            logic signed [SUM_W-1:0] total;
            logic [SUM_W-1:0] magnitude;
            genvar lane;
            for (lane = 0; lane < GROUP; lane = lane + 1) begin : g_value
                assign value[lane*VALUE_W+:VALUE_W] =
                    VALUE_W'(sig[lane*SIG_W+:SIG_W]) << 12'($signed(expo[lane*12+:12]) - 12'(LEAST));
            end
            int i;
            always_comb begin
                total = '0;
                for (i = 0; i < GROUP; i = i + 1)
                    if (keep[i] && negative[i]) total = total - $signed(SUM_W'(value[i*VALUE_W+:VALUE_W]));
                    else if (keep[i]) total = total + $signed(SUM_W'(value[i*VALUE_W+:VALUE_W]));
            end
            assign term_negative = total[SUM_W-1];
            assign magnitude     = term_negative ? -total : total;
            assign own_sig       = TERM_SIG_W'(magnitude);
            assign own           = 12'sd0;
            assign term_inf      = 1'b0;
            assign term_nan      = scale_nan;
        end
    endgenerate
    assign term_sig  = own_sig * TERM_SIG_W'(sa_sig) * TERM_SIG_W'(sb_sig);
    assign term_expo = own + sa_expo + sb_expo;
endmodule
