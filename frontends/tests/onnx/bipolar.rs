//! Tests of one-bit codes with a sign: -1 and 1, without 0.

use guardbit_frontends::read_onnx;
use guardbit_graph::{CodeRange, Graph, real_of, word_of};

use super::writer::{Attribute, Model, Node, Tensor, element};

const WEIGHTS: [f32; 8] = [0.3, -0.2, 0.0, -4.0, 1.0, -1.0, 2.0, 0.1];

/// Returns the network x -> a quantizer of bipolar codes -> `behind` -> a product with bipolar weights.
fn network(op: &str, behind: Node, columns: i64) -> Graph {
    let quantizer = |from: &str, to: &str| {
        let inputs = [from, "scale", "zero", "width"];
        let inputs = if op == "Quant" { &inputs[..] } else { &inputs[..2] };
        Node { domain: "qonnx.custom_op.general".into(), ..Node::new(op, inputs, &[to]) }
    };
    let product = Node::new("MatMul", &["r", "wq"], &["y"]);
    let model = Model {
        opset: 13,
        nodes: vec![quantizer("x", "xq"), quantizer("w", "wq"), behind, product],
        constants: vec![
            Tensor::reals("scale", &[0.5]).with_dims(&[]),
            Tensor::reals("zero", &[0.0]).with_dims(&[]),
            Tensor::reals("width", &[1.0]).with_dims(&[]),
            Tensor::integers("pads", &[0, 1, 0, 1]),
            Tensor::reals("w", &WEIGHTS).with_dims(&[4, 2]),
        ],
        inputs: vec![("x".into(), element::FLOAT, vec![1, columns])],
        outputs: vec!["y".into()],
    };
    read_onnx(&model.to_bytes(), "net").unwrap()
}

/// Returns the result of QONNX's BipolarQuant: the scale for values of at least 0, otherwise its negative.
fn half(value: f32) -> f32 {
    if value >= 0.0 { 0.5 } else { -0.5 }
}

fn check(graph: &Graph, x: &[f32], behind: impl Fn(Vec<f32>) -> Vec<f32>) {
    let words: Vec<i32> = x.iter().map(|&value| word_of(value)).collect();
    let made = graph.interpret(&[&words]).unwrap();
    let made: Vec<f32> = made[graph.outputs()[0].index()].iter().map(|&word| real_of(word)).collect();
    let read = behind(x.iter().copied().map(half).collect());
    let sum = |column: usize| (0..4).map(|row| read[row] * half(WEIGHTS[2 * row + column])).sum::<f32>();
    assert_eq!(made, [sum(0), sum(1)]);
}

fn range(graph: &Graph, name: &str) -> CodeRange {
    graph.tensor(graph.find_tensor(name).unwrap()).ty.code_range()
}

/// Checks the ranges of activations after quantization, of weights, and after a padding with 0 and a rectifier.
#[test]
fn codes_are_minus_one_and_one_alone() {
    let x = [0.0, -0.01, 3.0, -7.0];
    for op in ["BipolarQuant", "Quant"] {
        let graph = network(op, Node::new("Flatten", &["xq"], &["r"]), 4);
        let layer = graph.nodes_with_ids().find(|(id, _)| graph.dot_products(*id).is_some()).unwrap().1;
        for &operand in layer.inputs.iter().flatten() {
            assert_eq!(graph.tensor(operand).ty.code_range(), CodeRange::BIPOLAR, "{op}");
        }
        check(&graph, &x, |codes| codes);

        let padding = Node::new("Pad", &["xq", "pads"], &["r"]);
        let graph = network(op, padding.with("mode", Attribute::Text("constant".into())), 2);
        assert_eq!(range(&graph, "xq"), CodeRange::BIPOLAR);
        let padded = graph.nodes_with_ids().find(|(id, _)| graph.dot_products(*id).is_some()).unwrap().1;
        let read = graph.tensor(padded.inputs[0].unwrap()).ty.code_range();
        assert_eq!(read, CodeRange::new(-1, 1).unwrap(), "{op}: padding is 0");
        check(&graph, &x[..2], |codes| [&[0.0], &codes[..], &[0.0]].concat());

        let graph = network(op, Node::new("Relu", &["xq"], &["r"]), 4);
        check(&graph, &x, |codes| codes.into_iter().map(|value| value.max(0.0)).collect());
    }
}
