//! Identities of results do not change by accident, so that users' caches and interrupted studies stay valid.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;

use assert_cmd::Command;
use ndarray::{Array1, Array2};
use ndarray_npy::write_npy;
use serde_json::Value;

use crate::common::{contents, digits, root};

const NETWORK: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 32], dtype: int8, scale: 0.1, zero_point: 0}
constants:
  - {name: w, shape: [4, 32], dtype: int8, scale: 0.1, zero_point: 0, random: {seed: 7}}
  - {name: v, shape: [3, 4], dtype: int8, scale: 0.1, zero_point: 0, values: [1, -20, 3, 40, 5, -6, 70, 8, -9, 10, 11, 12]}
nodes:
  - {op: fully_connected, inputs: [x, w], output: {name: h, dtype: int8, scale: 9.0, zero_point: 0}}
  - {op: fully_connected, inputs: [h, v], output: {name: y, dtype: int8, scale: 9.0, zero_point: 0}}
outputs: [y]
";

const FLOAT: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 8], dtype: float32}
constants:
  - {name: w, shape: [8, 3], dtype: float32, file: weights.npy}
nodes:
  - {op: float_matmul, inputs: [x, w], output: {name: y, dtype: float32}}
outputs: [y]
";

const STUDY: &str = "\
schema: 1
model: [net.yaml, other.yaml]
hw: fpga-int14-os
input: x.npy
samples: 5
seed: 4
labels: y.npy
mode: isolated
stats: values
requantize: S
events: 3
set: {array.rows: 8}
sweep:
  bits: [11, 12]
  overflow: [wrap, saturate]
  axes: {reduction_order.walk: [forward, reverse]}
";

/// Creates the files that commands name.
fn prepare(dir: &Path) {
    fs::write(dir.join("net.yaml"), NETWORK).unwrap();
    fs::write(dir.join("other.yaml"), NETWORK.replace("seed: 7", "seed: 8")).unwrap();
    fs::write(dir.join("study.yaml"), STUDY).unwrap();
    fs::write(dir.join("mine.yaml"), "schema: 1\nextends: fpga-int14-os\narray: {cols: 4}\n").unwrap();
    let codes: Vec<i8> = (0..320).map(|i| ((i * 61) % 255) as u8 as i8).collect();
    write_npy(dir.join("x.npy"), &Array2::from_shape_vec((10, 32), codes).unwrap()).unwrap();
    write_npy(dir.join("y.npy"), &Array1::from_iter((0..10i64).map(|i| i % 3))).unwrap();
    fs::write(dir.join("float.yaml"), FLOAT).unwrap();
    let weights: Vec<f32> = (0..24).map(|i| ((i * 37) % 23) as f32 / 8.0 - 1.25).collect();
    write_npy(dir.join("weights.npy"), &Array2::from_shape_vec((8, 3), weights).unwrap()).unwrap();
    let reals: Vec<f32> = (0..32).map(|i| ((i * 29) % 31) as f32 / 4.0 - 3.5).collect();
    write_npy(dir.join("real.npy"), &Array2::from_shape_vec((4, 8), reals).unwrap()).unwrap();
    fs::copy(digits("digits_int8.tflite"), dir.join("digits_int8.tflite")).unwrap();
}

/// Returns every identity in the output of a command, one per line: those of manifests, of points, and the
/// names of files in stores.
fn identities(out: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, bytes) in contents(out) {
        let manifest = ["run.json", "size.json", "sweep.json", "explore.json"].contains(&path.as_str());
        if manifest {
            let json: Value = serde_json::from_slice(&bytes).unwrap();
            lines.push(format!("{path} {}", json["identity"].as_str().unwrap()));
            for (index, point) in json["points"].as_array().into_iter().flatten().enumerate() {
                lines.push(format!("{path} point {index} {}", point["identity"].as_str().unwrap()));
            }
        }
        // Each version of guardbit has its own folder in a store.
        let stored = path.rsplit('/').next().unwrap();
        if ["values/", "searches/", "cache/"].iter().any(|store| path.starts_with(store)) {
            lines.push(format!("{} {stored}", path.split('/').next().unwrap()));
        }
    }
    lines.sort();
    lines
}

/// Returns the identities written by the command on a line of the list.
fn identities_of(line: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    prepare(dir.path());
    let line = line.replace("-o out", "-o out/made").replace("--cache cache", "--cache out/made/cache");
    fs::create_dir(dir.path().join("out")).unwrap();
    let line =
        if line.starts_with("quantize") { line.replace("-o out/made", "-o network.onnx") } else { line };
    let output =
        Command::cargo_bin("guardbit").unwrap().current_dir(dir.path()).args(line.split(' ')).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    identities(&dir.path().join("out/made"))
}

/// `identities/list.txt` has commands, and indented below each the identities of its output.
/// `scripts/renew` renews them; do so only if equal things are to get other identities (`DERIVATION`,
/// `ARITHMETIC_VERSION`).
#[test]
fn identities_stay() {
    let path = root().join("cli/tests/identities/list.txt");
    let text = fs::read_to_string(&path).unwrap();
    let commands: Vec<&str> =
        text.lines().filter(|line| !line.starts_with([' ', '#']) && !line.is_empty()).collect();
    assert!(commands.len() >= 20);
    let found: BTreeMap<&str, Vec<String>> = thread::scope(|scope| {
        let each = commands.iter().map(|&line| (line, scope.spawn(move || identities_of(line))));
        let each: Vec<_> = each.collect();
        each.into_iter().map(|(line, done)| (line, done.join().unwrap())).collect()
    });
    let comment = text.lines().filter(|line| line.starts_with('#')).map(|line| format!("{line}\n"));
    let made = commands.iter().map(|&line| {
        assert!(!found[line].is_empty(), "{line} has no identity");
        found[line].iter().fold(format!("{line}\n"), |text, one| format!("{text}  {one}\n"))
    });
    let made = comment.chain(made).collect::<String>();
    if std::env::var_os("GUARDBIT_BLESS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap();
    for (expected, made) in committed.lines().zip(made.lines()) {
        assert_eq!(made, expected, "an identity changed: caches and unfinished studies would be lost");
    }
    assert_eq!(committed, made);
}
