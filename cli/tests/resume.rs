//! A results folder belongs to its inputs: nothing of another network or study gets in.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::{assert_same, contents, csv_rows};
use assert_cmd::Command;
use ndarray::Array2;
use ndarray_npy::write_npy;

const NETWORK: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 32], dtype: int8, scale: 0.1, zero_point: 0}
constants:
  - {name: w, shape: [4, 32], dtype: int8, scale: 0.1, zero_point: 0, file: w.npy}
  - {name: v, shape: [3, 4], dtype: int8, scale: 0.1, zero_point: 0, random: {seed: 1}}
nodes:
  - {op: fully_connected, inputs: [x, w], output: {name: h, dtype: int8, scale: 9.0, zero_point: 0}}
  - {op: fully_connected, inputs: [h, v], output: {name: y, dtype: int8, scale: 9.0, zero_point: 0}}
outputs: [y]
";

/// Creates a folder with a network whose weights depend on `seed`.
fn folder(seed: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("net.yaml"), NETWORK).unwrap();
    weights(dir.path(), seed);
    dir
}

fn weights(dir: &Path, seed: usize) {
    let codes = (0..128).map(|i| ((i * 61 + seed * 7) % 255) as u8 as i8).collect();
    write_npy(dir.join("w.npy"), &Array2::from_shape_vec((4, 32), codes).unwrap()).unwrap();
}

fn guardbit(dir: &Path, args: &str) -> Output {
    let args: Vec<&str> = args.split_whitespace().collect();
    Command::cargo_bin("guardbit").unwrap().current_dir(dir).args(args).output().unwrap()
}

fn sweep(dir: &Path, more: &str) -> Output {
    guardbit(dir, &format!("sweep net.yaml --hw fpga-int14-os --bits 12..=15 -o out {more}"))
}

fn succeed(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(output: &Output, why: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let text: Vec<&str> = stderr.split_whitespace().collect();
    assert!(text.join(" ").contains(why), "{stderr}");
}

/// The file of the network is unchanged, but the weights that it names are not.
#[test]
fn other_weights_are_another_network() {
    let dir = folder(1);
    succeed(sweep(dir.path(), "--random 3"));
    let before = contents(&dir.path().join("out"));
    weights(dir.path(), 2);
    refused(&sweep(dir.path(), "--random 3"), "its results come from another network:");
    assert_eq!(contents(&dir.path().join("out")), before, "nothing is touched");
    // A missing point does not change this.
    fs::remove_file(dir.path().join("out/points/00001.json")).unwrap();
    refused(&sweep(dir.path(), "--random 3"), "another network");
    // With the first weights, it resumes.
    weights(dir.path(), 1);
    succeed(sweep(dir.path(), "--random 3"));
    assert_eq!(contents(&dir.path().join("out")), before);
}

#[test]
fn it_is_said_what_differs() {
    let dir = folder(1);
    succeed(sweep(dir.path(), "--random 3"));
    for (more, why) in [
        ("--random 4", "come from other samples:"),
        ("--random 3 --set product.shift=1", "come from another accelerator:"),
        ("--random 3 --seed 1 --stats full", "come from other samples, other settings:"),
        ("--random 3 --mode isolated", "come from other settings:"),
        ("--random 3 --overflow wrap", "come from other points:"),
    ] {
        refused(&sweep(dir.path(), more), why);
    }
}

/// A point that another sweep put there is run again, with a note.
#[test]
fn points_of_others_are_not_taken() {
    let (mine, other) = (folder(1), folder(2));
    succeed(sweep(mine.path(), "--random 3"));
    let whole = contents(&mine.path().join("out"));
    succeed(sweep(other.path(), "--random 3"));
    let point = "out/points/00002.json";
    fs::copy(other.path().join(point), mine.path().join(point)).unwrap();
    // Another point of the sweep does not match either.
    fs::copy(mine.path().join("out/points/00000.json"), mine.path().join("out/points/00001.json")).unwrap();
    let output = sweep(mine.path(), "--random 3");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    for point in ["points/00001.json", "points/00002.json"] {
        assert!(said.contains(&format!("{point} has other inputs or settings and is run again")), "{said}");
    }
    succeed(output);
    assert!(contents(&mine.path().join("out")) == whole);
}

/// The name of a file is not part of the identity, but is listed in results.
#[test]
fn a_renamed_network_is_the_same() {
    let (dir, fresh) = (folder(1), folder(1));
    succeed(sweep(dir.path(), "--random 3"));
    let args = "sweep renamed.yaml --hw fpga-int14-os --bits 12..=15 -o out --random 3";
    for dir in [&dir, &fresh] {
        fs::rename(dir.path().join("net.yaml"), dir.path().join("renamed.yaml")).unwrap();
        succeed(guardbit(dir.path(), args));
    }
    assert_same(&dir.path().join("out"), &fresh.path().join("out"));
    let rows = csv_rows(&dir.path().join("out/summary.csv"));
    assert!(rows.iter().all(|row| row["model"] == "renamed.yaml"));
}

/// Runs and sizings also state their identity.
#[test]
fn every_manifest_has_an_identity() {
    let dir = folder(1);
    let identity = |args: &str, file: &str| {
        succeed(guardbit(dir.path(), args));
        let json: serde_json::Value =
            serde_json::from_slice(&fs::read(dir.path().join(file)).unwrap()).unwrap();
        assert_eq!(json["depends_on"]["model"], json["model"]["sha256"]);
        assert_eq!(json["depends_on"]["input"], json["input"]["sha256"]);
        assert_eq!(json["depends_on"]["accelerator"], json["hw"]["sha256"]);
        json["identity"].as_str().unwrap().to_owned()
    };
    for (command, file) in [("run", "run.json"), ("size", "size.json")] {
        let args = |out: &str| format!("{command} net.yaml --hw fpga-int14-os --random 3 -o {out}");
        let (a, b) = (format!("{command}_a"), format!("{command}_b"));
        weights(dir.path(), 1);
        let first = identity(&args(&a), &format!("{a}/{file}"));
        weights(dir.path(), 2);
        assert_ne!(first, identity(&args(&b), &format!("{b}/{file}")), "{command}");
    }
}

/// A layer's own register is kept, and the sweep prints a note.
#[test]
fn a_layer_that_is_not_swept_is_said() {
    let dir = folder(1);
    let hw = "schema: 1\nextends: fpga-int14-os\nname: own\nlayers:\n  y: {accumulation.acc.bits: 14}\n";
    fs::write(dir.path().join("own.yaml"), hw).unwrap();
    let args = "sweep net.yaml --hw own.yaml --bits 13..=15 --overflow wrap,saturate --random 2 -o out";
    let table = succeed(guardbit(dir.path(), args));
    let sentence = "layer #1 y keeps its own 14 bits at level acc";
    assert_eq!(table.lines().filter(|line| *line == sentence).count(), 1, "{table}");
    let json: serde_json::Value =
        serde_json::from_str(&succeed(guardbit(dir.path(), &format!("{args} --json")))).unwrap();
    let own =
        |bits: &str, mode: &str| if bits == "14" { String::new() } else { format!("1: 14 bits {mode}") };
    for (row, printed) in csv_rows(&dir.path().join("out/summary.csv")).iter().zip(json.as_array().unwrap()) {
        let expected = own(&row["bits"], &row["overflow"]);
        assert_eq!(row["not_swept"], expected);
        assert_eq!(printed["not_swept"].as_str().unwrap_or_default(), expected);
    }
    for row in csv_rows(&dir.path().join("out/sweep.csv")) {
        let real = if row["layer"] == "y" { "14" } else { &row["point_bits"] };
        assert_eq!(row["bits"], real, "{row:?}");
    }
    let report = fs::read_to_string(dir.path().join("out/report.html")).unwrap();
    assert!(report.contains(&format!("Not swept: {sentence}.")));
    // A sweep that reaches every layer has no such note.
    assert!(!succeed(sweep(dir.path(), "--random 2 --force")).contains("keeps"));
}
