// One accumulation level of any kind: the module of its kind, all of which have these parameters and ports.
// Made by rtl-vectors/src/hdl/codes.rs from guardbit's enums.
//
// clear: the run starts anew with this value, from init. run_last: it ends with this value; y is what the next level gets
// then. keep: lanes in use, from lane 0 on. acc, high, low and sticky are registered; updated says when they are new.
module gb_reduce #(
    parameter int REDUCE = gb_codes::REDUCE_SERIAL,
    parameter int LANES = 1,
    parameter int IN_W = 17,
    parameter int ACC_W = 14,
    parameter int BITS = 14,
    parameter int IS_SIGNED = 1,
    parameter int MODE = gb_codes::MODE_SATURATE,
    parameter int HAND_OVER = 0,
    parameter int SHIFT = 0,
    parameter int ROUND = gb_codes::ROUND_FLOOR,
    parameter int OUT_W = 14,
    parameter int INIT_W = 2
) (
    input  logic                         clk,
    input  logic                         rst_n,
    input  logic                         clear,
    input  logic                         valid,
    input  logic                         run_last,
    input  logic        [     LANES-1:0] keep,
    input  logic        [LANES*IN_W-1:0] x,
    input  logic signed [    INIT_W-1:0] init,
    output logic signed [     OUT_W-1:0] y,
    output logic signed [     ACC_W-1:0] acc,
    output logic                         updated,
    output logic                         high,
    output logic                         low,
    output logic                         sticky
);
    generate
        if (REDUCE == gb_codes::REDUCE_SERIAL) begin : g_serial
            gb_level #(
                .LANES(LANES), .IN_W(IN_W), .ACC_W(ACC_W), .BITS(BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE),
                .HAND_OVER(HAND_OVER), .SHIFT(SHIFT), .ROUND(ROUND), .OUT_W(OUT_W), .INIT_W(INIT_W)
            ) u_level (
                .clk(clk), .rst_n(rst_n), .clear(clear), .valid(valid), .run_last(run_last), .keep(keep), .x(x),
                .init(init), .y(y), .acc(acc), .updated(updated), .high(high), .low(low), .sticky(sticky)
            );
        end else if (REDUCE == gb_codes::REDUCE_TREE) begin : g_tree
            gb_tree #(
                .LANES(LANES), .IN_W(IN_W), .ACC_W(ACC_W), .BITS(BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE),
                .HAND_OVER(HAND_OVER), .SHIFT(SHIFT), .ROUND(ROUND), .OUT_W(OUT_W), .INIT_W(INIT_W)
            ) u_level (
                .clk(clk), .rst_n(rst_n), .clear(clear), .valid(valid), .run_last(run_last), .keep(keep), .x(x),
                .init(init), .y(y), .acc(acc), .updated(updated), .high(high), .low(low), .sticky(sticky)
            );
        end else begin : g_unknown
            assign y = 'x;
            assign acc = 'x;
            assign updated = 'x;
            assign high = 'x;
            assign low = 'x;
            assign sticky = 'x;
`ifndef SYNTHESIS
            initial $fatal(1, "there is no kind of level %0d", REDUCE);
`endif
        end
    endgenerate
endmodule
