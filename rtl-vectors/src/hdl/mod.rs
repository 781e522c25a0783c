//! SystemVerilog and VHDL of a bundle. The reference RTL and the benches are files; the layer's parameters
//! are generated here.

mod array;
#[cfg(test)]
mod codes;
mod coverage;
mod formal;
mod parameters;
mod stream;
mod transfer;
mod unit;
mod vhdl_stream;
mod whole;

use std::sync::LazyLock;

use guardbit_hwmodels::Reduce;

use crate::bundle::Sizes;
use crate::manifest::{Case, Manifest, TileInfo};
use crate::profile::DutProfile;

pub(crate) use array::design as array_design;
pub(crate) use unit::design as unit_design;
pub(crate) use whole::{whole_files, whole_layer};

/// Expands to name and text of files of a folder.
macro_rules! files {
    ($folder:literal: $($name:literal)*) => {
        [$(($name, include_str!(concat!("../../", $folder, "/", $name)))),*]
    };
}

/// Name and text of the files of the unit's reference RTL, in the order of compilation.
pub(crate) static UNIT_RTL: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let below = files! { "rtl":
        "gb_codes.sv" "gb_overflow.sv" "gb_fit.sv" "gb_round_shift.sv" "gb_product.sv" "gb_sum.sv"
    };
    let above = files! { "rtl": "gb_reduce.sv" "gb_float.sv" "gb_requant.sv" "gb_unit.sv" };
    below.into_iter().chain(LEVELS).chain(above).collect()
});

/// Modules of the kinds of level, in the order of [`Reduce::ALL`].
const LEVELS: [(&str, &str); Reduce::ALL.len()] = files! { "rtl": "gb_level.sv" "gb_tree.sv" };

/// Arrays of the reference RTL, and the modules they use in addition to those of the unit.
pub(crate) const ARRAY_RTL: [(&str, &str); 6] = files! { "rtl":
    "gb_delay.sv" "gb_os_pe.sv" "gb_os_array.sv" "gb_ws_pe.sv" "gb_ws_acc.sv" "gb_ws_array.sv"
};

/// Reference RTL in VHDL, in the order of compilation.
pub(crate) const VHDL: [(&str, &str); 4] =
    files! { "rtl": "gb_codes.vhd" "gb_pkg.vhd" "gb_mac.vhd" "gb_output.vhd" };

/// Arrays of the reference RTL in VHDL.
pub(crate) const ARRAY_VHDL: [(&str, &str); 1] = files! { "rtl": "gb_arrays.vhd" };

const BENCH: [(&str, &str); 8] = files! { "bench":
    "tb.sv" "tb_clock.sv" "tb_stream.sv" "tb.vhd" "tb_stream.vhd" "Makefile" "test_bundle.py" "test_stream.py"
};
const ARRAY_BENCH: [(&str, &str); 2] = files! { "bench": "tb_array.sv" "tb_array.vhd" };
const FORMAL: [(&str, &str); 2] = files! { "formal": "prove.py" "tb_requant.sv" };
const LOCKSTEP: [(&str, &str); 4] = files! { "dpi": "guardbit_dpi.sv" "gb_lockstep.sv" "Makefile" "tb.sv" };

/// Files of the bench of one MAC unit.
const UNIT_BENCH: [&str; 4] = ["tb_params.sv", "tb_clock.sv", "tb_ports.sv", "tb.sv"];

/// Files of the bench of a design with valid and ready.
const STREAM_BENCH: [&str; 3] = ["tb_params.sv", "tb_clock.sv", "tb_stream.sv"];

/// Source files of a bench, in the order of compilation.
pub(crate) struct Sources {
    /// Name of the top module.
    pub top: &'static str,
    pub files: Vec<String>,
}

impl Sources {
    /// Returns the sources of the bench of one MAC unit.
    pub fn unit() -> Self {
        let mut sources = Self::new("tb", &[], &["rtl/gb_dut.sv"]);
        sources.files.extend(UNIT_BENCH.map(String::from));
        sources
    }

    /// Returns the sources of the bench of one MAC unit with another design, after the reference modules, which the
    /// design may use.
    pub fn unit_with(design: Vec<String>) -> Self {
        let mut sources = Self::new("tb", &[], &[]);
        sources.files.extend(design.into_iter().chain(UNIT_BENCH.map(String::from)));
        sources
    }

    /// Returns the sources of the bench of a design with valid and ready.
    pub fn stream_with(design: Vec<String>) -> Self {
        let mut sources = Self::new("tb_stream", &[], &[]);
        sources.files.extend(design.into_iter().chain(STREAM_BENCH.map(String::from)));
        sources
    }

    /// Returns the sources of the bench of the whole array.
    pub fn array() -> Self {
        let more = ["rtl/gb_array.sv", "tb_array_params.sv", "tb_clock.sv", "tb_array.sv"];
        Self::new("tb_array", &ARRAY_RTL, &more)
    }

    /// Returns the sources of the bench of the MAC unit in VHDL, with another `gb_mac` if `mac` is not empty.
    pub fn vhdl(mac: Vec<String>) -> Self {
        let mut files = Vec::new();
        for (name, _) in VHDL {
            match name == "gb_mac.vhd" && !mac.is_empty() {
                true => files.extend(mac.iter().cloned()),
                false => files.push(format!("rtl/{name}")),
            }
        }
        files.extend(["tb_params.vhd", "tb.vhd"].map(String::from));
        Self { top: "tb", files }
    }

    /// Returns the sources of the bench of a design with valid and ready in VHDL, after the reference entities, which the
    /// design may use.
    pub fn vhdl_stream(design: Vec<String>) -> Self {
        let reference = VHDL.map(|(name, _)| format!("rtl/{name}"));
        let bench = ["tb_params.vhd", "tb_stream.vhd"].map(String::from);
        Self { top: "tb_stream", files: reference.into_iter().chain(design).chain(bench).collect() }
    }

    /// Returns the sources of the bench of the whole array in VHDL.
    pub fn array_vhdl() -> Self {
        let files = ["gb_codes", "gb_pkg", "gb_arrays", "gb_array"].map(|name| format!("rtl/{name}.vhd"));
        let bench = ["tb_array_params.vhd", "tb_array.vhd"].map(String::from);
        Self { top: "tb_array", files: files.into_iter().chain(bench).collect() }
    }

    fn new(top: &'static str, modules: &[(&str, &str)], more: &[&str]) -> Self {
        let rtl = UNIT_RTL.iter().chain(modules).map(|(name, _)| format!("rtl/{name}"));
        Self { top, files: rtl.chain(more.iter().map(|&file| file.into())).collect() }
    }
}

/// Returns all HDL files of a bundle, by path.
pub(crate) fn files(manifest: &Manifest, sizes: &Sizes) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut put = |folder: &str, all: &[(&str, &str)]| {
        files.extend(all.iter().map(|(name, text)| (format!("{folder}{name}"), (*text).to_owned())));
    };
    put("rtl/", &UNIT_RTL);
    put("rtl/", &VHDL);
    put("", &BENCH);
    put("", &[("gb_stress.sv", &coverage::covergroups()), ("gb_stress.py", &coverage::cover_points())]);
    put("lockstep/", &LOCKSTEP);
    put("formal/", &FORMAL);
    put(
        "formal/",
        &[
            ("properties.sv", &formal::properties(manifest)),
            ("requant_params.sv", &formal::requantizer_range(manifest)),
            ("requant_reference.sv", &formal::requantizer(manifest)),
        ],
    );
    put("rtl/", &[("gb_dut.sv", &unit_design(manifest))]);
    for profile in DutProfile::ALL {
        let name = format!("gb_dut_{}.sv", profile.name());
        let adapter = match profile.is_stream() {
            true => stream::adapter(manifest, profile),
            false => unit::adapter(manifest, profile),
        };
        put("adapters/", &[(&name, &adapter)]);
        if profile.is_stream() {
            let name = name.replace(".sv", ".vhd");
            put("adapters/", &[(&name, &vhdl_stream::adapter(manifest, profile))]);
        }
    }
    put(
        "rtl/",
        &[
            ("gb_stream.sv", &stream::design(manifest)),
            ("gb_axis.sv", &stream::axis_design(manifest)),
            ("gb_stream.vhd", &vhdl_stream::design(manifest)),
            ("gb_axis.vhd", &vhdl_stream::axis_design(manifest)),
        ],
    );
    put("", &[("tb_params.sv", &unit::bench_parameters(manifest, sizes))]);
    put("", &[("tb_params.vhd", &unit::vhdl_parameters(manifest, sizes))]);
    put("", &[("tb_ports.sv", &unit::ports(manifest)), ("cases.txt", &cases(manifest))]);
    if let Some(info) = &manifest.array {
        put("rtl/", &ARRAY_RTL);
        put("rtl/", &ARRAY_VHDL);
        put("rtl/", &[("gb_array.sv", &array_design(manifest, info))]);
        put("rtl/", &[("gb_array.vhd", &array::vhdl_design(manifest, info))]);
        put("", &ARRAY_BENCH);
        put("", &[("tb_array_params.sv", &array::bench_parameters(manifest, info))]);
        put("", &[("tb_array_params.vhd", &array::vhdl_parameters(manifest, info))]);
        put("array/", &[("tiles.txt", &tiles(&info.tiles))]);
    }
    files
}

/// Returns the cases for benches that cannot read JSON, one per line: first beat, beats, word of the output
/// (-1: none), identifier.
fn cases(manifest: &Manifest) -> String {
    let line = |case: &Case| {
        let word = case.out_word.map_or("-1".into(), |word| word.to_string());
        format!("{} {} {word} {}\n", case.first_beat, case.beats, case.id)
    };
    manifest.cases.iter().map(line).collect()
}

/// Returns the tiles for the bench, one per line: first beat, terms, first word (-1: later tiles add to its
/// sums), words.
fn tiles(tiles: &[TileInfo]) -> String {
    let line = |tile: &TileInfo| {
        let word = tile.first_word.map_or("-1".into(), |word| word.to_string());
        format!("{} {} {word} {}\n", tile.first_beat, tile.terms, tile.words)
    };
    tiles.iter().map(line).collect()
}

#[cfg(test)]
mod tests;
