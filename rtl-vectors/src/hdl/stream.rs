//! A MAC unit that takes beats and gives results by valid and ready: the reference design behind such ports and behind
//! AXI4-Stream, and the adapters that connect a design of the user to the bench.

use super::transfer::{self, Part};
use super::unit::{Port, common_ports, connected, declared, sum_width};
use crate::beats::RUN_LAST;
use crate::manifest::Manifest;
use crate::profile::DutProfile;

/// Results that have room in the reference design.
pub(super) const DEPTH: usize = 8;

/// Returns the ports of a design with valid and ready, those of the beat first.
pub(super) fn ports(manifest: &Manifest) -> [Vec<Port>; 2] {
    let [mut before, after] = common_ports(manifest);
    let of = |name: &str, output: bool| Port { output, signed: false, bits: None, name: name.into() };
    let place = before.iter().position(|port| port.name == "in_clear").unwrap_or(0);
    before.insert(place, of("in_ready", true));
    let mut results = vec![of("out_valid", true), of("out_ready", false)];
    results.extend(after.into_iter().filter(|port| ["sum", "out_code"].contains(&port.name.as_str())));
    [before, results]
}

/// Returns the adapter of a profile with valid and ready: module `gb_stream_dut` around the design's module, `my_dut` or
/// what the macro `GB_TOP` names.
pub(super) fn adapter(manifest: &Manifest, profile: DutProfile) -> String {
    let [before, after] = ports(manifest);
    let declarations: Vec<String> = before.iter().chain(&after).map(Port::declared).collect();
    let (signals, connections) = match profile {
        DutProfile::Axis => (axis_signals(manifest), axis_connections()),
        _ => (String::new(), connected(before.iter().chain(&after)).trim_start().to_owned()),
    };
    format!(
        "// A design with the ports of profile `{}` for tb_stream.sv; made by guardbit from the manifest.
`ifndef GB_TOP
`define GB_TOP my_dut
`endif
/* verilator lint_off DECLFILENAME */
module gb_stream_dut (
    // A slot may be wider than its operand.
    /* verilator lint_off UNUSEDSIGNAL */
{}
    /* verilator lint_on UNUSEDSIGNAL */
);
{signals}    `GB_TOP u_dut (
        {connections}
    );
endmodule
",
        profile.name(),
        declared(&declarations),
    )
}

/// Returns `gb_stream.sv`: `gb_dut` with valid and ready.
pub(super) fn design(manifest: &Manifest) -> String {
    let [before, after] = ports(manifest);
    let declarations: Vec<String> = before.iter().chain(&after).map(Port::declared).collect();
    let [inputs, _] = common_ports(manifest);
    let connections = connected(inputs.iter().filter(|port| port.name != "in_valid"));
    let (sum, code) = (sum_width(manifest), manifest.arithmetic.requantize.out_bits);
    let (last, depth, bits) = (manifest.arithmetic.levels.len() - 1, DEPTH, DEPTH.ilog2());
    format!(
        "// gb_dut with valid and ready: a beat enters in a cycle with in_valid and in_ready, a result leaves in one with
// out_valid and out_ready. A beat is accepted while results of all dot products under way have room. A reset drops
// everything. Made by guardbit from the manifest.
module gb_stream (
{}
);
    localparam int DEPTH = {depth};
    // Dot products that have ended and whose results have not been taken.
    logic [{bits}:0] under_way;
    logic accepted, taken;
    assign in_ready = under_way != DEPTH[{bits}:0];
    assign accepted = in_valid && in_ready;
    assign taken    = out_valid && out_ready;

    logic unit_sum_valid, unit_out_valid;
    logic signed [{}:0] unit_sum;
    logic signed [{}:0] unit_code;
    // Accumulators and flags stay inside.
    /* verilator lint_off PINMISSING */
    gb_dut u_dut (
        .in_valid(accepted),
{connections},
        .sum_valid(unit_sum_valid), .sum(unit_sum), .out_valid(unit_out_valid), .out_code(unit_code)
    );
    /* verilator lint_on PINMISSING */

    // Results wait here. A pointer has a bit more than its memory, so that equal pointers mean that it is empty.
    logic signed [{}:0] sums [0:DEPTH-1];
    logic signed [{}:0] codes [0:DEPTH-1];
    logic [{bits}:0] sum_at, code_at, out_at;
    always_ff @(posedge clk) begin
        if (!rst_n) begin
            under_way <= '0;
            sum_at    <= '0;
            code_at   <= '0;
            out_at    <= '0;
        end else begin
            if (accepted && in_run_last[{last}] && !taken) under_way <= under_way + 1'b1;
            if (taken && !(accepted && in_run_last[{last}])) under_way <= under_way - 1'b1;
            if (unit_sum_valid) sum_at <= sum_at + 1'b1;
            if (unit_out_valid) code_at <= code_at + 1'b1;
            if (taken) out_at <= out_at + 1'b1;
        end
        if (unit_sum_valid) sums[sum_at[{}:0]] <= unit_sum;
        if (unit_out_valid) codes[code_at[{}:0]] <= unit_code;
    end
    assign out_valid = sum_at != out_at && code_at != out_at;
    assign sum       = sums[out_at[{}:0]];
    assign out_code  = codes[out_at[{}:0]];
endmodule
",
        declared(&declarations),
        sum - 1,
        code - 1,
        sum - 1,
        code - 1,
        bits - 1,
        bits - 1,
        bits - 1,
        bits - 1,
    )
}

/// Returns the value of a part.
fn value(part: &Part) -> String {
    match part.lane {
        Some(_) => format!("{}[{}:{}]", part.port, part.msb(), part.lsb),
        None => part.port.into(),
    }
}

/// Returns the value of a part with its sign in all bytes.
fn extended(part: &Part) -> String {
    match 8 * part.bytes - part.bits {
        0 => value(part),
        more => format!("{{{{{more}{{{}[{}]}}}}, {}}}", part.port, part.msb(), value(part)),
    }
}

/// Returns the ports of a design with AXI4-Stream.
fn axis_ports(manifest: &Manifest) -> Vec<String> {
    let [beat, result, user] = transfer::sizes(manifest);
    vec![
        "input  logic clk".into(),
        "input  logic rst_n".into(),
        "input  logic s_axis_tvalid".into(),
        "output logic s_axis_tready".into(),
        format!("input  logic [{}:0] s_axis_tdata", 8 * beat - 1),
        format!("input  logic [{}:0] s_axis_tkeep", beat - 1),
        "input  logic s_axis_tlast".into(),
        format!("input  logic [{}:0] s_axis_tuser", user - 1),
        "output logic m_axis_tvalid".into(),
        "input  logic m_axis_tready".into(),
        format!("output logic [{}:0] m_axis_tdata", 8 * result - 1),
    ]
}

fn axis_connections() -> String {
    let names = ["s_axis_tdata", "s_axis_tkeep", "s_axis_tuser", "m_axis_tdata"];
    let same: Vec<String> = names.iter().map(|name| format!(".{name}({name})")).collect();
    format!(
        ".clk(clk), .rst_n(rst_n), .s_axis_tvalid(in_valid), .s_axis_tready(in_ready), .s_axis_tlast(in_run_last[{}]),\n        \
         .m_axis_tvalid(out_valid), .m_axis_tready(out_ready), {}",
        "$bits(in_run_last)-1",
        same.join(", ")
    )
}

/// Returns what packs a beat into a transfer and unpacks a result.
fn axis_signals(manifest: &Manifest) -> String {
    let [beat, result, user] = transfer::sizes(manifest);
    let parts = transfer::beat(manifest);
    let data: Vec<String> = parts.iter().rev().map(extended).collect();
    // A lane that is not in use has no bytes; what follows the lanes always has.
    let keep = |part: &Part| match part.lane {
        Some(lane) => format!("{{{}{{in_keep[{lane}]}}}}", part.bytes),
        None => format!("{{{}{{1'b1}}}}", part.bytes),
    };
    let keep: Vec<String> = parts.iter().map(keep).rev().collect();
    let result_of = |part: &Part| {
        let lsb = 8 * part.first;
        format!("    assign {:12} = m_axis_tdata[{}:{lsb}];\n", part.port, lsb + part.bits - 1)
    };
    let results: String = transfer::result(manifest).iter().map(result_of).collect();
    format!(
        "    logic [{}:0] s_axis_tdata;
    logic [{}:0] s_axis_tkeep;
    logic [{}:0] s_axis_tuser;
    // A value takes whole bytes.
    /* verilator lint_off UNUSEDSIGNAL */
    logic [{}:0] m_axis_tdata;
    /* verilator lint_on UNUSEDSIGNAL */
    assign s_axis_tdata = {{
        {}
    }};
    assign s_axis_tkeep = {{{}}};
    assign s_axis_tuser = {{in_run_last, in_clear}};
{results}",
        8 * beat - 1,
        beat - 1,
        user - 1,
        8 * result - 1,
        data.join(",\n        "),
        keep.join(", "),
    )
}

/// Returns `gb_axis.sv`: `gb_stream` with AXI4-Stream.
pub(super) fn axis_design(manifest: &Manifest) -> String {
    let [before, after] = ports(manifest);
    let is_data = |name: &str| {
        ["in_run_last", "in_keep", "in_a", "in_w", "in_bias", "in_mult", "in_exp", "sum", "out_code"]
            .contains(&name)
    };
    let all = || before.iter().chain(&after).filter(|port| is_data(&port.name));
    let signal = |port: &Port| {
        let signed = if port.signed { " signed" } else { "" };
        let range = port.bits.map_or(String::new(), |bits| format!(" [{}:0]", bits - 1));
        format!("    logic{signed}{range} {};\n", port.name)
    };
    let signals: String = all().map(signal).collect();
    let parts = transfer::beat(manifest);
    // A slot may be wider than its operand: it holds the sign too.
    let assign = |part: &Part| {
        let signal = match part.lane {
            Some(_) => format!("{}[{}+:{}]", part.port, part.lsb, part.slot),
            None => part.port.into(),
        };
        format!("    assign {signal} = s_axis_tdata[{}+:{}];\n", 8 * part.first, part.slot)
    };
    let assigned: String = parts.iter().map(assign).collect();
    let lanes = parts.iter().take(manifest.interface.lanes);
    let keep: Vec<String> = lanes.rev().map(|part| format!("s_axis_tkeep[{}]", part.first)).collect();
    let result: Vec<String> = transfer::result(manifest).iter().rev().map(extended).collect();
    let user = RUN_LAST as usize - 1;
    format!(
        "// gb_stream with AXI4-Stream. A transfer in holds, from the lowest byte on, the activation and the weight of every
// lane, bias, multiplier and exponent, each in whole bytes; TKEEP marks the lanes in use, TLAST the last beat of a dot
// product; TUSER is clear, then run_last of every level. A transfer out holds the sum and the code. Made by guardbit
// from the manifest.
module gb_axis (
    // A value takes whole bytes, and TLAST repeats run_last of the last level.
    /* verilator lint_off UNUSEDSIGNAL */
{}
    /* verilator lint_on UNUSEDSIGNAL */
);
{signals}{assigned}    assign in_run_last = s_axis_tuser[{user}+:{levels}];
    assign in_keep     = {{{}}};
    assign m_axis_tdata = {{{}}};
    gb_stream u_stream (
        .clk(clk), .rst_n(rst_n), .in_valid(s_axis_tvalid), .in_ready(s_axis_tready), .in_clear(s_axis_tuser[0]),
        .out_valid(m_axis_tvalid), .out_ready(m_axis_tready),
{}
    );
endmodule
",
        declared(&axis_ports(manifest)),
        keep.join(", "),
        result.join(", "),
        connected(all()),
        levels = manifest.arithmetic.levels.len(),
    )
}
