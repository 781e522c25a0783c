//! Tests the HDL of the project and of bundles with tools: Verilator's lint gives no warning, and GHDL
//! analyses it.
//!
//! The tests run if `GUARDBIT_SIMULATORS` is set (`scripts/test` installs the simulators and sets it).

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{UNITS, bundle};

fn simulators() -> bool {
    let wanted = std::env::var_os("GUARDBIT_SIMULATORS").is_some();
    if !wanted {
        eprintln!("skipped: GUARDBIT_SIMULATORS is not set; see scripts/test");
    }
    wanted
}

/// Returns the output of a tool if it fails or warns.
fn complaint(dir: &Path, command: &mut Command) -> Option<String> {
    let output = command.current_dir(dir).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (!output.status.success() || !said.is_empty()).then(|| String::from_utf8_lossy(&said).into_owned())
}

/// Lints `files`, the last of which contains module `top`.
fn lint(dir: &Path, top: &str, files: &[String]) -> Option<String> {
    let mut verilator = Command::new("verilator");
    verilator.args([
        "--lint-only",
        "--timing",
        "--timescale",
        "1ns/1ps",
        "-Wall",
        "-Irtl",
        "-DGB_TOP=gb_axis",
        "--top-module",
        top,
    ]);
    verilator.args(files);
    complaint(dir, &mut verilator)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// Returns the names of the files with an extension in a folder of the crate.
fn named(folder: &str, extension: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let here = entries.filter(|path| path.extension().is_some_and(|e| e == extension));
    here.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

/// Every module of the reference RTL passes the lint on its own, with its default parameters.
#[test]
fn every_module_lints() {
    if !simulators() {
        return;
    }
    let packages = ["gb_codes.sv", "gb_aligned_codes.sv"].map(String::from);
    for name in named("rtl", "sv").iter().filter(|name| !packages.contains(name)) {
        let mut files = packages.clone().map(|package| format!("rtl/{package}")).to_vec();
        files.push(format!("rtl/{name}"));
        let said = lint(&root(), name.trim_end_matches(".sv"), &files);
        assert_eq!(said, None, "{name}");
    }
}

/// An unknown overflow mode or kind of level stops the simulation instead of acting like a known one.
#[test]
fn an_unknown_choice_stops_a_simulation() {
    if !simulators() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let run = |command: &mut Command| {
        let output = command.current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.success(), said)
    };
    let rtl = root().join("rtl").to_string_lossy().into_owned();
    let codes = format!("{rtl}/gb_codes.sv");
    for (module, parameter, what) in
        [("gb_overflow", "MODE", "overflow mode"), ("gb_reduce", "REDUCE", "kind of level")]
    {
        let simulations = |code: u32| {
            let bench = format!(
                "module bench;\n    {module} #(.{parameter}({code})) unit ();\n    initial #1 $finish;\nendmodule\n"
            );
            fs::write(dir.path().join("bench.sv"), bench).unwrap();
            let mut icarus = Command::new("iverilog");
            icarus.args(["-g2012", "-Y.sv", "-y", &rtl, "-o", "icarus", &codes, "bench.sv"]);
            let mut verilator = Command::new("verilator");
            verilator.args(["--binary", "--timing", "-Wno-fatal", "-y", &rtl, "--top-module", "bench"]);
            verilator.args(["--Mdir", &format!("made{code}"), "-o", "unit", &codes, "bench.sv"]);
            for build in [&mut icarus, &mut verilator] {
                let (built, said) = run(build);
                assert!(built, "{said}");
            }
            let unit = format!("./made{code}/unit");
            [run(Command::new("vvp").args(["-n", "icarus"])), run(&mut Command::new(unit))]
        };
        for (passes, said) in simulations(0) {
            assert!(passes, "{module}: {said}");
        }
        for (passes, said) in simulations(31) {
            assert!(!passes && said.contains(&format!("there is no {what} 31")), "{module}: {said}");
        }
        fs::remove_dir_all(dir.path().join("made0")).unwrap();
        fs::remove_dir_all(dir.path().join("made31")).unwrap();
    }
}

/// Designs and benches with the parameters of every kind of unit pass.
#[test]
fn every_bundle_lints_and_is_analysed() {
    if !simulators() {
        return;
    }
    let mut linted = BTreeSet::new();
    for unit in UNITS {
        let dir = tempfile::tempdir().unwrap();
        bundle(dir.path(), *unit);
        let (clock, ports) = ("tb_clock.sv", "tb_ports.sv");
        let benches: [(&str, &[&str]); 5] = [
            ("tb", &["rtl/gb_dut.sv", "tb_params.sv", clock, ports, "tb.sv"]),
            (
                "tb",
                &[
                    "rtl/gb_dut.sv",
                    "tb_params.sv",
                    clock,
                    ports,
                    "lockstep/guardbit_dpi.sv",
                    "lockstep/gb_lockstep.sv",
                    "lockstep/tb.sv",
                ],
            ),
            (
                "tb_stream",
                &[
                    "rtl/gb_dut.sv",
                    "rtl/gb_stream.sv",
                    "rtl/gb_axis.sv",
                    "adapters/gb_dut_axis.sv",
                    "tb_params.sv",
                    clock,
                    "tb_stream.sv",
                    "formal/properties.sv",
                ],
            ),
            (
                "tb_requant",
                &[
                    "formal/requant_reference.sv",
                    "tb_params.sv",
                    "formal/requant_params.sv",
                    "formal/tb_requant.sv",
                ],
            ),
            ("tb_array", &["rtl/gb_array.sv", "tb_array_params.sv", clock, "tb_array.sv"]),
        ];
        for (top, files) in benches {
            if files.iter().any(|file| !dir.path().join(file).exists()) {
                continue;
            }
            let all: Vec<String> = ["rtl/gb_codes.sv"].iter().chain(files).map(|&file| file.into()).collect();
            assert_eq!(lint(dir.path(), top, &all), None, "{}: {files:?}", unit.accelerator);
            linted.extend(files.iter().map(|file| file.rsplit('/').next().unwrap().to_owned()));
        }
        let unit_vhdl: &[&str] = &["rtl/gb_mac.vhd", "rtl/gb_output.vhd", "tb_params.vhd", "tb.vhd"];
        let stream: &[&str] = &[
            "rtl/gb_mac.vhd",
            "rtl/gb_output.vhd",
            "rtl/gb_stream.vhd",
            "rtl/gb_axis.vhd",
            "adapters/gb_dut_axis.vhd",
            "tb_params.vhd",
            "tb_stream.vhd",
        ];
        let array: &[&str] =
            &["rtl/gb_arrays.vhd", "rtl/gb_array.vhd", "tb_array_params.vhd", "tb_array.vhd"];
        for files in [unit_vhdl, stream, array] {
            if files.iter().any(|file| !dir.path().join(file).exists()) {
                continue;
            }
            let vhdl = ["rtl/gb_codes.vhd", "rtl/gb_pkg.vhd"].iter().chain(files);
            let mut ghdl = Command::new("ghdl");
            ghdl.args(["-a", "--std=08"]).args(vhdl.clone());
            assert_eq!(complaint(dir.path(), &mut ghdl), None, "{}: {files:?}", unit.accelerator);
            linted.extend(vhdl.map(|file| file.rsplit('/').next().unwrap().to_owned()));
        }
    }
    // Check that every file is linted, except those of a folder that the test above lints, and the benches of whole and of
    // floating-point layers, which other tests lint.
    let benches = ["bench", "dpi"].iter().flat_map(|folder| [named(folder, "sv"), named(folder, "vhd")]);
    for name in benches
        .flatten()
        .chain(named("rtl", "vhd"))
        .filter(|name| !name.contains("array") && !["tb_layer.sv", "tb_aligned.sv"].contains(&name.as_str()))
    {
        assert!(linted.contains(&name), "{name} is linted nowhere");
    }
}
