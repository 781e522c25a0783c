//! Tests with stored networks that `scripts/goldens/make_onnx_goldens.py` built and ran with ONNX Runtime and QONNX.

use std::path::Path;

use serde_json::Value;

use super::oracle::{Outcome, run};

#[test]
fn kept_networks_compute_what_their_runtime_computes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/golden");
    let text = std::fs::read_to_string(folder.join("cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() > 20);
    for case in &cases {
        let outcome = run(&folder, case);
        assert!(
            matches!(outcome, Outcome::Ran { different: 0, elements: 1.., layers, .. }
                if case["layers"].as_u64().is_none_or(|stated| stated == layers)),
            "{}: {outcome:?}",
            case["name"]
        );
    }
}

/// Changes of the reader are recorded in notes, which remain after passes.
#[test]
fn changes_are_noted() {
    use super::writer::{Attribute, Model, Node, Tensor, element};
    let scale = Tensor::reals("scale", &[0.5]).with_dims(&[]);
    let scales = Tensor::reals("scales", &[0.5, 0.25]);
    let weights = Tensor {
        name: "codes".into(),
        dims: vec![2, 3],
        element: element::INT8,
        bytes: vec![1, 2, 3, 4, 5, 6],
    };
    let model = Model {
        opset: 21,
        nodes: vec![
            Node::new("QuantizeLinear", &["x", "scale"], &["q"]),
            Node::new("DequantizeLinear", &["q", "scale"], &["r"]),
            Node::new("DequantizeLinear", &["codes", "scales"], &["w"]).with("axis", Attribute::Int(0)),
            Node::new("MatMul", &["r", "w"], &["y"]),
        ],
        constants: vec![scale, scales, weights],
        inputs: vec![("x".into(), element::FLOAT, vec![1, 2])],
        outputs: vec!["scale".into(), "y".into()],
    };
    let graph = guardbit_frontends::read_onnx(&model.to_bytes(), "net").unwrap();
    assert_eq!(graph.outputs().len(), 1);
    let notes: Vec<String> =
        graph.notes().iter().map(|note| format!("{}: {}", note.tensor, note.text)).collect();
    insta::assert_snapshot!(notes.join("\n"), @r"
    y: weights have scales along an axis other than the output channels: the layer stays in float
    y_constant: codes of the file are stored here as their real values
    y: constant outputs of the file are left out (`scale`)
    ");
}

/// Codes of few bits have their own range, which determines clamps, proved widths and random inputs.
#[test]
fn codes_of_few_bits_have_their_own_range() {
    use guardbit_frontends::{Frontend, onnx::Onnx};
    use guardbit_graph::{CodeRange, Mac};
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx/golden/cnn_w2a2_1.onnx");
    let graph = Onnx.read(&path, "net").unwrap();
    let range = |id: guardbit_graph::TensorId| {
        let ty = &graph.tensor(id).ty;
        ty.quantization.as_ref().unwrap().codes_of(ty.dtype)
    };
    let layers = graph.nodes().iter().filter(|node| node.op.kind().mac == Some(Mac::Weighted));
    let read: Vec<[CodeRange; 2]> =
        layers.map(|node| [0, 1].map(|index| range(node.inputs[index].unwrap()))).collect();
    let [two, two_signed, eight, five] =
        [(0, 3), (-1, 1), (0, 255), (-16, 15)].map(|(low, high)| CodeRange::new(low, high).unwrap());
    assert_eq!(read, [[eight, two_signed], [two, two_signed], [two, two_signed], [five, two_signed]]);
}
