//! Layers of real networks on arrays and engines of every kind, replayed in every simulator. The arrays'
//! cycles are compared with the cycle model. Also checks the table of mutants.
//!
//! The simulators run if `GUARDBIT_SIMULATORS` is set (`scripts/test` installs them and sets it).

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{csv_rows, digits, needed, shared_model, succeed};
use guardbit_testing::is_full;
use serde_json::Value;

const RESNET: [&str; 2] = ["resnet8_cifar10_int8.tflite", "resnet8_cifar10_images.npy"];
const WAKE: [&str; 2] = ["vww_mobilenet_v1_025_int8.tflite", "vww_images.npy"];

/// Array of 4 x 4 instead of the preset's 16 x 16: quick to build.
const SMALL: &[&str] = &["--set", "array.rows=4", "--set", "array.cols=4"];

struct Case {
    network: [&'static str; 2],
    layer: &'static str,
    op: &'static str,
    hw: &'static str,
    bits: u32,
    overflow: &'static str,
    more: &'static [&'static str],
}

macro_rules! grid {
    ($($network:ident $layer:literal $op:ident $hw:literal $bits:literal $overflow:ident $more:expr;)*) => {
        &[$(Case {
            network: $network,
            layer: $layer,
            op: stringify!($op),
            hw: $hw,
            bits: $bits,
            overflow: stringify!($overflow),
            more: $more,
        }),*]
    };
}

/// Every value of every axis: network, operation, accelerator, 12 to 20 bits, overflow mode (each with 14
/// bits too).
const GRID: &[Case] = grid! {
    RESNET "1" conv2d "fpga-int14-os" 14 saturate &[];
    RESNET "14" fully_connected "fpga-int14-os" 14 sticky SMALL;
    RESNET "4" conv2d "fpga-int14-ws" 16 saturate_symmetric SMALL;
    RESNET "14" fully_connected "fpga-int14-tree" 12 wrap &[];
    RESNET "6" conv2d "fpga-int14-tree" 14 saturate &[];
    RESNET "14" fully_connected "fpga-int14-ws" 17 wrap SMALL;
    WAKE "0" conv2d "fpga-int14-os" 12 wrap SMALL;
    WAKE "1" depthwise_conv2d "fpga-int14-os" 14 saturate_symmetric SMALL;
    WAKE "1" depthwise_conv2d "fpga-int14-ws" 13 sticky SMALL;
    WAKE "3" depthwise_conv2d "fpga-int14-tree" 20 saturate &[];
    WAKE "2" conv2d "fpga-int14-tree" 19 saturate_symmetric &[];
    WAKE "24" conv2d "fpga-int14-ws" 14 wrap &[];
    WAKE "29" fully_connected "fpga-int14-ws" 18 saturate SMALL;
    WAKE "29" fully_connected "fpga-int14-tree" 15 sticky &[];
};

impl Case {
    /// Exports the bundle to `dir`; `None` without the networks.
    fn export(&self, dir: &Path) -> Option<String> {
        let [model, images] = [shared_model(self.network[0])?, shared_model(self.network[1])?];
        let out = dir.to_string_lossy().into_owned();
        let [bits, overflow] = [format!("bits={}", self.bits), format!("overflow={}", self.overflow)];
        let levels: &[&str] = match self.hw {
            "fpga-int14-ws" => &["chain", "acc"],
            "fpga-int14-tree" => &["tree", "acc"],
            _ => &["acc"],
        };
        let sets: Vec<String> =
            levels.iter().flat_map(|l| [&bits, &overflow].map(|s| format!("accumulation.{l}.{s}"))).collect();
        let mut args = vec!["vectors", &model, "--hw", self.hw, "--layer", self.layer, "--input", &images];
        args.extend(["--cases", "8", "-o", &out]);
        args.extend(sets.iter().flat_map(|set| ["--set", set]));
        args.extend(self.more);
        succeed(&args);
        Some(out)
    }

    fn name(&self) -> String {
        let network = self.network[0].split('_').next().unwrap_or_default();
        format!("{network} {} {} {} {} bits {}", self.layer, self.op, self.hw, self.bits, self.overflow)
    }
}

/// Replays the grid; the names of the checks must be those of `expected` (including the array's if there is
/// one).
fn replay_grid(simulator: &str) {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    // Icarus replays every row.
    let apart = if is_full() || simulator == "icarus" { 1 } else { 3 };
    for (index, case) in GRID.iter().enumerate().step_by(apart) {
        let Some(bundle) = case.export(&dir.path().join(index.to_string())) else { return };
        let report: Value =
            serde_json::from_str(&succeed(&["check", &bundle, "--simulator", simulator, "--json"])).unwrap();
        let has_array = case.hw != "fpga-int14-tree";
        let checks = report["checks"].as_array().unwrap();
        let is_replay = |check: &&Value| check["check"].as_str().unwrap().starts_with(simulator);
        let (replays, others): (Vec<&Value>, Vec<&Value>) = checks.iter().partition(is_replay);
        // The beats as they are, and with idle cycles and resets.
        assert_eq!(replays.len(), 2 + usize::from(has_array), "{}", case.name());
        assert!(
            others.iter().all(|check| check["outcome"]["result"] == "pass"),
            "{}: {others:?}",
            case.name()
        );
        for check in replays {
            let (outcome, name) = (&check["outcome"], check["check"].as_str().unwrap());
            assert_eq!(outcome["result"], "pass", "{}", case.name());
            let notes = outcome["notes"].as_array().unwrap();
            assert!(!notes.iter().any(|n| n.as_str().unwrap().contains("not compared")));
            eprintln!(
                "{:<62} {name:<17} {:>6} compared, 0 differ; {}",
                case.name(),
                outcome["checked"],
                notes[0]
            );
        }
    }
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_SIMULATORS, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn real_layers_replay_in_icarus() {
    replay_grid("icarus");
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_SIMULATORS, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn real_layers_replay_in_verilator() {
    replay_grid("verilator");
}

#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_SIMULATORS, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn real_layers_replay_in_ghdl() {
    replay_grid("ghdl");
}

/// `GUARDBIT_COCOTB_BIN` names the folder of cocotb 1.9's programs.
#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_COCOTB_BIN, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn real_layers_pass_in_cocotb() {
    let bin = needed("GUARDBIT_COCOTB_BIN");
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let dir = tempfile::tempdir().unwrap();
    for (index, simulator) in [(1, "icarus"), (8, "icarus"), (9, "verilator")] {
        let bundle = dir.path().join(format!("{index}"));
        if GRID[index].export(&bundle).is_none() {
            return;
        }
        let simulator_arg = format!("SIM={simulator}");
        let mut make = Command::new("make");
        make.args(["cocotb", &simulator_arg]).current_dir(&bundle).env("PATH", &path);
        let text = String::from_utf8_lossy(&make.output().unwrap().stdout).into_owned();
        assert!(text.contains("PASS=2 FAIL=0"), "{}: {text}", GRID[index].name());
        eprintln!("{:<62} cocotb, {simulator}: PASS=2 FAIL=0", GRID[index].name());
    }
}

fn manifest(bundle: &str) -> Value {
    serde_json::from_slice(&fs::read(Path::new(bundle).join("manifest.json")).unwrap()).unwrap()
}

/// Accelerator, layer of the digits network, settings, and cycles that the model subtracts for tiles of fewer
/// rows.
const ARRAYS: &[(&str, &str, &[&str], u64)] = &[
    // Fewer products than rows: tiles follow each other as fast as sums can leave.
    ("fpga-int14-os", "1", &["--set", "array.rows=12", "--set", "array.cols=3"], 6),
    ("fpga-int14-os", "2", &["--set", "array.rows=5", "--set", "array.cols=7"], 0),
    ("fpga-int14-os", "0", &["--set", "array.rows=1", "--set", "array.cols=9"], 0),
    ("fpga-int14-os", "0", &["--set", "array.rows=9", "--set", "array.cols=1"], 0),
    // One pixel: tiles follow each other as fast as weights can be loaded.
    ("fpga-int14-ws", "5", &["--set", "array.rows=8", "--set", "array.cols=6"], 0),
    ("fpga-int14-ws", "2", &["--set", "array.rows=6", "--set", "array.cols=5"], 0),
    ("fpga-int14-ws", "1", &["--set", "array.rows=4", "--set", "array.cols=4"], 0),
    ("fpga-int14-ws", "0", &["--set", "array.rows=2", "--set", "array.cols=1"], 0),
];

/// The replay fails if a cycle is missing or superfluous (`kind=cycles`).
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn arrays_take_the_cycles_of_the_model() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    for (index, (hw, layer, more, shorter)) in ARRAYS.iter().enumerate() {
        for convention in ["overlapped", "scalesim_v3"] {
            let out = dir.path().join(format!("{convention}{index}")).to_string_lossy().into_owned();
            let model = digits("digits_int8.tflite");
            let timing = format!("timing.convention={convention}");
            let mut args =
                vec!["vectors", &model, "--hw", hw, "--layer", layer, "--random", "1", "--cases", "1"];
            args.extend(["--set", &timing, "-o", &out]);
            args.extend(*more);
            succeed(&args);
            let table = succeed(&["check", &out, "--simulator", "icarus"]);
            let line = table.lines().find(|l| l.starts_with("icarus, array")).unwrap();
            eprintln!("{hw} {layer} {more:?}\n{line}");
            let cycles = &manifest(&out)["array"];
            let (groups, cycles) = (cycles["groups"].as_u64().unwrap(), &cycles["cycles"]);
            let number = |key: &str| cycles[key].as_u64().unwrap();
            // SCALE-Sim omits the drain, and counts every matrix product from cycle 0.
            let uncounted = if convention == "overlapped" { *shorter } else { number("drain") + groups };
            assert_eq!(number("cycles"), number("model") + uncounted, "{line}");
            assert_eq!(cycles["difference"].is_null(), uncounted == 0, "{line}");
        }
    }
}

/// If the tiles cover the whole layer, the array's cycles equal the layer's compute cycles in `layers.csv`.
#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn whole_layers_take_the_compute_cycles_of_a_run() {
    let Some(model) = shared_model(RESNET[0]) else { return };
    let dir = tempfile::tempdir().unwrap();
    for hw in ["fpga-int14-os", "fpga-int14-ws"] {
        let [bundle, run] =
            ["b", "r"].map(|name| dir.path().join(format!("{hw}{name}")).to_string_lossy().into_owned());
        succeed(&[
            "vectors", &model, "--hw", hw, "--layer", "14", "--random", "1", "--cases", "1", "-o", &bundle,
        ]);
        succeed(&["run", &model, "--hw", hw, "--random", "1", "-o", &run]);
        let rows = csv_rows(&Path::new(&run).join("layers.csv"));
        let last = rows.iter().rfind(|row| row["index"] == "14").unwrap();
        let array = &manifest(&bundle)["array"];
        assert_eq!((&array["pixels"], &array["channels"]), (&1.into(), &10.into()));
        assert_eq!(array["cycles"]["cycles"].to_string(), last["compute_cycles"], "{hw}");
    }
}

/// Runs every mutant in Icarus. With `GUARDBIT_TESTS=all`, it uses the default bundle, and other modes than
/// the preset's on a small array; otherwise one mode on a small array.
fn mutants(hw: &str, layer: &str, levels: &[&str]) {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let modes = ["saturate", "wrap", "sticky", "saturate_symmetric"];
    for overflow in if is_full() { &modes[..] } else { &["sticky"] } {
        let out = dir.path().join(overflow).to_string_lossy().into_owned();
        let model = digits("digits_int8.tflite");
        let images = digits("test_images.npy");
        let sets: Vec<String> =
            levels.iter().map(|l| format!("accumulation.{l}.overflow={overflow}")).collect();
        let mut args = vec!["vectors", &model, "--hw", hw, "--layer", layer, "--input", &images, "-o", &out];
        args.extend(sets.iter().flat_map(|set| ["--set", set]));
        if (*overflow != "saturate" || !is_full()) && hw != "fpga-int14-tree" {
            args.extend(SMALL);
        }
        succeed(&args);
        let table = succeed(&["check", &out, "--simulator", "icarus", "--mutate"]);
        eprintln!("{hw} {layer} {overflow}\n{table}");
        assert!(table.contains("flipped_digit") && !table.contains(" NO "), "{table}");
    }
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn mutants_of_an_output_stationary_array_are_caught() {
    mutants("fpga-int14-os", "0", &["acc"]);
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn mutants_of_a_weight_stationary_array_are_caught() {
    mutants("fpga-int14-ws", "5", &["chain", "acc"]);
}

#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn mutants_of_a_tree_are_caught() {
    mutants("fpga-int14-tree", "5", &["tree", "acc"]);
}

/// Accelerators whose registers do not reach their rails, drop bits after a fit, or do not show their codes: no
/// mutant is missed.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn mutants_of_unusual_accelerators_are_caught() {
    needed("GUARDBIT_SIMULATORS");
    let rows = [
        // The sums of three runs need 16 bits only with the largest bias.
        "accumulation:
  - {name: part, terms: 4, bits: 15, overflow: wrap, check: hand_over, shift: 2, round: half_away}
  - {name: acc, bits: 16, overflow: saturate}
bias: {at: preload}",
        "accumulation: [{name: acc, bits: 18, overflow: saturate_symmetric, shift: 3, round: half_even}]
product: {bits: 12, overflow: saturate, shift: 2, round: half_up}
bias: {at: post_requantize}
requantize: {scheme: even}",
    ];
    let dir = tempfile::tempdir().unwrap();
    // Both with `GUARDBIT_TESTS=all`.
    for (index, text) in rows.into_iter().enumerate().take(if is_full() { 2 } else { 1 }) {
        let [hw, out] = ["hw.yaml", "bundle"].map(|name| dir.path().join(format!("{index}_{name}")));
        std::fs::write(
            &hw,
            format!("schema: 1\nextends: fpga-int14-os\narray: {{rows: 4, cols: 4}}\n{text}\n"),
        )
        .unwrap();
        let [hw, out] = [hw, out].map(|path| path.to_string_lossy().into_owned());
        let (model, images) = (digits("digits_int8.tflite"), digits("test_images.npy"));
        succeed(&[
            "vectors", &model, "--hw", &hw, "--layer", "0", "--input", &images, "--cases", "12", "-o", &out,
        ]);
        let table = succeed(&["check", &out, "--simulator", "icarus", "--mutate"]);
        assert!(table.contains("flipped_digit") && !table.contains(" NO "), "{table}");
    }
}

/// Network, input (none: random), layer, accelerator, settings, a row of the table of mutants, and its
/// expected answer.
type Shown<'a> = ([&'a str; 2], &'a str, &'a str, &'a [&'a str], &'a str, &'a str);

const KEYWORDS: [&str; 2] = ["kws_dscnn_int8.tflite", ""];
const ANOMALY: [&str; 2] = ["anomaly_autoencoder_int8.tflite", "anomaly_windows.npy"];
const WIDE: &[&str] =
    &["--set", "accumulation.acc.bits=20", "--set", "array.rows=4", "--set", "array.cols=4"];
const NARROW_BIAS: &[&str] = &["--set", "bias.bits=14", "--set", "array.rows=4", "--set", "array.cols=4"];
const FEW_COLUMNS: &[&str] = &["--set", "array.cols=4"];

/// Selection of what `scripts/check_all_layers` runs; without `GUARDBIT_TESTS=all` every fourth row.
const SHOWN: &[Shown<'_>] = &[
    // Real activations leave columns at zero.
    (WAKE, "6", "fpga-int14-os", SMALL, "array, wrap_for_saturate, acc", "yes"),
    (WAKE, "29", "fpga-int14-ws", SMALL, "array, flipped_sum", "yes"),
    (WAKE, "20", "fpga-int14-tree", &[], "tree_order", "yes"),
    // 32 products of at most 255 * 128 reach 20 bits; real sums do not.
    (RESNET, "4", "fpga-int14-os", WIDE, "array, wrap_for_saturate, acc", "yes"),
    // 8 and 16 products on 16 rows.
    (WAKE, "2", "fpga-int14-ws", FEW_COLUMNS, "run_boundary_ignored", "equivalent"),
    (WAKE, "2", "fpga-int14-os", NARROW_BIAS, "wrap_for_saturate, bias", "yes"),
    (WAKE, "2", "fpga-int14-os", SMALL, "wrap_for_saturate, bias", "equivalent"),
    (KEYWORDS, "1", "fpga-int14-ws", SMALL, "clear_ignored", "yes"),
    (ANOMALY, "1", "fpga-int14-tree", &[], "wrong_tie", "equivalent"),
    (ANOMALY, "0", "fpga-int14-os", SMALL, "array, last_product_missed", "yes"),
];

/// Every mutant of these layers is caught, or proved to be equivalent.
#[test]
#[cfg_attr(shared_models, ignore = "needs GUARDBIT_SIMULATORS, see scripts/test")]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn mutants_of_real_layers_show_or_are_equivalent() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let (first, apart) = if is_full() { (0, 1) } else { (1, 4) };
    for (index, (network, layer, hw, more, row, answer)) in
        SHOWN.iter().enumerate().skip(first).step_by(apart)
    {
        let Some(model) = shared_model(network[0]) else { return };
        let out = dir.path().join(index.to_string()).to_string_lossy().into_owned();
        let images = shared_model(network[1]).filter(|_| !network[1].is_empty());
        let mut args = vec!["vectors", &model, "--hw", hw, "--layer", layer, "-o", &out];
        args.extend(images.iter().flat_map(|path| ["--input", path]));
        args.extend(["--random", "2"].iter().filter(|_| images.is_none()));
        args.extend(*more);
        succeed(&args);
        let table = succeed(&["check", &out, "--simulator", "icarus", "--mutate"]);
        assert!(table.contains("flipped_digit") && !table.contains(" NO "), "{table}");
        let line = table.lines().find(|line| line.starts_with(row));
        let line = line.unwrap_or_else(|| panic!("no mutant {row}: {table}"));
        assert_eq!(line[row.len()..].split_whitespace().next(), Some(*answer), "{line}");
        eprintln!("{} {layer} {hw}: {}", network[0], table.lines().last().unwrap_or_default());
    }
}

/// Each output is exported once, and all of them if there are at most as many as requested cases.
#[test]
fn all_outputs_are_cases_where_there_are_few() {
    let model = digits("digits_int8.tflite");
    let dir = tempfile::tempdir().unwrap();
    for (index, (cases, expected)) in [("64", 50), ("33", 33)].into_iter().enumerate() {
        let out = dir.path().join(index.to_string()).to_string_lossy().into_owned();
        let mut args = vec!["vectors", &model, "--hw", "fpga-int14-tree", "--layer", "5"];
        args.extend(["--random", "5", "--cases", cases, "-o", &out]);
        succeed(&args);
        let all = manifest(&out)["cases"].as_array().unwrap().clone();
        let mut places: Vec<String> =
            all.iter().filter(|case| case["group"] == "real").map(|case| case["place"].to_string()).collect();
        assert_eq!(places.len(), expected);
        places.sort();
        places.dedup();
        assert_eq!(places.len(), expected, "an output twice");
    }
}
