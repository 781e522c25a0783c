//! Explores designs, prices runs and compares results with the real binary.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::common;
use crate::common::{csv_rows, digits, guardbit, root, shared_model, succeed};
use assert_cmd::Command;
use serde_json::Value;

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Runs the lines of an example, with `out` for its results folder; returns the output of the last one.
fn run_example(script: &str, out: &Path) -> String {
    let script = fs::read_to_string(root().join("examples/explore").join(script)).unwrap();
    let mut last = String::new();
    for line in script.lines().filter(|line| line.starts_with("guardbit ")) {
        let folder = format!("{}/", out.display());
        let words = line.split_whitespace().skip(1).map(|word| word.replace("out/", &folder));
        let output =
            Command::cargo_bin("guardbit").unwrap().current_dir(root()).args(words).output().unwrap();
        assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
        last = String::from_utf8(output.stdout).unwrap();
    }
    last
}

/// The example's lines run, and their files contain what they state.
#[test]
fn the_example_runs() {
    let out = tempfile::tempdir().unwrap();
    let last = run_example("digits.sh", out.path());
    let points = csv_rows(&out.path().join("explore/points.csv"));
    assert!(points.len() > 80, "{}", points.len());
    let recommended: Vec<_> = points.iter().filter(|row| row["recommended"] == "true").collect();
    assert_eq!((recommended.len(), recommended[0]["within"].as_str()), (1, "true"));
    let cost = |row: &common::Row| row["energy_pj"].parse::<f64>().unwrap();
    let within = points.iter().filter(|row| row["within"] == "true" && row["energy_model"] == "mine");
    assert!(within.clone().count() > 3);
    assert!(within.into_iter().all(|row| cost(recommended[0]) <= cost(row)));
    let front = csv_rows(&out.path().join("explore/pareto.csv"));
    assert_eq!(front.len(), points.iter().filter(|row| row["front"] == "true").count());
    // The search found the best designs: their widths are those of layers.
    let page = fs::read_to_string(out.path().join("explore/report.html")).unwrap();
    assert!(page.contains(&format!("bits by layer: {}", recommended[0]["widths"])));
    // The recommended accelerator behaves as the table states.
    let run: Value =
        serde_json::from_slice(&fs::read(out.path().join("explored/run.json")).unwrap()).unwrap();
    assert_eq!(run["timing"]["cycles"].to_string(), recommended[0]["cycles"]);
    assert_eq!(run["outcome"]["accuracy"].as_f64().unwrap().to_string(), recommended[0]["accuracy"]);
    for says in ["setting ", "figure ", "level ", "energy (pJ), aladdin-40nm", "accumulation"] {
        assert!(last.contains(says), "{says}: {last}");
    }
}

/// Mappings and residency change the cost of designs, but not their values.
#[test]
fn mappings_are_explored() {
    let out = tempfile::tempdir().unwrap();
    run_example("mappings.sh", out.path());
    let points = csv_rows(&out.path().join("mappings/points.csv"));
    let values: BTreeSet<&str> = points.iter().map(|row| row["values"].as_str()).collect();
    assert_eq!((points.len(), values.len()), (6, 1));
    let of = |depthwise: &str, residency: &str, figure: &str| -> f64 {
        let is =
            |row: &&common::Row| row["array.depthwise"] == depthwise && row["memory.residency"] == residency;
        points.iter().find(is).unwrap()[figure].parse().unwrap()
    };
    for depthwise in ["serial", "block_diagonal", "own_inputs"] {
        for figure in ["cycles", "energy_pj"] {
            assert!(of(depthwise, "fit", figure) < of(depthwise, "none", figure), "{depthwise} {figure}");
        }
    }
    for depthwise in ["block_diagonal", "own_inputs"] {
        assert!(of(depthwise, "fit", "cycles") < of("serial", "fit", "cycles"), "{depthwise}");
    }
}

/// Activations that stay on the chip are listed, and every layer's output is accounted for.
#[test]
fn what_stays_is_shown() {
    let model = digits("digits_int8.tflite");
    let args = ["inspect", &model, "--hw", "fpga-int14-os"];
    let keys = ["--set", "memory.residency=fit"];
    assert!(!succeed(&args).contains("stay on the chip"));
    let text = succeed(&[&args[..], &keys].concat());
    // 64 pixels of 16 channels, then 36 of 16: both are present while the depthwise layer runs.
    let heading = "activations that stay on the chip, 1600 bytes at most, while depthwise_1 runs:";
    assert!(text.contains(heading), "{text}");
    let audit = succeed(&[&args[..], &keys, &["--audit"]].concat());
    for says in [
        "its output, 1024 bytes, stays on the chip until `depthwise_1` has read it",
        "its output, 576 bytes, stays on the chip until `pointwise_1` has read it",
        "its output goes to external memory: no layer on the accelerator reads it",
    ] {
        assert!(audit.contains(says), "{says}: {audit}");
    }
    let small = ["--set", "memory.activation_kib=1.2"];
    let audit = succeed(&[&args[..], &keys, &small, &["--audit"]].concat());
    assert!(
        audit.contains("its output goes to external memory: it does not fit `memory.activation_kib`"),
        "{audit}"
    );
}

/// Figures of priced runs, and the files that contain them.
#[test]
fn runs_are_priced() {
    let dir = tempfile::tempdir().unwrap();
    let (model, out) = (digits("digits_int8.tflite"), text(&dir.path().join("out")));
    let costs = ["--cost", "aladdin-40nm@16nm", "--cost", "finn-r"];
    let args = ["run", &model, "--hw", "fpga-int14-os", "--random", "2", "-o", &out];
    let stdout = succeed(&[&args[..], &costs[..]].concat());
    for says in [
        "energy, aladdin-40nm@16nm",
        "area, finn-r",
        "LUT",
        "bound by",
        "on the host",
        "without sram activation",
    ] {
        assert!(stdout.contains(says), "{says}: {stdout}");
    }
    let rows = csv_rows(&dir.path().join("out/costs.csv"));
    let total = rows.iter().find(|row| row["part"] == "total" && row["model"] == "finn-r").unwrap();
    assert_eq!((total["area_unit"].as_str(), total["energy_pj"].as_str()), ("LUT", ""));
    let json: Value = serde_json::from_slice(&fs::read(dir.path().join("out/run.json")).unwrap()).unwrap();
    assert_eq!(json["costs"].as_array().unwrap().len(), 2);
    assert_eq!(json["depends_on"]["settings"]["costs"][0]["name"], "aladdin-40nm@16nm");
    let bottlenecks = csv_rows(&dir.path().join("out/bottlenecks.csv"));
    assert_eq!(bottlenecks.len(), 4);
    let sum: u64 = bottlenecks.iter().map(|row| row["macs"].parse::<u64>().unwrap()).sum();
    assert_eq!(json["timing"]["macs"], sum);
}

#[test]
fn cost_models_are_shown() {
    let shown = succeed(&["hw", "costs", "horowitz-45nm"]);
    for says in ["ISSCC 2014", "linear(bits, 8, 0.03, 32, 0.1)", "not included", "lower end"] {
        assert!(shown.contains(says), "{says}: {shown}");
    }
    let json: Value = serde_json::from_str(&succeed(&["hw", "costs", "--json"])).unwrap();
    assert!(json.as_array().unwrap().iter().all(|model| !model["figures"].as_array().unwrap().is_empty()));
}

/// Messages name what cannot be compared.
#[test]
fn strays_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let model = digits("digits_int8.tflite");
    let path = |name: &str| text(&dir.path().join(name));
    let base = [model.as_str(), "--hw", "fpga-int14-os", "--random", "1"];
    succeed(&[&["run"], &base[..], &["-o", &path("run")]].concat());
    succeed(&[&["run"], &base[..], &["--set", "accumulation.acc.bits=16", "-o", &path("other")]].concat());
    succeed(&[&["size"], &base[..], &["-o", &path("size")]].concat());
    let check = |dirs: &[&str], says: &str| {
        let args: Vec<String> = dirs.iter().map(|name| path(name)).collect();
        let args: Vec<&str> = std::iter::once("compare").chain(args.iter().map(String::as_str)).collect();
        let output = guardbit(&args);
        let stderr = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{says}: {stderr}");
    };
    check(&["run", "size"], "of `guardbit size`");
    check(&["run", "absent"], "does not exist");
    fs::create_dir(dir.path().join("empty")).unwrap();
    check(&["run", "empty"], "contains none of run.json");
    let json: Value =
        serde_json::from_str(&succeed(&["compare", &path("run"), &path("other"), "--json"])).unwrap();
    let names: Vec<&str> =
        json["settings"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"hw.resolved.accumulation.acc.bits"), "{names:?}");
    assert!(json["rows"].as_array().unwrap().iter().any(|row| row["column"] == "wrong"), "{json}");
    let same = succeed(&["compare", &path("run"), &path("run")]);
    assert!(same.contains("All settings are equal."), "{same}");
    let manifest = dir.path().join("other/run.json");
    let changed = fs::read_to_string(&manifest).unwrap().replace("\"cycles\":", "\"cycles\": 1");
    fs::write(&manifest, changed).unwrap();
    check(&["run", "other"], "changed since guardbit wrote it");
}

/// Many designs of a real network: one design per set of values is simulated.
#[test]
fn designs_of_a_real_network() {
    let (Some(model), Some(images), Some(labels)) = (
        shared_model("resnet8_cifar10_int8.tflite"),
        shared_model("resnet8_cifar10_images.npy"),
        shared_model("resnet8_cifar10_labels.npy"),
    ) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let out = text(&dir.path().join("out"));
    let args = [
        "explore",
        &model,
        "--hw",
        "fpga-int14-ws",
        "--axis",
        "array.rows=16,32",
        "--axis",
        "array.cols=8,16",
        "--axis",
        "accumulation.chain.bits=18,22",
        "--axis",
        "accumulation.acc.bits=18,24",
        "--input",
        &images,
        "--labels",
        &labels,
        "--samples",
        "2",
        "-o",
        &out,
    ];
    succeed(&args);
    let points = csv_rows(&dir.path().join("out/points.csv"));
    let count = |ran: &str| points.iter().filter(|row| row["ran"] == ran).count();
    assert_eq!(points.len(), 16);
    assert!(count("simulated") <= 6 && count("nothing overflows") >= 2, "{points:?}");
}
