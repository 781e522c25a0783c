//! Tests of the reader's records: names of outputs, and the outcome of every node of the file.

use guardbit_graph::{FileOutcome, Graph};
use proptest::prelude::*;

use super::writer::{Attribute, Model, Node, Tensor, element};

/// Returns a convolution of codes in QDQ form, followed by operators after its output `c`.
fn model(behind: Vec<Node>, outputs: &[String]) -> Model {
    let weights =
        Tensor { name: "codes".into(), dims: vec![2, 1, 3, 3], element: element::INT8, bytes: vec![1; 18] };
    let reals = Tensor::reals("reals", &[0.5; 4]).with_dims(&[2, 2, 1, 1]);
    let nodes = vec![
        Node::new("DequantizeLinear", &["x", "scale"], &["xr"]),
        Node::new("DequantizeLinear", &["codes", "scale"], &["w"]),
        Node::new("Conv", &["xr", "w"], &["s"]),
        Node::new("QuantizeLinear", &["s", "scale", "zero"], &["c"]),
    ];
    let zero = Tensor { name: "zero".into(), dims: vec![], element: element::INT8, bytes: vec![0] };
    Model {
        opset: 13,
        nodes: nodes.into_iter().chain(behind).collect(),
        constants: vec![Tensor::reals("scale", &[0.5]).with_dims(&[]), zero, weights, reals],
        inputs: vec![("x".into(), element::INT8, vec![1, 1, 6, 6])],
        outputs: outputs.to_vec(),
    }
}

fn read(model: &Model) -> Graph {
    guardbit_frontends::read_onnx(&model.to_bytes(), "net").unwrap()
}

/// Returns an operator on codes or real values, by number, with one output.
fn operator(kind: usize, input: &str, output: &str) -> Node {
    match kind {
        0 => Node::new("Identity", &[input], &[output]),
        1 => Node::new("Sigmoid", &[input], &[output]),
        2 => Node::new("Relu", &[input], &[output]),
        3 => Node::new("Transpose", &[input], &[output]).with("perm", Attribute::Ints(vec![0, 1, 3, 2])),
        4 => Node::new("MaxPool", &[input], &[output]).with("kernel_shape", Attribute::Ints(vec![1, 1])),
        _ => Node::new("Conv", &[input, "reals"], &[output]),
    }
}

proptest! {
    /// Outputs have their names in the file, whatever node computes them and whatever their order in the file.
    #[test]
    fn outputs_keep_their_names(
        dequantized in any::<bool>(),
        kinds in prop::collection::vec(0..6usize, 0..5),
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let mut names = vec!["c".to_owned()];
        let mut behind = Vec::new();
        if dequantized {
            behind.push(Node::new("DequantizeLinear", &["c", "scale"], &["d"]));
            names.push("d".into());
        }
        for (at, kind) in kinds.into_iter().enumerate() {
            let kind = if dequantized { kind } else { [0, 3, 4][kind % 3] };
            let name = format!("t{at}");
            behind.push(operator(kind, names.last().unwrap(), &name));
            names.push(name);
        }
        let mut outputs: Vec<String> = chosen.iter().map(|index| index.get(&names).clone()).collect();
        let mut known = std::collections::HashSet::new();
        outputs.retain(|name| known.insert(name.clone()));
        let graph = read(&model(behind, &outputs));
        let made: Vec<String> = graph.outputs().iter().map(|&id| graph.tensor(id).name.clone()).collect();
        prop_assert_eq!(made, outputs);
    }
}

/// A layer that computes an output in another order of axes gets a separate name, like any other tensor in that
/// order.
#[test]
fn the_tensor_behind_an_output_has_a_name_of_its_own() {
    let graph = read(&model(Vec::new(), &["c".into()]));
    let names: Vec<&str> = graph.nodes_with_ids().map(|(id, _)| graph.node_name(id)).collect();
    assert_eq!(names, ["x_nhwc", "c_nhwc", "c"]);
}

/// Every node of the file has an outcome, and its names are those of the graph.
#[test]
fn every_node_of_the_file_is_accounted_for() {
    let behind = vec![
        Node::new("Constant", &[], &["k"]).with("value", Attribute::Tensor(Tensor::reals("k", &[1.0]))),
        Node::new("DequantizeLinear", &["c", "scale"], &["d"]),
        Node::new("Conv", &["d", "reals"], &["f"]),
        Node::new("Add", &["f", "k"], &["y"]),
        Node::new("Relu", &["f"], &["unread"]),
    ];
    let graph = read(&model(behind, &["y".into()]));
    let outcome = |outcome: &FileOutcome| match outcome {
        FileOutcome::Read(names) if names.is_empty() => "nothing of its own".to_owned(),
        FileOutcome::Read(names) => {
            let kept = names.iter().filter(|name| graph.find_tensor(name).is_some());
            format!("{} of {}", kept.cloned().collect::<Vec<_>>().join(", "), names.len())
        }
        FileOutcome::Constant => "constant".into(),
        FileOutcome::TakenIn(by) => format!("taken in by {by}"),
        FileOutcome::OfInput => "of an input".into(),
        FileOutcome::OfState => "of a state".into(),
        FileOutcome::Unread => "unread".into(),
    };
    let lines = graph.file_nodes().iter();
    let lines: Vec<String> =
        lines.map(|node| format!("{} {}: {}", node.op, node.name, outcome(&node.outcome))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// The graph records quantized weights of a float layer, and the reason why the layer is float.
#[test]
fn quantized_weights_in_float_layers_are_known() {
    use guardbit_graph::FloatReason::{Operand, Scales, Weights};
    let real = |node: Node, outputs: &str| {
        let graph = read(
            &model(
                vec![
                    Node::new("DequantizeLinear", &["c", "scale"], &["d"]),
                    Node::new("Sigmoid", &["d"], &["g"]),
                    Node::new("DequantizeLinear", &["more", "scale"], &["v"]),
                    Node::new("DequantizeLinear", &["more", "two"], &["u"]).with("axis", Attribute::Int(1)),
                    node,
                ],
                &[outputs.into()],
            )
            .with_more(),
        );
        graph
            .float_products()
            .iter()
            .map(|product| (product.reason, product.quantized_weights))
            .collect::<Vec<_>>()
    };
    assert_eq!(real(Node::new("Conv", &["d", "reals"], &["y"]), "y"), [(Weights, false)]);
    assert_eq!(real(Node::new("Conv", &["g", "v"], &["y"]), "y"), [(Operand, true)]);
    assert_eq!(real(Node::new("Conv", &["d", "v"], &["y"]), "y"), []);
    assert_eq!(real(Node::new("ConvTranspose", &["d", "v"], &["y"]), "y"), []);
    // Scales along the input channels.
    assert_eq!(real(Node::new("Conv", &["d", "u"], &["y"]), "y"), [(Scales, true)]);
}

impl Model {
    /// Adds quantized weights of a convolution of two channels, and two scales.
    fn with_more(mut self) -> Self {
        let bytes = vec![1, 2, 3, 4];
        self.constants.push(Tensor {
            name: "more".into(),
            dims: vec![2, 2, 1, 1],
            element: element::INT8,
            bytes,
        });
        self.constants.push(Tensor::reals("two", &[0.5, 0.25]));
        self
    }
}

/// Errors use the names of the file: the quantizer with several scales, the zero point of the bias.
#[test]
fn causes_are_those_of_the_file() {
    let mut several = model(Vec::new(), &["c".into()]);
    several.constants.push(Tensor::reals("scales", &[0.5, 0.25]));
    several.constants.push(Tensor {
        name: "zeros".into(),
        dims: vec![2],
        element: element::INT8,
        bytes: vec![0; 2],
    });
    several.nodes[3] = Node::new("QuantizeLinear", &["s", "scales", "zeros"], &["c"]);
    let error = guardbit_frontends::read_onnx(&several.to_bytes(), "net").unwrap_err();
    insta::assert_snapshot!(error.message(), @"QuantizeLinear `c`: has 2 scales for the codes of `c`; activations need one scale");

    let mut moved =
        model(vec![Node::new("DequantizeLinear", &["bias", "third", "three"], &["b"])], &["c".into()]);
    moved.constants.push(Tensor::reals("third", &[0.3]).with_dims(&[]));
    let int32 = |name: &str, values: &[i32], dims: &[i64]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Tensor { name: name.into(), dims: dims.to_vec(), element: element::INT32, bytes }
    };
    moved.constants.extend([int32("bias", &[5, 9], &[2]), int32("three", &[3], &[])]);
    let bias = moved.nodes.pop().unwrap();
    moved.nodes.insert(0, bias);
    moved.nodes[3] = Node::new("Conv", &["xr", "w", "b"], &["s"]);
    let graph = read(&moved);
    let notes: Vec<&str> = graph.notes().iter().map(|note| note.text.as_str()).collect();
    assert_eq!(
        notes,
        ["the DequantizeLinear of the bias has a zero point other than 0, so the bias is added in float"]
    );
}
