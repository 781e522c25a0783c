//! SystemVerilog of a bundle: the reference unit's parameters, and the bench's.

use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::{Rounding, Specials};

use super::beats::{Beats, CLEAR, KEEP, LAST, VALID};
use super::interface::interface;
use super::manifest::{FloatArithmetic, FloatCase, FloatInterface, FloatManifest, FormatInfo, ScaleInfo};
use super::unit::Unit;
use crate::manifest::Packing;
use crate::text::comment;

macro_rules! files {
    ($folder:literal: $($name:literal)*) => {
        [$(($name, include_str!(concat!("../../", $folder, "/", $name)))),*]
    };
}

/// Name and text of the reference RTL, in the order of compilation.
pub(crate) const RTL: [(&str, &str); 13] = files! { "rtl":
    "gb_codes.sv" "gb_aligned_codes.sv" "gb_aligned_decode.sv" "gb_aligned_product.sv" "gb_aligned_round.sv"
    "gb_aligned_term.sv" "gb_aligned_group.sv" "gb_aligned_beyond.sv" "gb_aligned_encode.sv" "gb_aligned_sum.sv"
    "gb_aligned_promote.sv" "gb_aligned_scale.sv" "gb_aligned_block.sv"
};
const TOP: [(&str, &str); 1] = files! { "rtl": "gb_aligned.sv" };
const BENCH: [(&str, &str); 2] = files! { "bench": "tb_aligned.sv" "tb_clock.sv" };
const MAKEFILE: &str = include_str!("../../bench/aligned.mk");

/// Greatest number of mismatches that the bench prints.
const SHOWN: usize = 10;

/// Returns the files of the reference unit, in the order of compilation.
pub fn float_reference_rtl() -> Vec<(&'static str, &'static str)> {
    RTL.into_iter().chain(TOP).collect()
}

/// Returns the reference unit of a layer for synthesis, as name and text of its files. The last one has the module
/// `accumulator`, which has no parameters. Returns `None` if there is no such unit.
pub fn float_unit_rtl(layer: &FloatMacLayer) -> Option<Vec<(&'static str, String)>> {
    let unit = Unit::of_layer(layer).ok()?;
    let top = module("accumulator", &unit.arithmetic(), &interface(&unit, Packing::Dense), &unit);
    let files = float_reference_rtl().into_iter().map(|(name, text)| (name, text.to_owned()));
    Some(files.chain([("accumulator.sv", top)]).collect())
}

/// Returns the paths of the bench and its design, in the order of compilation.
pub(super) fn sources() -> Vec<String> {
    let rtl = float_reference_rtl().into_iter().map(|(name, _)| format!("rtl/{name}"));
    let bench = ["tb_params.sv", "rtl/gb_dut.sv", "tb_clock.sv", "tb_aligned.sv"].map(String::from);
    rtl.chain(bench).collect()
}

/// Returns all HDL files, by path.
pub(super) fn files(manifest: &FloatManifest, unit: &Unit, beats: &Beats) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    files.extend(
        float_reference_rtl().into_iter().map(|(name, text)| (format!("rtl/{name}"), text.to_owned())),
    );
    files.extend(BENCH.map(|(name, text)| (name.to_owned(), text.to_owned())));
    files.push(("Makefile".into(), MAKEFILE.into()));
    files.push(("rtl/gb_dut.sv".into(), design(manifest, unit)));
    files.push(("tb_params.sv".into(), parameters(manifest, beats)));
    let line = |case: &FloatCase| {
        let word = case.out_word.map_or("-1".into(), |word| word.to_string());
        format!("{} {} {word} {}\n", case.first_beat, case.beats, case.id)
    };
    files.push(("cases.txt".into(), manifest.cases.iter().map(line).collect()));
    files
}

/// Returns the parameters of `gb_aligned`.
fn unit_parameters(info: &FloatArithmetic, interface: &FloatInterface, unit: &Unit) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = vec![("LANES".into(), interface.lanes.to_string())];
    let mut put = |name: &str, value: i64| all.push((name.into(), value.to_string()));
    let specials = |format: guardbit_num::FloatFormat| match format.specials() {
        Specials::Ieee => 0,
        Specials::LastIsNan => 1,
        Specials::NegativeZeroIsNan => 2,
        Specials::None => 3,
    };
    let formats = [
        ("A", &info.activation, unit.activation),
        ("B", &info.weight, unit.weight),
        ("R", &info.result, unit.dot.rule.result),
    ];
    for (prefix, FormatInfo { exponent_bits, fraction_bits, bias, .. }, format) in formats {
        put(&format!("{prefix}_EXP"), i64::from(*exponent_bits));
        put(&format!("{prefix}_FRAC"), i64::from(*fraction_bits));
        put(&format!("{prefix}_BIAS"), i64::from(*bias));
        put(&format!("{prefix}_SPECIALS"), specials(format));
    }
    put("A_SLOT", interface.activation_slot.into());
    put("B_SLOT", interface.weight_slot.into());
    if let (Some(ScaleInfo { activation, weight, group_terms }), Some([a, w])) =
        (&info.scales, interface.scale_slots)
    {
        put("SCALES", if group_terms.is_some() { 2 } else { 1 });
        put("GROUP", group_terms.unwrap_or(1) as i64);
        for (prefix, format, slot) in [("SA", activation, a), ("SB", weight, w)] {
            put(&format!("{prefix}_EXP"), format.exponent_bits.into());
            put(&format!("{prefix}_FRAC"), format.fraction_bits.into());
            put(&format!("{prefix}_BIAS"), format.bias.into());
            put(&format!("{prefix}_SLOT"), slot.into());
        }
    }
    put("FRACTION_BITS", info.fraction_bits.into());
    let rounding = |rounding: Rounding| i64::from(rounding.code());
    put("ALIGN_ROUND", rounding(info.align_round));
    put("APART", info.apart.into());
    put("INTERLEAVED", info.interleaved.into());
    put("SUM_BITS", info.sum_bits.unwrap_or(31).into());
    put("ACC_BITS", info.accumulator_bits.unwrap_or(24).into());
    put("REACH", info.reach.unwrap_or(0).into());
    put("RESULT_ROUND", rounding(info.result_round));
    put("NEGATIVE_ZERO", info.negative_zero.into());
    put("PROMOTE", info.promote_additions.unwrap_or(0) as i64);
    all.push(("NAN".into(), format!("{}'h{:x}", info.result.bits(), info.nan)));
    all
}

/// Returns `gb_dut.sv`.
fn design(manifest: &FloatManifest, unit: &Unit) -> String {
    let (info, interface) = (&manifest.arithmetic, &manifest.interface);
    format!(
        "// Reference design of one floating-point accumulator for layer {} ({}) on {}.
// {} product(s) per beat, aligned to {} fraction bits; made by guardbit from the accelerator file.
{}",
        manifest.layer.index,
        comment(&manifest.layer.op),
        comment(&manifest.source.accelerator),
        interface.lanes,
        info.fraction_bits,
        module("gb_dut", info, interface, unit),
    )
}

/// Returns a module with the ports of `gb_aligned` and the parameters of a unit.
fn module(name: &str, info: &FloatArithmetic, interface: &FloatInterface, unit: &Unit) -> String {
    let parameters = unit_parameters(info, interface, unit);
    let parameters: Vec<String> =
        parameters.iter().map(|(name, value)| format!("        .{name}({value})")).collect();
    let top = |count: u32| count - 1;
    let lanes = interface.lanes;
    let [a, w] = [interface.activation_slot, interface.weight_slot].map(|slot| top(lanes as u32 * slot));
    let scales = interface.scale_slots.map(|slots| slots.map(|slot| top(unit.terms() as u32 * slot)));
    let ports = scales.map_or(String::new(), |[a, w]| {
        format!("    input  logic [{a}:0] in_sa,\n    input  logic [{w}:0] in_sw,\n")
    });
    let [sa, sw] = if scales.is_some() { ["in_sa", "in_sw"] } else { ["'0"; 2] };
    format!(
        "module {name} (
    input  logic clk,
    input  logic rst_n,
    input  logic in_valid,
    input  logic in_clear,
    input  logic in_last,
    input  logic [{}:0] in_keep,
    input  logic [{a}:0] in_a,
    input  logic [{w}:0] in_w,
{ports}    output logic [{}:0] acc,
    output logic updated,
    output logic cut,
    output logic vanished,
    output logic [31:0] total,
    output logic sum_valid,
    output logic [31:0] sum
);
    gb_aligned #(
{}
    ) u_unit (
        .clk(clk), .rst_n(rst_n), .in_valid(in_valid), .in_clear(in_clear), .in_last(in_last), .in_keep(in_keep),
        .in_a(in_a), .in_w(in_w), .in_sa({sa}), .in_sw({sw}), .acc(acc), .updated(updated), .cut(cut),
        .vanished(vanished), .total(total), .sum_valid(sum_valid), .sum(sum)
    );
endmodule
",
        lanes - 1,
        top(info.result.bits()),
        parameters.join(",\n"),
    )
}

/// Returns `tb_params.sv`.
fn parameters(manifest: &FloatManifest, beats: &Beats) -> String {
    let (info, interface) = (&manifest.arithmetic, &manifest.interface);
    let promotes = info.promote_additions.is_some();
    let [sa, sw] = interface.scale_slots.map_or([0; 2], |slots| slots.map(u64::from));
    let all: [(&str, u64); 23] = [
        ("LANES", interface.lanes as u64),
        ("A_W", interface.activation_slot.into()),
        ("W_W", interface.weight_slot.into()),
        // Terms with scales of blocks; 0: none.
        (
            "SCALES",
            info.scales.as_ref().map_or(0, |own| interface.lanes / own.group_terms.unwrap_or(1)) as u64,
        ),
        ("SA_W", sa),
        ("SW_W", sw),
        ("CTRL_W", u64::from(KEEP) + interface.lanes as u64),
        ("VALID", VALID.into()),
        ("CLEAR", CLEAR.into()),
        ("LAST", LAST.into()),
        ("KEEP", KEEP.into()),
        ("ACC_W", info.result.bits().into()),
        ("SUM_W", if promotes { 32 } else { info.result.bits().into() }),
        ("BEATS", beats.stream.len() as u64),
        ("OUTS", beats.sums.len() as u64),
        // Additions until the accumulator is promoted; 0: never.
        ("PROMOTE", info.promote_additions.unwrap_or(0).min(i32::MAX as usize) as u64),
        ("COMPARED_ACC", manifest.compared.acc),
        ("COMPARED_TOTAL", manifest.compared.total),
        ("COMPARED_SUM", manifest.compared.sum),
        ("ACC_LATENCY", interface.acc_latency.into()),
        ("SUM_LATENCY", interface.sum_latency.into()),
        ("CASES", manifest.cases.len() as u64),
        ("SHOWN", SHOWN as u64),
    ];
    let lines: String =
        all.iter().map(|(name, value)| format!("    localparam int {name} = {value};\n")).collect();
    // Only then the design has ports for scales.
    let defined = if info.scales.is_some() { "`define GB_SCALED\n" } else { "" };
    format!(
        "// What the bench knows of this bundle; made by guardbit from the manifest.
{defined}package tb_params;
    // Not every bench needs it all.
    /* verilator lint_off UNUSEDPARAM */
{lines}    /* verilator lint_on UNUSEDPARAM */
endpackage
"
    )
}
