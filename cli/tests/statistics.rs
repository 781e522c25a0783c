//! Statistics about unseen samples, recomputed by scikit-learn, statsmodels and SciPy.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{csv_rows, digits, guardbit, needed, root, shared_model, succeed};
use ndarray::{Array1, Array2};
use ndarray_npy::{NpzReader, write_npy};

/// Recomputes every figure of a results folder; returns their number.
fn recompute(folder: &Path, more: &[&str]) -> u64 {
    let mut python = Command::new(needed("GUARDBIT_STATISTICS_PYTHON"));
    let script = root().join("scripts/oracles/check_statistics.py");
    let output = python.arg(script).arg(folder).args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}

/// Accuracies, intervals, classes and pairs of a sweep with labels, and of one without.
#[test]
#[ignore = "needs GUARDBIT_STATISTICS_PYTHON"]
fn sweeps_are_recomputed() {
    let dir = tempfile::tempdir().unwrap();
    let (model, images, labels) =
        (digits("digits_int8.tflite"), digits("test_images.npy"), digits("test_labels.npy"));
    let axes =
        ["--axis", "accumulation.acc.bits=11..=14", "--axis", "accumulation.acc.overflow=wrap,saturate"];
    for (name, more) in [("labels", &["--labels", labels.as_str()][..]), ("none", &[])] {
        let out = dir.path().join(name);
        let args = ["sweep", &model, "--hw", "fpga-int14-os", "--input", &images, "--quiet", "-o"];
        succeed(&[&args[..], &[&out.to_string_lossy()], &axes, more].concat());
        let pairs = csv_rows(&out.join("pairs.csv"));
        let along = pairs.iter().filter(|pair| pair["by"] == "accumulation.acc.bits").count();
        let across = pairs.iter().filter(|pair| pair["by"] == "accumulation.acc.overflow").count();
        assert_eq!(
            (along, across, pairs.len()),
            (6, 4, 6 + 4 + 7),
            "{name}: 3 steps twice, 4 modes, 7 against the best"
        );
        let figures = recompute(&out, &[]);
        assert!(figures > 8 * 10 * 6, "{name}: {figures} figures");
    }
}

const SCALES: [&str; 5] = ["--scales", "0.5", "-3", "0.75", "2"];

/// Network that reconstructs six values, with scales and zero points from [`SCALES`].
const AUTOENCODER: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 6], dtype: int8, scale: 0.5, zero_point: -3}
constants:
  - {name: w, shape: [4, 6], dtype: int8, scale: 0.02, random: {seed: 1}}
  - {name: v, shape: [6, 4], dtype: int8, scale: 0.02, random: {seed: 2}}
nodes:
  - {op: fully_connected, inputs: [x, w], output: {name: h, dtype: int8, scale: 0.9, zero_point: 0}}
  - {op: fully_connected, inputs: [h, v], output: {name: y, dtype: int8, scale: 0.75, zero_point: 2}}
outputs: [y]
";

/// Runs the network on 40 random samples with labels; returns its folder.
fn run(dir: &Path, name: &str, labels: &Path, more: &[&str]) -> std::path::PathBuf {
    let out = dir.join(name);
    let words = [&dir.join("net.yaml"), labels, &out].map(|path| path.to_string_lossy().into_owned());
    let [model, labels, text] = &words;
    let args = ["run", model, "--hw", "fpga-int14-os", "--set", "accumulation.acc.bits=12", "--random", "40"];
    succeed(&[&args[..], &["--labels", labels, "--quiet", "-o", text], more].concat());
    out
}

#[test]
#[ignore = "needs GUARDBIT_STATISTICS_PYTHON"]
fn detectors_and_regressors_are_recomputed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("net.yaml"), AUTOENCODER).unwrap();
    let flags = dir.path().join("flags.npy");
    write_npy(&flags, &Array1::from_iter((0..40i64).map(|i| i * i % 3 % 2))).unwrap();
    let values = dir.path().join("values.npy");
    let value = |(row, column): (usize, usize)| (row as f32).sin() * 20.0 + column as f32;
    write_npy(&values, &Array2::from_shape_fn((40, 6), value)).unwrap();
    let detected = run(dir.path(), "detected", &flags, &[]);
    assert!(recompute(&detected, &SCALES) > 80);
    let values_text = values.to_string_lossy();
    let regressed = run(dir.path(), "regressed", &values, &[]);
    assert_eq!(recompute(&regressed, &[&SCALES[..], &["--values", &values_text]].concat()), 3);
    let classified = run(dir.path(), "classified", &flags, &["--task", "classify"]);
    assert!(recompute(&classified, &SCALES) > 6 * 8);
}

/// Tasks that labels and shapes imply, and refusals.
#[test]
fn tasks() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("net.yaml"), AUTOENCODER).unwrap();
    let path = |name: &str| dir.path().join(name);
    write_npy(path("flags.npy"), &Array1::from_iter((0..40i64).map(|i| i % 2))).unwrap();
    write_npy(path("classes.npy"), &Array1::from_iter((0..40i64).map(|i| i % 6))).unwrap();
    write_npy(path("values.npy"), &Array2::<f32>::zeros((40, 6))).unwrap();
    write_npy(path("other.npy"), &Array2::<f32>::zeros((40, 5))).unwrap();
    let outcome = |name: &str, labels: &str, more: &[&str]| -> serde_json::Value {
        let out = run(dir.path(), name, &path(labels), more);
        let json: serde_json::Value =
            serde_json::from_slice(&fs::read(out.join("run.json")).unwrap()).unwrap();
        json["outcome"].clone()
    };
    let detected = outcome("detected", "flags.npy", &[]);
    assert_eq!((detected["task"].as_str(), detected["accuracy"].is_null()), (Some("detect"), true));
    assert!(detected["auc"].is_number() && detected["auc_exact"].is_number());
    let classified = outcome("classified", "classes.npy", &[]);
    assert_eq!((classified["task"].as_str(), classified["auc"].is_null()), (Some("classify"), true));
    let regressed = outcome("regressed", "values.npy", &[]);
    assert_eq!((regressed["task"].as_str(), regressed["accuracy"].is_null()), (Some("regress"), true));
    assert!(regressed["mse"].is_number());
    let isolated = outcome("isolated", "flags.npy", &["--mode", "isolated"]);
    assert_eq!((isolated["auc"].is_null(), isolated["auc_exact"].is_number()), (true, true));

    let refused = |labels: &str, task: &str| {
        let (model, labels) = (path("net.yaml"), path(labels));
        let (model, labels) = (model.to_string_lossy(), labels.to_string_lossy());
        let args =
            ["run", &model, "--hw", "fpga-int14-os", "--random", "40", "--labels", &labels, "--task", task];
        let output = guardbit(&[&args[..], &["-o", "nowhere", "--quiet"]].concat());
        assert_eq!(output.status.code(), Some(2));
        let text = String::from_utf8(output.stderr).unwrap().replace(&*dir.path().to_string_lossy(), "");
        text.split_whitespace().filter(|word| !["│", "×"].contains(word)).collect::<Vec<_>>().join(" ")
    };
    insta::assert_snapshot!(
        [
            refused("classes.npy", "detect"),
            refused("values.npy", "detect"),
            refused("flags.npy", "regress"),
            refused("other.npy", "regress"),
            refused("values.npy", "classify"),
            refused("flags.npy", "sort"),
        ]
        .join("\n")
    );
}

/// An autoencoder has no classes: its output is compared with its input.
#[test]
fn the_shared_autoencoder_detects() {
    let (Some(model), Some(windows)) =
        (shared_model("anomaly_autoencoder_int8.tflite"), shared_model("anomaly_windows.npy"))
    else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let out_text = out.to_string_lossy();
    let args =
        ["run", &model, "--hw", "fpga-int14-os", "--input", &windows, "--samples", "8", "--stats", "none"];
    succeed(&[&args[..], &["--task", "detect", "--dump-tensors", "--quiet", "-o", &out_text]].concat());
    let mut predictions = NpzReader::new(fs::File::open(out.join("predictions.npz")).unwrap()).unwrap();
    let names: Vec<String> = predictions.names().unwrap();
    assert_eq!(
        names,
        ["exact_score", "simulated_score"],
        "640 values are no small output, and there are no labels"
    );
    let scores: Array1<f32> = predictions.by_name("exact_score").unwrap();
    assert_eq!(scores.len(), 8);
    assert!(scores.iter().all(|score| score.is_finite() && *score > 0.0), "{scores}");
}
