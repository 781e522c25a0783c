//! Tests of parts of files. Operators after a part may be unknown.

use guardbit_frontends::{Cut, load_part};
use guardbit_graph::Graph;

use crate::onnx::writer as onnx;
use crate::tflite::writer as tflite;

/// Reads a part of a file with these bytes.
fn part(name: &str, bytes: &[u8], from: &[&str], to: &[&str]) -> Result<Graph, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let cut = Cut { from: names(from), to: names(to), ..Cut::default() };
    load_part(&path, None, &cut).map_err(|error| format!("{}: {}", error.code(), error.message()))
}

fn names(graph: &Graph) -> Vec<Vec<&str>> {
    let of =
        |ids: &[guardbit_graph::TensorId]| ids.iter().map(|&id| graph.tensor(id).name.as_str()).collect();
    vec![
        of(graph.inputs()),
        graph.nodes().iter().map(|n| graph.tensor(n.output).name.as_str()).collect(),
        of(graph.outputs()),
    ]
}

/// x -> relu `a` -> relu6 `b` -> an unknown operator. Only the operator after the cut reads `u`.
#[test]
fn operators_behind_a_tensor_of_a_tflite_file_are_not_read() {
    let tensor = |name| tflite::Tensor::int8(name, &[1, 4], 0.5, 0);
    let unknown = tflite::Operator { inputs: vec![2, 4], ..tflite::Operator::new(127, &[], 3) };
    let operators = vec![tflite::Operator::new(19, &[0], 1), tflite::Operator::new(21, &[1], 2), unknown];
    let tensors = ["x", "a", "b", "y", "u"].map(tensor).to_vec();
    let model = tflite::Model { inputs: vec![0, 4], ..tflite::Model::new(tensors, operators) }.to_bytes();
    let part = |from: &[&str], to: &[&str]| part("net.tflite", &model, from, to);
    assert!(part(&[], &[]).unwrap_err().starts_with("guardbit::tflite::unsupported_operator"));
    assert_eq!(names(&part(&[], &["b"]).unwrap()), [vec!["x"], vec!["a", "b"], vec!["b"]]);
    assert_eq!(names(&part(&[], &["b", "a", "b"]).unwrap()), [vec!["x"], vec!["a", "b"], vec!["b", "a"]]);
    assert_eq!(names(&part(&["a"], &["b"]).unwrap()), [vec!["a"], vec!["b"], vec!["b"]]);
    // A tensor that no operator of the file computes is looked up in the network, which cannot be read.
    assert!(part(&[], &["x"]).unwrap_err().starts_with("guardbit::tflite::unsupported_operator"));
}

#[test]
fn operators_behind_a_tensor_of_an_onnx_file_are_not_read() {
    let model = onnx::Model {
        opset: 13,
        nodes: vec![
            onnx::Node::new("Relu", &["x"], &["a"]),
            onnx::Node::new("Neg", &["a"], &["b"]),
            onnx::Node::new("NonMaxSuppression", &["b", "u"], &["y"]),
        ],
        constants: vec![],
        inputs: ["x", "u"].map(|name| (name.to_owned(), onnx::element::FLOAT, vec![1, 4])).to_vec(),
        outputs: vec!["y".into()],
    };
    let model = model.to_bytes();
    let part = |from: &[&str], to: &[&str]| part("net.onnx", &model, from, to);
    assert!(part(&[], &[]).unwrap_err().starts_with("guardbit::onnx::operator"));
    assert_eq!(names(&part(&[], &["b"]).unwrap()), [vec!["x"], vec!["a", "b"], vec!["b"]]);
    assert_eq!(names(&part(&["a"], &["b"]).unwrap()), [vec!["a"], vec!["b"], vec!["b"]]);
    assert_eq!(names(&part(&[], &["a"]).unwrap()), [vec!["x"], vec!["a"], vec!["a"]]);
    let error = part(&["c"], &["b"]).unwrap_err();
    assert!(error.starts_with("guardbit::cut::unknown_tensor: the network has no tensor `c`"), "{error}");
}

#[test]
fn graph_yaml_is_cut_as_it_is_read() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny.yaml");
    let whole = guardbit_frontends::load(&path).unwrap();
    let first = whole.node_name(whole.nodes_with_ids().next().unwrap().0).to_owned();
    let cut = Cut { from: vec![], to: vec![first.clone()], ..Cut::default() };
    let part = load_part(&path, None, &cut).unwrap();
    assert_eq!((part.nodes().len(), part.tensor(part.outputs()[0]).name.clone()), (1, first));
}
