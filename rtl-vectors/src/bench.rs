//! The benches of a bundle: the reference design with the layer's parameters, and what drives and compares it.

mod design;
mod testbench;
mod vhdl;

use crate::export::Sizes;
use crate::manifest::Manifest;

/// The reference RTL: name and text of every file.
pub(crate) const RTL: [(&str, &str); 7] = [
    ("gb_fit.sv", include_str!("../rtl/gb_fit.sv")),
    ("gb_round_shift.sv", include_str!("../rtl/gb_round_shift.sv")),
    ("gb_product.sv", include_str!("../rtl/gb_product.sv")),
    ("gb_tree.sv", include_str!("../rtl/gb_tree.sv")),
    ("gb_level.sv", include_str!("../rtl/gb_level.sv")),
    ("gb_float53.sv", include_str!("../rtl/gb_float53.sv")),
    ("gb_requant.sv", include_str!("../rtl/gb_requant.sv")),
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
    files.push(("tb.vhd".into(), vhdl::tb(manifest)));
    files.push(("Makefile".into(), include_str!("../bench/Makefile").into()));
    files.push(("test_bundle.py".into(), include_str!("../bench/test_bundle.py").into()));
    files
}
