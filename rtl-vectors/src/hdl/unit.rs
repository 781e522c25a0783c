//! HDL of one MAC unit: `gb_dut.sv`, which instantiates `gb_unit` with the layer's parameters, and the
//! parameters of its benches.

use std::fmt::Write;

use guardbit_graph::DType;
use guardbit_hwmodels::{Check, ZeroPoint};

use super::parameters::{Parameters, SHOWN};
use crate::beats::RUN_LAST;
use crate::bundle::Sizes;
use crate::manifest::{BiasAt, LevelInfo, Manifest, RegisterInfo, TensorInfo};
use crate::profile::DutProfile;
use crate::text::{comment, file_part};

/// Port of `gb_dut`: direction, type, number of bits (`None` for a single bit), and name.
#[derive(Debug, Clone)]
pub(super) struct Port {
    pub output: bool,
    pub signed: bool,
    pub bits: Option<usize>,
    pub name: String,
}

impl Port {
    pub fn declared(&self) -> String {
        let direction = if self.output { "output" } else { "input " };
        let signed = if self.signed { " signed" } else { "" };
        let range = self.bits.map_or(String::new(), |bits| format!(" [{}:0]", bits - 1));
        format!("{direction} logic{signed}{range} {}", self.name)
    }
}

/// Returns the width of a level's register as a signed number.
fn acc_width(level: &LevelInfo) -> u32 {
    level.acc_bits + u32::from(!level.acc_signed)
}

/// Returns the ports before and after those of the accumulators.
pub(super) fn common_ports(manifest: &Manifest) -> [Vec<Port>; 2] {
    let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
    let (levels, lanes) = (arithmetic.levels.len(), interface.lanes);
    let requantize = &arithmetic.requantize;
    let port = |output: bool, signed: bool, bits: Option<usize>, name: &str| Port {
        output,
        signed,
        bits,
        name: name.into(),
    };
    let bit = |name| port(false, false, None, name);
    let word = |name, bits: usize| port(false, false, Some(bits), name);
    let number = |name, bits: u32| port(false, true, Some(bits as usize), name);
    let before = vec![
        bit("clk"),
        bit("rst_n"),
        bit("in_valid"),
        bit("in_clear"),
        word("in_run_last", levels),
        word("in_keep", lanes),
        word("in_a", interface.activation_slot as usize * lanes),
        word("in_w", interface.weight_slot as usize * lanes),
        number("in_bias", arithmetic.bias.input_bits),
        number("in_mult", requantize.mult_bits),
        number("in_exp", 8),
    ];
    let out = |signed: bool, bits: Option<usize>, name| port(true, signed, bits, name);
    let after = vec![
        out(false, Some(levels), "updated"),
        out(false, Some(levels * 4), "flags"),
        out(false, None, "sum_valid"),
        out(true, Some(sum_width(manifest) as usize), "sum"),
        out(false, None, "out_valid"),
        out(true, Some(requantize.out_bits as usize), "out_code"),
    ];
    [before, after]
}

pub(super) fn sum_width(manifest: &Manifest) -> u32 {
    manifest.arithmetic.levels.last().map_or(1, |level| level.register.port_bits)
}

/// Returns the connections of ports to signals of equal names.
pub(super) fn connected<'a>(ports: impl IntoIterator<Item = &'a Port>) -> String {
    let all: Vec<String> = ports.into_iter().map(|port| format!(".{0}({0})", port.name)).collect();
    all.chunks(6).map(|line| format!("        {}", line.join(", "))).collect::<Vec<_>>().join(",\n")
}

pub(super) fn declared(ports: &[String]) -> String {
    ports.iter().map(|port| format!("    {port}")).collect::<Vec<_>>().join(",\n")
}

/// Returns the number of bits per level in the vector of all accumulators, which is the width of the widest
/// register or port.
fn level_width(manifest: &Manifest) -> u32 {
    let widths = manifest.arithmetic.levels.iter().map(|l| acc_width(l).max(l.register.port_bits));
    widths.max().unwrap_or(1)
}

/// Returns `gb_dut.sv`.
pub(crate) fn design(manifest: &Manifest) -> String {
    let levels = &manifest.arithmetic.levels;
    let [before, after] = common_ports(manifest);
    let mut ports: Vec<String> = before.iter().map(Port::declared).collect();
    let mut assigned = String::new();
    let width = level_width(manifest);
    for (index, level) in levels.iter().enumerate() {
        let bits = acc_width(level);
        ports.push(format!("output logic signed [{}:0] acc_l{index}", bits - 1));
        let name = comment(&level.name);
        let _ = writeln!(
            assigned,
            "    assign acc_l{index} = acc[{}+:{bits}]; // level {name}",
            index * width as usize
        );
    }
    ports.extend(after.iter().map(Port::declared));
    format!(
        "// Reference design of one MAC unit for layer {} ({}) on {}.
// {} product(s) per beat, {} level(s); made by guardbit from the accelerator file.
module gb_dut (
{}
);
    // Narrower registers are sign-extended.
    /* verilator lint_off UNUSEDSIGNAL */
    logic [{}:0] acc;
    /* verilator lint_on UNUSEDSIGNAL */
{assigned}
    gb_unit #(
{}    ) u_unit (
{},
        .acc(acc)
    );
endmodule
",
        manifest.layer.index,
        comment(&manifest.layer.op),
        comment(&manifest.source.accelerator),
        manifest.interface.lanes,
        levels.len(),
        declared(&ports),
        levels.len() * width as usize - 1,
        unit_parameters(manifest).of_instance(),
        connected(before.iter().chain(&after)),
    )
}

/// Returns the parameters of `gb_unit`.
fn unit_parameters(manifest: &Manifest) -> Parameters {
    let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
    let (levels, bias, requantize) = (&arithmetic.levels, &arithmetic.bias, &arithmetic.requantize);
    let mut all = Parameters::default();
    all.number("LANES", interface.lanes)
        .number("LEVELS", levels.len())
        .number("A_W", arithmetic.activation.bits)
        .number("A_SLOT", interface.activation_slot)
        .number("B_W", arithmetic.weight.bits)
        .number("B_SLOT", interface.weight_slot)
        .shifted_register("P_", &arithmetic.product)
        .number("P_W", arithmetic.product.port_bits);
    level_parameters(&mut all, levels);
    all.per_level("ACC_W", levels.iter().map(acc_width))
        .per_level("OUT_W", levels.iter().map(|l| l.register.port_bits))
        .number("LEVEL_W", level_width(manifest))
        .number("SUM_W", sum_width(manifest))
        .number("BIAS_W", bias.input_bits)
        .flag("PRELOAD", bias.at == BiasAt::PRELOAD)
        .flag("POST", bias.at == BiasAt::POST)
        .register("BIAS_", &bias.register)
        .number("BIASED_W", bias.register.port_bits)
        .number("MULT_W", requantize.mult_bits)
        .number("SCHEME", requantize.scheme.code())
        .number("ZERO_POINT", requantize.zero_point)
        .number("CLAMP_MIN", requantize.clamp_min)
        .number("CLAMP_MAX", requantize.clamp_max)
        .number("CODE_W", requantize.out_bits);
    all
}

/// Adds kinds and registers of the levels, for the unit and its VHDL counterpart.
fn level_parameters(all: &mut Parameters, levels: &[LevelInfo]) {
    let of = |f: &dyn Fn(&RegisterInfo) -> u32| levels.iter().map(|l| f(&l.register)).collect::<Vec<_>>();
    all.per_level("REDUCE", levels.iter().map(|l| l.reduce.code()))
        .per_level("BITS", of(&|r| r.bits.unwrap_or(0)))
        .per_level("IS_SIGNED", of(&|r| r.signed.into()))
        .per_level("MODE", of(&super::parameters::mode))
        .per_level("HAND_OVER", levels.iter().map(|l| u32::from(l.check == Check::HandOver)))
        .per_level("SHIFT", of(&|r| r.shift))
        .per_level("ROUND", of(&|r| r.round.code()));
}

/// Returns `tb_params.sv`, the parameters of this bundle's benches.
pub(super) fn bench_parameters(manifest: &Manifest, sizes: &Sizes) -> String {
    let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
    let (levels, requantize) = (&arithmetic.levels, &arithmetic.requantize);
    let mut all = Parameters::default();
    all.number("LANES", interface.lanes)
        .number("LEVELS", levels.len())
        .number("A_W", arithmetic.activation.bits)
        .number("A_SLOT", interface.activation_slot)
        .number("W_W", arithmetic.weight.bits)
        .number("W_SLOT", interface.weight_slot)
        .number("CTRL_W", RUN_LAST as usize + levels.len() + interface.lanes)
        .number("KEEP", RUN_LAST as usize + levels.len())
        .number("BIAS_W", arithmetic.bias.input_bits)
        .number("MULT_W", requantize.mult_bits)
        .number("SUM_W", sum_width(manifest))
        .number("CODE_W", requantize.out_bits)
        .per_level("ACC_BITS", levels.iter().map(|l| l.acc_bits))
        .per_level("ACC_SIGNED", levels.iter().map(|l| u32::from(l.acc_signed)))
        .number("BEATS", sizes.beats)
        .number("DOTS", sizes.dots)
        .number("OUTS", sizes.outputs)
        .per_level("COMPARED", manifest.compared.acc.iter().map(|&count| count as i64))
        .flag("CHECK_OUT", requantize.in_rtl)
        .number("ACC_LATENCY", interface.acc_latency)
        .number("OUT_LATENCY", interface.out_latency)
        .number("SHOWN", SHOWN);
    // Parameters of random beats: the operands, and the greatest length of runs.
    let (a, w) = (&arithmetic.activation, &arithmetic.weight);
    all.number("A_MIN", a.min)
        .number("A_MAX", a.max)
        .number("W_MIN", w.min)
        .number("W_MAX", w.max)
        .flag("AT_ONCE", levels[0].reduce.takes_run_at_once())
        .per_level("LONGEST_RUN", longest_runs(manifest));
    let mut files = String::new();
    for (index, level) in levels.iter().enumerate() {
        let case = if index + 1 == levels.len() { "default".into() } else { index.to_string() };
        let _ = writeln!(files, "            {case}: acc_file = \"exp_acc_{}.mem\";", file_part(&level.name));
    }
    format!(
        "// What the benches know of this bundle; made by guardbit from the manifest.
package tb_params;
    // No bench needs it all.
    /* verilator lint_off UNUSEDPARAM */
{}    /* verilator lint_on UNUSEDPARAM */

    // Expected accumulators of a level.
    function automatic string acc_file(input int level);
        case (level)
{files}        endcase
    endfunction
endpackage
",
        all.of_package()
    )
}

/// Returns, level by level, the greatest number of values in a run. With more values, registers without a
/// width of their own would be too narrow.
fn longest_runs(manifest: &Manifest) -> Vec<i64> {
    let mut values = manifest.layer.terms.max(1);
    let one = |terms: Option<usize>| {
        let run = terms.unwrap_or(values).min(values).max(1);
        values = values.div_ceil(run);
        run as i64
    };
    manifest.arithmetic.levels.iter().map(|l| l.terms).map(one).collect()
}

/// Returns `tb_ports.sv`, which instantiates the design with the accumulators of all levels in one vector.
pub(super) fn ports(manifest: &Manifest) -> String {
    let levels = &manifest.arithmetic.levels;
    let [before, after] = common_ports(manifest);
    let mut ports: Vec<String> = before.iter().map(Port::declared).collect();
    ports.push(format!("output logic [{}:0] acc", 64 * levels.len() - 1));
    ports.extend(after.iter().map(Port::declared));
    let (mut extended, mut accumulators) = (String::new(), Vec::new());
    for (index, level) in levels.iter().enumerate() {
        let top = acc_width(level) - 1;
        let _ = writeln!(extended, "    logic signed [{top}:0] acc_l{index};");
        let _ = writeln!(extended, "    assign acc[{}+:64] = 64'(acc_l{index});", 64 * index);
        accumulators.push(format!(".acc_l{index}(acc_l{index})"));
    }
    format!(
        "// gb_dut with the accumulators of all levels in one vector, 64 bits each; made by guardbit from the manifest.
module tb_ports (
{}
);
{extended}
    gb_dut dut (
        {},
{}
    );
endmodule
",
        declared(&ports),
        accumulators.join(", "),
        connected(before.iter().chain(&after)),
    )
}

/// Returns an adapter: a module `gb_dut` with all ports around a design with those of `profile` only. The design's
/// module is `my_dut`, or what the macro `GB_TOP` names.
pub(super) fn adapter(manifest: &Manifest, profile: DutProfile) -> String {
    let [before, after] = common_ports(manifest);
    let (codes, accumulators) = (profile.has_codes(), profile.has_accumulators());
    let is_there = |port: &&Port| match port.name.as_str() {
        "in_mult" | "in_exp" | "out_valid" | "out_code" => codes,
        "updated" | "flags" => accumulators,
        _ => true,
    };
    let mut declarations: Vec<String> = before.iter().map(Port::declared).collect();
    let mut connections: Vec<String> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    for (index, level) in manifest.arithmetic.levels.iter().enumerate() {
        declarations.push(format!("output logic signed [{}:0] acc_l{index}", acc_width(level) - 1));
        match accumulators {
            true => connections.push(format!(".acc_l{index}(acc_l{index})")),
            false => missing.push(format!("acc_l{index}")),
        }
    }
    declarations.extend(after.iter().map(Port::declared));
    missing.extend(after.iter().filter(|port| !is_there(port)).map(|port| port.name.clone()));
    let (raw, raw_connections) = match profile {
        DutProfile::Raw => raw_operands(manifest),
        _ => Default::default(),
    };
    let is_same = |port: &&Port| is_there(port) && !(profile == DutProfile::Raw && is_operand(&port.name));
    connections.push(connected(before.iter().chain(&after).filter(is_same)).trim_start().to_owned());
    connections.extend(raw_connections);
    let assigned: String = missing.iter().map(|name| format!("    assign {name} = '0;\n")).collect();
    format!(
        "// A design with the ports of profile `{}` as gb_dut; made by guardbit from the manifest.
`ifndef GB_TOP
`define GB_TOP my_dut
`endif
module gb_dut (
{}
);
{raw}    `GB_TOP u_dut (
        {}
    );
{assigned}endmodule
",
        profile.name(),
        declared(&declarations),
        connections.join(",\n        "),
    )
}

/// Returns whether a port holds operands.
fn is_operand(name: &str) -> bool {
    ["in_a", "in_w"].contains(&name)
}

/// Returns the signals that hold raw codes, and the connections of the ports that take them and their zero points.
/// Zero points that were not subtracted from the operands are 0 here.
fn raw_operands(manifest: &Manifest) -> (String, Vec<String>) {
    let (interface, layer, arithmetic) = (&manifest.interface, &manifest.layer, &manifest.arithmetic);
    let sides = [
        ("a", "x", interface.activation_slot, &arithmetic.activation, &layer.input),
        ("w", "w", interface.weight_slot, &arithmetic.weight, &layer.weight),
    ];
    let (mut text, mut connections) = (String::new(), Vec::new());
    let zero_points = raw_zero_points(manifest);
    for ((port, letter, slot, operand, tensor), zero_point) in sides.into_iter().zip(zero_points) {
        let bits = raw_bits(tensor);
        let name = format!("in_z{letter}");
        let _ = writeln!(
            text,
            "    // Codes of {bits} bits ({}): the operands with their zero point.",
            tensor.dtype
        );
        let _ = writeln!(text, "    logic [{}:0] raw_{port};", bits as usize * interface.lanes - 1);
        let _ = writeln!(text, "    logic signed [{bits}:0] {name};");
        let _ = writeln!(text, "    assign {name} = {zero_point};");
        for lane in 0..interface.lanes as u32 {
            let _ = writeln!(
                text,
                "    assign raw_{port}[{}+:{bits}] = {bits}'($signed(in_{port}[{}+:{}]) + {name});",
                lane * bits,
                lane * slot,
                operand.bits
            );
        }
        connections.push(format!(".in_{port}(raw_{port}), .{name}({name})"));
    }
    (text, connections)
}

/// Returns the bits of a tensor's codes.
fn raw_bits(tensor: &TensorInfo) -> u32 {
    tensor.dtype.parse().map_or(32, |dtype: DType| dtype.bits())
}

/// Returns the zero points that are subtracted from the codes of activations and weights.
fn raw_zero_points(manifest: &Manifest) -> [i64; 2] {
    let subtracts = manifest.arithmetic.zero_point == ZeroPoint::Subtract;
    [&manifest.layer.input, &manifest.layer.weight].map(|tensor| match subtracts {
        true => tensor.zero_points.first().copied().unwrap_or(0),
        false => 0,
    })
}

/// Returns the generics of `gb_mac`.
pub(super) fn vhdl_unit_parameters(manifest: &Manifest) -> Parameters {
    let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
    let mut all = Parameters::default();
    all.number("LANES", interface.lanes)
        .number("LEVELS", arithmetic.levels.len())
        .number("A_W", arithmetic.activation.bits)
        .number("A_SLOT", interface.activation_slot)
        .number("W_W", arithmetic.weight.bits)
        .number("W_SLOT", interface.weight_slot)
        .flag("PRELOAD", arithmetic.bias.at == BiasAt::PRELOAD)
        .shifted_register("P_", &arithmetic.product);
    level_parameters(&mut all, &arithmetic.levels);
    all
}

/// Returns the generics of `gb_output`.
pub(super) fn output_parameters(manifest: &Manifest) -> Parameters {
    let (bias, requantize) = (&manifest.arithmetic.bias, &manifest.arithmetic.requantize);
    let mut all = Parameters::default();
    all.flag("POST", bias.at == BiasAt::POST)
        .register("BIAS_", &bias.register)
        .number("SCHEME", requantize.scheme.code())
        .number("ZERO_POINT", requantize.zero_point)
        .number("CLAMP_MIN", requantize.clamp_min)
        .number("CLAMP_MAX", requantize.clamp_max);
    all
}

/// Returns `tb_params.vhd`, the parameters of this bundle's VHDL bench.
pub(super) fn vhdl_parameters(manifest: &Manifest, sizes: &Sizes) -> String {
    let (arithmetic, interface) = (&manifest.arithmetic, &manifest.interface);
    let (levels, requantize) = (&arithmetic.levels, &arithmetic.requantize);
    let mut all = vhdl_unit_parameters(manifest);
    all.extend(output_parameters(manifest))
        .number("BIAS_W", arithmetic.bias.input_bits)
        .number("MULT_W", requantize.mult_bits)
        .number("SUM_W", sum_width(manifest))
        .number("CODE_W", requantize.out_bits)
        .per_level("ACC_BITS", levels.iter().map(|l| l.acc_bits));
    all.number("BEATS", sizes.beats)
        .number("DOTS", sizes.dots)
        .number("OUTS", sizes.outputs)
        .per_level("COMPARED", manifest.compared.acc.iter().map(|&count| count as i64))
        .flag("CHECK_OUT", requantize.in_rtl)
        .number("CONTRACT_LATENCY", interface.acc_latency)
        .number("SHOWN", SHOWN);
    let mut files = String::new();
    for (index, level) in levels.iter().enumerate() {
        let case = if index + 1 == levels.len() { "others".into() } else { index.to_string() };
        let _ =
            writeln!(files, "            when {case} => return \"exp_acc_{}.mem\";", file_part(&level.name));
    }
    format!(
        "-- What the bench knows of this bundle; made by guardbit from the manifest.
package tb_params is
{}
    -- Expected accumulators of a level.
    function acc_file(level : natural) return string;
end package;

package body tb_params is
    function acc_file(level : natural) return string is
    begin
        case level is
{files}        end case;
    end function;
end package body;
",
        all.of_vhdl_package()
    )
}
