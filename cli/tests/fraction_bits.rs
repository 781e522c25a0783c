//! `guardbit size` on accelerators that add floating-point products: fraction bits within a budget, and areas.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::common::{csv_rows, digits, needed, succeed};

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn column(path: &Path, name: &str) -> Vec<String> {
    csv_rows(path).into_iter().map(|row| row[name].clone()).collect()
}

const FLOAT_DIGITS: [&str; 8] = [
    "--hw",
    "hopper-wgmma-e4m3",
    "--input",
    "examples/digits/test_images_float.npy",
    "--labels",
    "examples/digits/test_labels.npy",
    "--samples",
    "20",
];

/// Returns the rows of `size_bits.csv` of digits in FP8, and the accelerator that is recommended.
fn fraction_bits(more: &[&str], out: &Path) -> Vec<HashMap<String, String>> {
    let model = digits("digits_fp8.onnx");
    let out = text(out);
    let files = FLOAT_DIGITS.map(|argument| match argument.strip_prefix("examples/digits/") {
        Some(name) => digits(name),
        None => argument.to_owned(),
    });
    let mut args = vec!["size", &model, "-o", &out];
    args.extend(files.iter().map(String::as_str));
    args.extend(more);
    succeed(&args);
    csv_rows(&Path::new(&out).join("size_bits.csv"))
        .into_iter()
        .map(|row| row.into_iter().collect())
        .collect()
}

/// The least number from which on all are within the budget is recommended, and a run with it has the stated results.
#[test]
fn fraction_bits_are_sized() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("sized");
    let rows = fraction_bits(&["--budget", "accuracy=0%"], &out);
    let recommended = rows.iter().position(|row| row["recommended"] == "true").unwrap();
    let exact: f64 = rows.last().unwrap()["accuracy"].parse().unwrap();
    assert!(recommended > 0, "one bit is not enough for digits");
    assert_eq!(rows[recommended - 1]["within_budget"], "false");
    for row in &rows[recommended..] {
        assert_eq!(row["within_budget"], "true");
        assert!(row["accuracy"].parse::<f64>().unwrap() >= exact);
    }
    let hw = text(&out.join("recommended.yaml"));
    let ran = dir.path().join("ran");
    let mut args =
        vec!["run".to_owned(), digits("digits_fp8.onnx"), "-o".into(), text(&ran), "--hw".into(), hw];
    let own =
        |argument: &&str| argument.strip_prefix("examples/digits/").map_or(argument.to_string(), digits);
    args.extend(FLOAT_DIGITS[2..].iter().map(own));
    succeed(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let bits = column(&ran.join("aligned.csv"), "fraction_bits");
    assert!(bits.iter().all(|bits| *bits == rows[recommended]["fraction_bits"]), "{bits:?}");
    let ran: serde_json::Value = serde_json::from_slice(&fs::read(ran.join("run.json")).unwrap()).unwrap();
    let stated: f64 = rows[recommended]["output_sqnr_db"].parse().unwrap();
    let found = ran["outcome"]["output_sqnr_db"].as_f64().unwrap();
    assert!((found - stated).abs() < 1e-9, "{found} {stated}");

    // Without a budget, the most that a layer requires.
    let out = dir.path().join("required");
    let rows = fraction_bits(&[], &out);
    let most = column(&out.join("size_float.csv"), "required_result")
        .iter()
        .map(|bits| bits.parse::<u32>().unwrap())
        .max();
    let last = rows.last().unwrap();
    assert_eq!((last["recommended"].as_str(), last["fraction_bits"].parse().ok()), ("true", most));
    assert!(rows.iter().all(|row| row["within_budget"].is_empty() && row["lut"].is_empty()));
}

/// A unit with more fraction bits is larger.
#[test]
#[ignore = "needs GUARDBIT_SIMULATORS, see scripts/test"]
fn areas_of_fraction_bits_come_from_yosys() {
    needed("GUARDBIT_SIMULATORS");
    let dir = tempfile::tempdir().unwrap();
    // Units of 4 products take seconds.
    let sets = ["--set", "float_accumulation.terms=4", "--set", "array.dot_width=4", "--area", "yosys"];
    let rows = fraction_bits(&sets, &dir.path().join("sized"));
    let areas: Vec<(u32, u64)> = rows
        .iter()
        .filter(|row| !row["lut"].is_empty())
        .map(|row| (row["fraction_bits"].parse().unwrap(), row["lut"].parse().unwrap()))
        .collect();
    let expected: Vec<u32> = (1..=rows.len() as u32)
        .filter(|bits| bits % 4 == 0 || *bits == 13 || *bits == rows.len() as u32)
        .collect();
    assert_eq!(areas.iter().map(|(bits, _)| *bits).collect::<Vec<_>>(), expected);
    assert!(areas.windows(2).all(|pair| pair[0].1 < pair[1].1), "{areas:?}");
}
