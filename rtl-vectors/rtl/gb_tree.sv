// An adder tree over up to LANES values: adjacent pairs, round after round. The result is registered and handed on.
//
// An odd last value passes up unchanged, whatever its size: a lone value is not a node and is not fitted. Therefore
// nodes and the port behind are OUT_W wide, as wide as the widest value that can pass. With HAND_OVER, nodes are
// exact and the root is fitted once. keep marks the lanes in use, from lane 0 on.
module gb_tree #(
    parameter int LANES = 8,
    parameter int IN_W = 17,
    parameter int BITS = 14,
    parameter int IS_SIGNED = 1,
    parameter int MODE = gb_codes::MODE_SATURATE,
    parameter int HAND_OVER = 0,
    parameter int SHIFT = 0,
    parameter int ROUND = gb_codes::ROUND_FLOOR,
    parameter int OUT_W = 17,
    // Those of other kinds of levels: what the register shows is y, and a run starts from nothing.
    parameter int ACC_W = 17,
    parameter int INIT_W = 2
) (
    input  logic                         clk,
    input  logic                         rst_n,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic                         clear,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic                         valid,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic                         run_last,
    /* verilator lint_on UNUSEDSIGNAL */
    input  logic        [     LANES-1:0] keep,
    input  logic        [LANES*IN_W-1:0] x,
    /* verilator lint_off UNUSEDSIGNAL */
    input  logic signed [    INIT_W-1:0] init,
    /* verilator lint_on UNUSEDSIGNAL */
    output logic signed [     OUT_W-1:0] y,
    output logic signed [     ACC_W-1:0] acc,
    output logic                         updated,
    output logic                         high,
    output logic                         low,
    output logic                         sticky
);
    // A full binary tree in heap order: node 1 is the root, node i has the children 2i and 2i + 1.
    localparam int ROUNDS = (LANES > 1) ? $clog2(LANES) : 0;
    localparam int LEAVES = 1 << ROUNDS;
    localparam int BASE_W = (IN_W > BITS + 1) ? IN_W : BITS + 1;
    localparam int NODE_W = ((HAND_OVER != 0 || gb_codes::EXACT[MODE] || BITS == 0) ? IN_W + ROUNDS : BASE_W) + 1;
    localparam int NODE_BITS = (HAND_OVER != 0) ? 0 : BITS;

    logic signed [NODE_W-1:0] node [1:2*LEAVES-1] /* verilator split_var */;
    // Nothing asks for the root's.
    /* verilator lint_off UNUSEDSIGNAL */
    logic [2*LEAVES-1:1] used /* verilator split_var */;
    /* verilator lint_on UNUSEDSIGNAL */
    logic [2*LEAVES-1:1] node_high;
    logic [2*LEAVES-1:1] node_low;

    genvar i;
    generate
        for (i = 0; i < LEAVES; i = i + 1) begin : g_leaf
            if (i < LANES) begin : g_lane
                assign node[LEAVES+i] = {{(NODE_W - IN_W) {x[i*IN_W+IN_W-1]}}, x[i*IN_W+:IN_W]};
                assign used[LEAVES+i] = keep[i];
            end else begin : g_none
                assign node[LEAVES+i] = {NODE_W{1'b0}};
                assign used[LEAVES+i] = 1'b0;
            end
            assign node_high[LEAVES+i] = 1'b0;
            assign node_low[LEAVES+i]  = 1'b0;
        end
        for (i = 1; i < LEAVES; i = i + 1) begin : g_node
            logic signed [NODE_W:0] sum;
            logic signed [NODE_W-1:0] fitted;
            logic sum_high, sum_low;
            assign sum = {node[2*i][NODE_W-1], node[2*i]} + {node[2*i+1][NODE_W-1], node[2*i+1]};
            gb_fit #(
                .IN_W(NODE_W + 1), .OUT_W(NODE_W), .BITS(NODE_BITS), .IS_SIGNED(IS_SIGNED), .MODE(MODE)
            ) u_fit (
                .x(sum), .y(fitted), .high(sum_high), .low(sum_low)
            );
            assign used[i]      = used[2*i];
            assign node[i]      = used[2*i+1] ? fitted : node[2*i];
            assign node_high[i] = used[2*i+1] && sum_high;
            assign node_low[i]  = used[2*i+1] && sum_low;
        end
    endgenerate

    localparam int ROOT_W = NODE_W + 1;
    logic signed [ROOT_W-1:0] root;
    logic root_high, root_low;
    gb_fit #(
        .IN_W(NODE_W), .OUT_W(ROOT_W), .BITS((HAND_OVER != 0) ? BITS : 0), .IS_SIGNED(IS_SIGNED), .MODE(MODE)
    ) u_root (
        .x(node[1]), .y(root), .high(root_high), .low(root_low)
    );
    gb_round_shift #(.IN_W(ROOT_W), .OUT_W(OUT_W), .SHIFT(SHIFT), .ROUND(ROUND)) u_shift (.x(root), .y(y));

    assign sticky = high || low;
    always_ff @(posedge clk) begin
        if (!rst_n) begin
            acc     <= {ACC_W{1'b0}};
            updated <= 1'b0;
            high    <= 1'b0;
            low     <= 1'b0;
        end else begin
            updated <= valid;
            if (valid) begin
                acc  <= y;
                high <= (|node_high) || root_high;
                low  <= (|node_low) || root_low;
            end
        end
    end
endmodule
