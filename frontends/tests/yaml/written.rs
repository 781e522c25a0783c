//! Tests of networks that are written as graph YAML and read again.

use std::path::{Path, PathBuf};

use guardbit_frontends::yaml::YamlFiles;
use guardbit_frontends::{load, read_tflite, read_yaml, write_yaml};
use guardbit_graph::Graph;
use proptest::prelude::*;
use serde_json::Value;

use super::networks_of_passes::{layers, network};
use crate::onnx::built;

const FOLDER: &str = "arrays";

/// Returns all data that decides what a network computes, and its description.
fn all(graph: &Graph) -> (Value, String, Vec<(&String, &String)>) {
    (serde_json::to_value(graph).unwrap(), graph.name().into(), graph.metadata().iter().collect())
}

fn again(files: &YamlFiles) -> Graph {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(FOLDER)).unwrap();
    for (name, bytes) in &files.arrays {
        std::fs::write(folder.path().join(FOLDER).join(name), bytes).unwrap();
    }
    read_yaml(&files.text, folder.path(), "file").unwrap_or_else(|error| panic!("{error}\n{}", files.text))
}

/// The written network reads as an equal one, and is written identically again.
fn check(graph: &Graph) {
    if graph.has_states() {
        assert!(write_yaml(graph, FOLDER).unwrap_err().to_string().starts_with("state `"));
        return;
    }
    let files = write_yaml(graph, FOLDER).unwrap();
    let read = again(&files);
    assert_eq!(all(&read), all(&graph.in_order_of_files()), "{}", files.text);
    assert_eq!(write_yaml(&read, FOLDER).unwrap(), files);
}

fn workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

fn check_file(path: &str) {
    match workspace(path) {
        path if path.exists() => check(&load(&path).unwrap()),
        path => println!("skipped: {} is absent", path.display()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_networks_are_read_as_they_were(layers in layers()) {
        check(&network(&layers));
    }
}

#[test]
fn built_networks_are_read_as_they_were() {
    (0..60).for_each(|seed| check(&built::network(seed)));
}

/// Networks of every operator and type of TensorFlow Lite.
#[test]
fn networks_of_tflite_are_read_as_they_were() {
    let text = std::fs::read_to_string(workspace("frontends/tests/data/tflite_oracle.json")).unwrap();
    for case in serde_json::from_str::<Vec<Value>>(&text).unwrap() {
        let hex = case["model"].as_str().unwrap();
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        check(&read_tflite(&bytes, case["name"].as_str().unwrap()).unwrap());
    }
    check_file("examples/digits/digits_int8.tflite");
}

#[test]
fn networks_of_onnx_are_read_as_they_were() {
    let mut files: Vec<_> = std::fs::read_dir(workspace("frontends/tests/onnx/golden"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "onnx"));
    assert!(files.len() > 20);
    files.iter().for_each(|path| check(&load(path).unwrap()));
}

#[test]
#[cfg_attr(not(shared_models), ignore = "needs ../shared/models")]
fn real_networks_are_read_as_they_were() {
    for name in
        ["resnet8_cifar10_int8", "vww_mobilenet_v1_025_int8", "kws_dscnn_int8", "anomaly_autoencoder_int8"]
    {
        check_file(&format!("../shared/models/{name}.tflite"));
    }
}

/// Names, texts and numbers that YAML would read differently; integers without a scale; numbers that are not finite.
#[test]
fn odd_networks_are_read_as_they_were() {
    let text = r#"
schema: 1
name: "true"
inputs:
  - {name: "no, [it] is: {not} # \\ \"", shape: [1, 2], dtype: float32}
  - {name: "1e3", shape: [1, 2], dtype: int32, scale: none}
constants:
  - {name: "~", shape: [2], dtype: float32, reals: [.inf, -0.0]}
  - {name: wide, shape: [3, 17], dtype: uint4, scale: [1e-38, 0.1, 3.4e+38], zero_point: [0, 1, 15], axis: 0, random: {seed: 3}}
nodes:
  - {op: float_unary, function: clip, parameters: [-.inf, 1e-45], inputs: ["no, [it] is: {not} # \\ \""], output: {name: "null", dtype: float32}}
  - {op: float_binary, function: add, inputs: ["null", "~"], output: {name: "ünï 測", dtype: float32}}
  - {op: integer_binary, function: mul, inputs: ["1e3", "1e3"], output: {name: "- a", dtype: int32, scale: none}}
  - {op: slice, size: [1, 2], begin: [0, 1], strides: [1, -1], shape: [1, 2], inputs: ["- a"], output: {name: y, dtype: int32, scale: none}}
  - {op: dynamic_quantization, function: scale, inputs: ["ünï 測"], output: {name: s, dtype: float32}}
  - {op: dynamic_quantization, function: zero_point, inputs: ["ünï 測"], output: {name: z, dtype: uint8, scale: 1}}
  - {op: quantize_by, inputs: ["ünï 測", s, z], output: {name: q, dtype: uint8, scale: 1}}
  - {op: sub_zero_point, inputs: [q, z], output: {name: c, dtype: int16, scale: 1, range: [-255, 255]}}
outputs: [y, c, "ünï 測"]
metadata: {"made by": "a script:\n\tof \"mine\" ", empty: ""}
"#;
    let graph = read_yaml(text, Path::new(""), "net").unwrap();
    check(&graph);
    insta::assert_snapshot!(write_yaml(&graph, FOLDER).unwrap().text);
}
