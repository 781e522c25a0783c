//! Tests of the golden model outside Rust: from C, and in lockstep with the reference RTL in Verilator.
//!
//! They run if `GUARDBIT_SIMULATORS` is set (`scripts/test` installs the tools and sets it).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::{UNITS, Unit, bundle};

fn tools() {
    std::env::var("GUARDBIT_SIMULATORS").expect("GUARDBIT_SIMULATORS is set, see scripts/test");
}

/// Path of the library that cargo built for this test, in the folder of the test itself.
fn library(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().unwrap().join(name);
    assert!(path.is_file(), "{} is missing", path.display());
    path
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn the_c_example_runs() {
    tools();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("mac");
    let built = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root.join("include"))
        .arg(root.join("examples/mac.c"))
        .arg(library("libguardbit_capi.a"))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", text(&built));
    let ran = Command::new(&program).args(["fpga-int14-os", "12"]).output().unwrap();
    let lines = text(&ran);
    // 6 * 2000 would be 12000, and 14 bits hold 8191; then 6 * -2000 is added. (-3809 + 100) / 128 = -28.98.
    assert!(lines.contains("   4      0      8191     10000  high"), "{lines}");
    assert!(lines.ends_with("sum -3809, exact 0, code -29\n"), "{lines}");
    let refused = Command::new(&program).args(["no-such-preset"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("no-such-preset"), "{}", text(&refused));
}

/// Runs the lockstep bench of a bundle. Returns whether it passed, and its output.
fn lockstep(dir: &Path, beats: u32, more: &[&str]) -> (bool, String) {
    let ran = Command::new("make")
        .current_dir(dir.join("lockstep"))
        .arg(format!("GUARDBIT_LIB={}", library("libguardbit_capi.so").display()))
        .arg(format!("BEATS={beats}"))
        .args(more)
        .output()
        .unwrap();
    (ran.status.success(), text(&ran))
}

/// Returns the value of `key=` in the last line of a run.
fn number(text: &str, key: &str) -> u64 {
    let line = text.lines().find(|line| line.contains("LOCKSTEP ")).unwrap_or_else(|| panic!("{text}"));
    let value = line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    value.unwrap().parse().unwrap()
}

/// Returns the datapaths that differ most: one level, tree, and two levels.
fn units() -> impl Iterator<Item = Unit> {
    [5, 6, 8, 9].into_iter().map(|index| UNITS[index])
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn the_reference_design_keeps_in_step() {
    tools();
    for unit in units() {
        let dir = tempfile::tempdir().unwrap();
        bundle(dir.path(), unit);
        let (passed, text) = lockstep(dir.path(), 20000, &[]);
        let totals = text.lines().find(|line| line.contains("LOCKSTEP")).unwrap_or_default();
        eprintln!("{}: {totals}", unit.accelerator);
        assert!(passed, "{text}");
        assert_eq!(number(&text, "beats"), 20000);
        assert_eq!(number(&text, "mismatches"), 0);
        assert!(number(&text, "events") > 100, "{text}");
        assert!(number(&text, "checked") > 20000, "{text}");
    }
}

/// Modules of both reference arrays.
const ARRAY: [&str; 7] =
    ["gb_codes", "gb_overflow", "gb_fit", "gb_round_shift", "gb_product", "gb_sum", "gb_delay"];

/// Runs an example in which an array keeps in step with a tile of the golden model. Returns whether it passed, and its
/// output.
fn array(bench: &str, modules: &[&str], run: &str) -> (bool, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = library("libguardbit_capi.so");
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("tb.sv"), bench).unwrap();
    let rtl = ARRAY.iter().chain(modules).map(|name| root.join(format!("../rtl/{name}.sv")));
    let flags = format!("{} -Wl,-rpath,{}", library.display(), library.parent().unwrap().display());
    let built = Command::new("verilator")
        .args(["--binary", "--timing", "-Wno-fatal", "--top-module", "tb", "-o", "Vtile", "-LDFLAGS", &flags])
        .args(rtl)
        .args([root.join("../dpi/guardbit_dpi.sv"), dir.path().join("tb.sv")])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", text(&built));
    let ran = Command::new(dir.path().join("obj_dir/Vtile")).arg(run).output().unwrap();
    (ran.status.success(), text(&ran))
}

/// The reference arrays return the sums of a tile of the golden model; an array with a level that wraps does not.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn arrays_keep_in_step_with_a_tile() {
    tools();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let os = ["gb_level", "gb_os_pe", "gb_os_array"];
    let ws = ["gb_ws_pe", "gb_ws_acc", "gb_ws_array"];
    let cases = [
        ("os_array.sv", os, "+tiles=200", "TILES tiles=200 checked=2400", ["MODE"].as_slice()),
        ("ws_array.sv", ws, "+layers=200", "LAYERS layers=200 checked=3000", &["MODE", "C_MODE"]),
    ];
    for (file, modules, run, totals, modes) in cases {
        let bench = fs::read_to_string(examples.join(file)).unwrap();
        let (passed, shown) = array(&bench, &modules, run);
        assert!(passed && shown.contains(&format!("{totals} mismatches=0\n")), "{shown}");
        for mode in modes {
            let sizes = ".ROWS(ROWS), .COLS(COLS),";
            assert_eq!(bench.matches(sizes).count(), 1);
            let faulty = bench.replace(sizes, &format!(".{mode}(gb_codes::MODE_WRAP), {sizes}"));
            let (passed, shown) = array(&faulty, &modules, run);
            assert!(!passed && shown.contains(totals) && !shown.contains("mismatches=0\n"), "{shown}");
        }
    }
}

/// Builds the reference design, a broken one, and the reference design again: each run uses its own sources.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn a_build_belongs_to_its_sources() {
    tools();
    let dir = tempfile::tempdir().unwrap();
    bundle(dir.path(), UNITS[0]);
    let dut = fs::read_to_string(dir.path().join("rtl/gb_dut.sv")).unwrap();
    let (saturates, wraps) = (".MODE({32'd1})", ".MODE({32'd0})");
    assert_eq!(dut.matches(saturates).count(), 1);
    fs::write(dir.path().join("broken.sv"), dut.replace(saturates, wraps)).unwrap();
    for faulty in [false, true, false] {
        let dut = if faulty { "../broken.sv" } else { "../rtl/gb_dut.sv" };
        let (passed, text) = lockstep(dir.path(), 2000, &[&format!("DUT={dut}")]);
        assert_eq!(passed, !faulty, "{text}");
        assert_eq!(number(&text, "mismatches") > 0, faulty, "{text}");
    }
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn planted_faults_are_found() {
    tools();
    let faults = [
        // Faults: the rails of saturation, a missing sign extension, a clear that is ignored.
        (0, "rtl/gb_dut.sv", ".MODE({32'd1})", ".MODE({32'd0})"),
        (0, "rtl/gb_level.sv", "assign start      = fresh || clear;", "assign start      = fresh;"),
        (8, "rtl/gb_level.sv", "fresh  <= run_last;", "fresh  <= 1'b0;"),
    ];
    for (unit, file, from, to) in faults {
        let dir = tempfile::tempdir().unwrap();
        bundle(dir.path(), UNITS[unit]);
        let path = dir.path().join(file);
        let rtl = fs::read_to_string(&path).unwrap();
        assert_eq!(rtl.matches(from).count(), 1, "{file}: {from}");
        fs::write(&path, rtl.replace(from, to)).unwrap();
        let (passed, text) = lockstep(dir.path(), 5000, &[]);
        let first = text.lines().find(|line| line.contains("MISMATCH")).unwrap_or_default();
        eprintln!("{to}: {first}");
        assert!(!passed && number(&text, "mismatches") > 0, "{text}");
        assert!(first.contains("kind=") && first.contains("expected_dec="), "{text}");
    }
}
