//! The benches of a bundle: the reference design with the layer's parameters, and what drives and compares it.

mod array;
mod design;
mod testbench;
mod vhdl;

pub(crate) use design::mode;

use crate::assemble::Sizes;
use crate::manifest::{Case, Manifest};

/// Mismatches that a bench prints.
const SHOWN: usize = 10;

/// The reference RTL: name and text of every file.
pub(crate) const RTL: [(&str, &str); 8] = [
    ("gb_fit.sv", include_str!("../rtl/gb_fit.sv")),
    ("gb_round_shift.sv", include_str!("../rtl/gb_round_shift.sv")),
    ("gb_product.sv", include_str!("../rtl/gb_product.sv")),
    ("gb_tree.sv", include_str!("../rtl/gb_tree.sv")),
    ("gb_add.sv", include_str!("../rtl/gb_add.sv")),
    ("gb_level.sv", include_str!("../rtl/gb_level.sv")),
    ("gb_float53.sv", include_str!("../rtl/gb_float53.sv")),
    ("gb_requant.sv", include_str!("../rtl/gb_requant.sv")),
];

/// The arrays of the reference RTL, and what they are built from beside the modules above.
pub(crate) const ARRAY_RTL: [(&str, &str); 6] = [
    ("gb_delay.sv", include_str!("../rtl/gb_delay.sv")),
    ("gb_os_pe.sv", include_str!("../rtl/gb_os_pe.sv")),
    ("gb_os_array.sv", include_str!("../rtl/gb_os_array.sv")),
    ("gb_ws_pe.sv", include_str!("../rtl/gb_ws_pe.sv")),
    ("gb_ws_acc.sv", include_str!("../rtl/gb_ws_acc.sv")),
    ("gb_ws_array.sv", include_str!("../rtl/gb_ws_array.sv")),
];

/// The reference RTL in VHDL, in the order of compilation.
pub(crate) const VHDL: [(&str, &str); 2] =
    [("gb_pkg.vhd", include_str!("../rtl/gb_pkg.vhd")), ("gb_mac.vhd", include_str!("../rtl/gb_mac.vhd"))];

/// Every bench file of a bundle, by path.
pub(crate) fn files(manifest: &Manifest, sizes: &Sizes) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> =
        RTL.iter().chain(&VHDL).map(|(name, text)| (format!("rtl/{name}"), (*text).to_owned())).collect();
    files.push(("rtl/gb_dut.sv".into(), design::dut(manifest)));
    files.push(("tb.sv".into(), testbench::tb(manifest, sizes)));
    if let Some(info) = &manifest.array {
        files.extend(ARRAY_RTL.iter().map(|(name, text)| (format!("rtl/{name}"), (*text).to_owned())));
        files.push(("rtl/gb_array.sv".into(), array::design(manifest, info)));
        files.push(("tb_array.sv".into(), array::tb(manifest, info)));
        files.push(("array/tiles.txt".into(), array::tiles(info)));
    }
    files.push(("tb.vhd".into(), vhdl::tb(manifest)));
    files.push(("cases.txt".into(), cases(manifest)));
    files.push(("Makefile".into(), include_str!("../bench/Makefile").into()));
    files.push(("test_bundle.py".into(), include_str!("../bench/test_bundle.py").into()));
    files
}

/// The cases for benches that cannot read JSON, a line each: first beat, beats, word of the output (-1: none), identifier.
fn cases(manifest: &Manifest) -> String {
    let line = |case: &Case| {
        let word = case.out_word.map_or("-1".into(), |word| word.to_string());
        format!("{} {} {word} {}\n", case.first_beat, case.beats, case.id)
    };
    manifest.cases.iter().map(line).collect()
}
