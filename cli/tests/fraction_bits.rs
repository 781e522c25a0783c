//! `guardbit size` on accelerators that add floating-point products: fraction bits within a budget, and areas.

use std::fs;
use std::path::Path;

use crate::common::{csv_rows, digits, needed, succeed};

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn column(path: &Path, name: &str) -> Vec<String> {
    csv_rows(path).into_iter().map(|row| row[name].clone()).collect()
}

/// Runs a command on a network of the digits with labelled samples.
fn succeed_on(command: &str, model: &str, hw: &str, more: &[&str], out: &Path) {
    let (images, labels, out) = (digits("test_images_float.npy"), digits("test_labels.npy"), text(out));
    let args = [command, model, "--hw", hw, "--input", &images, "--labels", &labels, "--samples", "20"];
    succeed(&[&args[..], &["-o", &out], more].concat());
}

/// The least number from which on all are within the budget is recommended, and a run with it has the stated results.
#[test]
fn fraction_bits_are_sized() {
    let dir = tempfile::tempdir().unwrap();
    let (model, hw) = (digits("digits_fp8.onnx"), "hopper-wgmma-e4m3");
    let out = dir.path().join("sized");
    succeed_on("size", &model, hw, &["--budget", "accuracy=0%"], &out);
    let rows = csv_rows(&out.join("size_bits.csv"));
    let recommended = rows.iter().position(|row| row["recommended"] == "true").unwrap();
    let exact: f64 = rows.last().unwrap()["accuracy"].parse().unwrap();
    assert!(recommended > 0, "one bit is not enough for digits");
    assert_eq!(rows[recommended - 1]["within_budget"], "false");
    for row in &rows[recommended..] {
        assert_eq!(row["within_budget"], "true");
        assert!(row["accuracy"].parse::<f64>().unwrap() >= exact);
    }
    let ran = dir.path().join("ran");
    succeed_on("run", &model, &text(&out.join("recommended.yaml")), &[], &ran);
    let bits = column(&ran.join("aligned.csv"), "fraction_bits");
    assert!(bits.iter().all(|bits| *bits == rows[recommended]["fraction_bits"]), "{bits:?}");
    let ran: serde_json::Value = serde_json::from_slice(&fs::read(ran.join("run.json")).unwrap()).unwrap();
    let stated: f64 = rows[recommended]["output_sqnr_db"].parse().unwrap();
    let found = ran["outcome"]["output_sqnr_db"].as_f64().unwrap();
    assert!((found - stated).abs() < 1e-9, "{found} {stated}");

    // Without a budget, the most that a layer requires.
    let out = dir.path().join("required");
    succeed_on("size", &model, hw, &[], &out);
    let rows = csv_rows(&out.join("size_bits.csv"));
    let required = column(&out.join("size_float.csv"), "required_result");
    let most = required.iter().map(|bits| bits.parse::<u32>().unwrap()).max();
    let last = rows.last().unwrap();
    assert_eq!((last["recommended"].as_str(), last["fraction_bits"].parse().ok()), ("true", most));
    assert!(rows.iter().all(|row| row["within_budget"].is_empty() && row["lut"].is_empty()));
}

/// A unit with four fraction bits more is larger. With one more, synthesis may find a smaller one.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn areas_of_fraction_bits_come_from_yosys() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    let (model, out) = (text(&dir.path().join("e2m1.onnx")), dir.path().join("sized"));
    // Products of codes of 4 bits need few fraction bits, and units of two of them take seconds.
    let (float, images) = (digits("digits_float.onnx"), digits("calibration.npy"));
    let codes = ["--weights", "e2m1", "--activations", "e2m1", "--calibration", &images];
    succeed(&[&["quantize", &float, "-o", &model][..], &codes].concat());
    let more = ["--set", "float_accumulation.terms=2", "--set", "array.dot_width=2", "--area", "yosys"];
    succeed_on("size", &model, "blackwell-f8f6f4", &more, &out);
    let rows = csv_rows(&out.join("size_bits.csv"));
    let areas: Vec<(usize, u64)> = rows
        .iter()
        .filter(|row| !row["lut"].is_empty())
        .map(|row| (row["fraction_bits"].parse().unwrap(), row["lut"].parse().unwrap()))
        .collect();
    let expected: Vec<usize> = (1..=rows.len()).filter(|bits| bits % 4 == 0 || *bits == rows.len()).collect();
    assert_eq!(areas.iter().map(|(bits, _)| *bits).collect::<Vec<_>>(), expected);
    let fourth: Vec<u64> = areas.iter().filter(|(bits, _)| bits % 4 == 0).map(|(_, lut)| *lut).collect();
    assert!(fourth.len() > 1 && fourth.windows(2).all(|pair| pair[0] < pair[1]), "{areas:?}");
}
