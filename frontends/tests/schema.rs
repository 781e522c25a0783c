//! Tests that the schema of graph YAML accepts exactly the files that the reader accepts.

use std::fs;
use std::path::Path;

use guardbit_files::schema_violations;
use guardbit_frontends::{graph_schema, read_yaml};

/// `scripts/renew` renews the file.
#[test]
fn the_committed_schema_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("graph.schema.json");
    let text = graph_schema();
    if std::env::var_os("GUARDBIT_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "scripts/renew renews graph.schema.json");
}

/// Returns the violations of the schema in a file.
fn faults(text: &str) -> Vec<String> {
    let schema = serde_json::from_str(&graph_schema()).unwrap();
    let file = serde_yaml::from_str(text).unwrap();
    schema_violations(&schema, &file).into_iter().map(|v| format!("{}: {}", v.at, v.problem)).collect()
}

const GRAPH: &str = "\
schema: 1
inputs:
  - {name: x, shape: [1, 4, 4, 1], dtype: int8, scale: 0.1, zero_point: -3}
constants:
  - {name: w, shape: [2, 3, 3, 1], dtype: int8, scale: [0.1, 0.2], axis: 0, random: {seed: 1}}
  - {name: b, shape: [2], dtype: int32, values: [1, 2]}
nodes:
  - {op: conv2d, inputs: [x, w, b], output: {name: y, dtype: int8, scale: 0.2}, padding: same, activation: relu}
outputs: [y]
";

/// Replaces a part of a network and compares the verdicts of schema and reader.
fn check(from: &str, to: &str, valid: bool) {
    assert!(GRAPH.contains(from), "{from}");
    let text = GRAPH.replacen(from, to, 1);
    let faults = faults(&text);
    assert_eq!(faults.is_empty(), valid, "{text}{faults:#?}");
    assert_eq!(read_yaml(&text, Path::new(""), "net").is_ok(), valid, "{text}");
}

#[test]
fn schema_and_reader_agree() {
    check("", "", true);
    check("schema: 1", "schema: 2", false);
    check("schema: 1", "schema: 1\nname: small", true);
    check("schema: 1", "schema: 1\ntitle: small", false);
    check("dtype: int8, scale: 0.1, zero", "dtype: int7, scale: 0.1, zero", false);
    check("zero_point: -3", "zero_point: low", false);
    check("scale: 0.1, zero_point: -3", "scale: [0.1], zero_point: [-3], axis: 3", true);
    assert_eq!(
        faults(&GRAPH.replacen("scale: 0.1, zero_point: -3", "scale: none", 1)),
        [""; 0],
        "of indices"
    );
    check("scale: 0.1, zero_point: -3", "scale: some", false);
    check("outputs: [y]\n", "outputs: [y]\nmetadata: {origin: a test}\n", true);
    check("outputs: [y]\n", "outputs: [y]\nmetadata: {origin: [a, test]}\n", false);
    check("values: [1, 2]", "values: words", false);
    check("seed: 1", "seed: 1, min: -5, max: 5", true);
    check("random: {seed: 1}", "random: {}", false);
    check("op: conv2d", "op: conv3d", false);
    check("padding: same", "padding: {rows: [1, 1], cols: [0, 2]}", true);
    check("padding: same", "padding: {rows: [1, 1]}", false);
    check("padding: same", "padding: full", false);
    check("padding: same", "stride: [2, 2], dilation: [1, 1]", true);
    check("padding: same", "stride: 2", false);
    check("padding: same", "beta: 1.0", false);
    check("activation: relu", "activation: gelu", false);
    check("activation: relu", "requantize: double, multiplier: float32", true);
    check("activation: relu", "requantize: twice", false);
    check("inputs: [x, w, b]", "inputs: [x, w, null]", true);
    check("outputs: [y]\n", "", false);
}

/// The networks of the repository are valid.
#[test]
fn networks_are_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for file in ["frontends/tests/data/tiny.yaml", "study/tests/net.yaml", "fuzz/src/samples.yaml"] {
        assert_eq!(faults(&fs::read_to_string(root.join(file)).unwrap()), [""; 0], "{file}");
    }
}
