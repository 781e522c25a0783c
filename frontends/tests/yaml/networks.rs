//! Tests of valid networks.

use std::path::Path;

use guardbit_frontends::{load, random_codes, read_yaml};
use guardbit_graph::Graph;
use proptest::prelude::*;

fn data() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"))
}

fn constant(graph: &Graph, name: &str) -> Vec<i32> {
    graph.tensor(graph.find_tensor(name).unwrap()).codes().unwrap().to_vec()
}

/// Returns the operation of a node that reads `x`, `a` (of the type of `x`), `w` and `b`.
fn op(node: &str) -> String {
    let text = format!(
        "
schema: 1
inputs:
  - {{name: x, shape: [1, 4, 4, 2], dtype: int8, scale: 0.5}}
  - {{name: a, shape: [1, 4, 4, 2], dtype: int8, scale: 0.5}}
constants:
  - {{name: w, shape: [2, 3, 3, 2], dtype: int8, scale: 0.25, random: {{seed: 1}}}}
  - {{name: dw, shape: [1, 3, 3, 2], dtype: int8, scale: 0.25, random: {{seed: 1}}}}
  - {{name: dense, shape: [3, 32], dtype: int8, scale: 0.25, random: {{seed: 1}}}}
  - {{name: b, shape: [2], dtype: int32, values: [1, 2]}}
nodes:
  - {{{node}}}
outputs: [y]
"
    );
    match read_yaml(&text, data(), "test") {
        Err(error) => error.to_string(),
        Ok(graph) => {
            let node = &graph.nodes()[0];
            format!("{:?} -> {:?}", node.op, graph.tensor(node.output).ty.shape)
        }
    }
}

#[test]
fn tiny() {
    let graph = load(&data().join("tiny.yaml")).unwrap();
    assert_eq!(graph.name(), "tiny");
    let names: Vec<_> =
        graph.nodes_with_ids().map(|(id, node)| (node.op.name(), graph.node_name(id))).collect();
    assert_eq!(names, [("conv2d", "conv"), ("reshape", "flat"), ("fully_connected", "logits")]);
    assert_eq!(graph.tensor(graph.find_tensor("flat").unwrap()).ty.shape, [1, 8]);
    assert_eq!(constant(&graph, "conv.weights"), (0..18).map(|i| 7 * i - 60).collect::<Vec<_>>());
    assert_eq!(constant(&graph, "conv.bias"), [100, -200]);
    assert_eq!(constant(&graph, "dense.weights"), random_codes(1, -7..=7, 24));
    let weights = graph.tensor(graph.find_tensor("conv.weights").unwrap());
    let quantization = weights.ty.quantization.as_ref().unwrap();
    assert_eq!((quantization.scales(), quantization.axis()), (&[0.1, 0.2][..], Some(0)));
    assert_eq!(graph.nodes()[2].inputs[2], None);
}

#[test]
fn the_file_names_a_network_without_a_name() {
    let text = "{schema: 1, inputs: [{name: x, shape: [1], dtype: int8, scale: 1}], nodes: [], outputs: [x]}";
    assert_eq!(read_yaml(text, data(), "fallback").unwrap().name(), "fallback");
}

#[test]
fn nested_values_equal_flat_ones() {
    let read = |values: &str| {
        let text = format!(
            "{{schema: 1, inputs: [{{name: x, shape: [1], dtype: int8, scale: 1}}], nodes: [], outputs: [x],
              constants: [{{name: c, shape: [2, 2], dtype: int8, values: {values}}}]}}"
        );
        constant(&read_yaml(&text, data(), "test").unwrap(), "c")
    };
    assert_eq!(read("[[1, -2], [3, 4]]"), [1, -2, 3, 4]);
    assert_eq!(read("[1, -2, 3, 4]"), [1, -2, 3, 4]);
}

#[test]
fn operations() {
    let nodes = [
        "op: conv2d, inputs: [x, w, b]",
        "op: conv2d, inputs: [x, w], stride: [2, 1], dilation: [1, 2], padding: same, activation: relu_n1_to_1",
        "op: conv2d, inputs: [x, w], padding: {rows: [1, 0], cols: [2, 3]}, requantize: even",
        "op: depthwise_conv2d, inputs: [x, dw, ~], padding: same",
        "op: fully_connected, inputs: [x, dense], requantize: S, multiplier: product_in_float32",
        "op: add, inputs: [x, a], requantize: single, activation: relu6",
        "op: mul, inputs: [x, a], multiplier: float32",
        "op: avg_pool2d, inputs: [x], kernel: [2, 2], stride: [2, 2]",
        "op: max_pool2d, inputs: [x], kernel: [3, 3], padding: same, activation: relu",
        "op: mean, inputs: [x], axes: [1, 2]",
        "op: sum, inputs: [x], axes: [3], keep_dims: true",
        "op: relu, inputs: [x]",
        "op: relu6, inputs: [x]",
        "op: reshape, inputs: [x], shape: [-1, 8]",
        "op: concat, inputs: [x, a, x], axis: 3",
        "op: pad, inputs: [x], paddings: [[0, 0], [1, 1], [2, 0], [0, 0]], value: -5",
        "op: transpose, inputs: [x], permutation: [0, 3, 1, 2]",
        "op: quantize, inputs: [x]",
    ];
    let half = "output: {name: y, dtype: int8, scale: 0.5}";
    let mut listing: String =
        nodes.map(|node| format!("{node}\n    {}\n", op(&format!("{node}, {half}")))).concat();
    let softmax =
        "op: softmax, inputs: [x], output: {name: y, dtype: int8, scale: 0.00390625, zero_point: -128}";
    listing += &format!("{softmax}\n    {}\n", op(softmax));
    insta::assert_snapshot!(listing, @r"
    op: conv2d, inputs: [x, w, b]
        Conv2d(Conv2d { stride: [1, 1], dilation: [1, 1], padding: Valid, activation: None, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 2, 2, 2]
    op: conv2d, inputs: [x, w], stride: [2, 1], dilation: [1, 2], padding: same, activation: relu_n1_to_1
        Conv2d(Conv2d { stride: [2, 1], dilation: [1, 2], padding: Same, activation: ReluN1To1, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 2, 4, 2]
    op: conv2d, inputs: [x, w], padding: {rows: [1, 0], cols: [2, 3]}, requantize: even
        Conv2d(Conv2d { stride: [1, 1], dilation: [1, 1], padding: Explicit { rows: [1, 0], cols: [2, 3] }, activation: None, requantize: Requantize { scheme: Even, rule: Float32 } }) -> [1, 3, 7, 2]
    op: depthwise_conv2d, inputs: [x, dw, ~], padding: same
        DepthwiseConv2d(DepthwiseConv2d { stride: [1, 1], dilation: [1, 1], padding: Same, activation: None, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 4, 4, 2]
    op: fully_connected, inputs: [x, dense], requantize: S, multiplier: product_in_float32
        FullyConnected(FullyConnected { keep_num_dims: false, activation: None, requantize: Requantize { scheme: Single, rule: ProductInFloat32 } }) -> [1, 3]
    op: add, inputs: [x, a], requantize: single, activation: relu6
        Add(Add { activation: Relu6, scheme: Single }) -> [1, 4, 4, 2]
    op: mul, inputs: [x, a], multiplier: float32
        Mul(Mul { activation: None, requantize: Requantize { scheme: Double, rule: Float32 } }) -> [1, 4, 4, 2]
    op: avg_pool2d, inputs: [x], kernel: [2, 2], stride: [2, 2]
        AvgPool2d(AvgPool2d { kernel: [2, 2], stride: [2, 2], padding: Valid, activation: None }) -> [1, 2, 2, 2]
    op: max_pool2d, inputs: [x], kernel: [3, 3], padding: same, activation: relu
        MaxPool2d(MaxPool2d { kernel: [3, 3], stride: [1, 1], padding: Same, activation: Relu }) -> [1, 4, 4, 2]
    op: mean, inputs: [x], axes: [1, 2]
        Mean(Mean { axes: [1, 2], keep_dims: false, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 2]
    op: sum, inputs: [x], axes: [3], keep_dims: true
        Sum(Sum { axes: [3], keep_dims: true, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 4, 4, 1]
    op: relu, inputs: [x]
        Relu(Relu { requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 4, 4, 2]
    op: relu6, inputs: [x]
        Relu6(Relu6 { requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 4, 4, 2]
    op: reshape, inputs: [x], shape: [-1, 8]
        Reshape(Reshape { shape: [-1, 8] }) -> [4, 8]
    op: concat, inputs: [x, a, x], axis: 3
        Concat(Concat { axis: 3, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 4, 4, 6]
    op: pad, inputs: [x], paddings: [[0, 0], [1, 1], [2, 0], [0, 0]], value: -5
        Pad(Pad { paddings: [[0, 0], [1, 1], [2, 0], [0, 0]], value: Some(-5) }) -> [1, 6, 6, 2]
    op: transpose, inputs: [x], permutation: [0, 3, 1, 2]
        Transpose(Transpose { permutation: [0, 3, 1, 2] }) -> [1, 2, 4, 4]
    op: quantize, inputs: [x]
        Quantize(Quantize { requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 4, 4, 2]
    op: softmax, inputs: [x], output: {name: y, dtype: int8, scale: 0.00390625, zero_point: -128}
        Softmax(Softmax { beta: 1.0 }) -> [1, 4, 4, 2]
    ");
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let read = |node: &str| op(&format!("op: {node}, output: {{name: y, dtype: int8, scale: 0.5}}"));
    let written = "conv2d, inputs: [x, w], stride: [1, 1], dilation: [1, 1], padding: valid, activation: none, \
                   requantize: double, multiplier: float64";
    assert_eq!(read("conv2d, inputs: [x, w]"), read(written));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_text_does_not_panic(at in any::<prop::sample::Index>(), with in "[\\[\\]{}:, a0\n&*!~'\"#-]{0,3}") {
        let mut text = std::fs::read_to_string(data().join("tiny.yaml")).unwrap();
        let at = at.index(text.len());
        text.replace_range(at..at + 1, &with);
        if let Err(error) = read_yaml(&text, data(), "damaged") {
            prop_assert!(error.location().is_none_or(|place| place.line > 0 && place.column > 0));
        }
    }
}

/// A float region between codes.
#[test]
fn real_values_have_no_scale() {
    let text = "schema: 1\n\
        inputs:\n  - {name: x, shape: [1, 3], dtype: float32}\n\
        nodes:\n  \
        - {op: quantize_float, inputs: [x], output: {name: q, dtype: uint8, scale: 0.5, zero_point: 2}}\n  \
        - {op: dequantize, inputs: [q], output: {name: y, dtype: float32}}\n\
        outputs: [y]\n";
    let graph = guardbit_frontends::read_yaml(text, std::path::Path::new(""), "net").unwrap();
    let words = [0.25f32, 0.75, -9.0].map(guardbit_graph::word_of);
    let tensors = graph.interpret(&[&words]).unwrap();
    let made: Vec<f32> =
        tensors[graph.outputs()[0].index()].iter().map(|&w| guardbit_graph::real_of(w)).collect();
    assert_eq!(made, [0.0, 1.0, -1.0]);
}

/// Constants of short floating-point dtypes have codes or exact numbers.
#[test]
fn numbers_of_short_floats() {
    let read = |values: &str| {
        let text = format!(
            "schema: 1\n\
            inputs:\n  - {{name: x, shape: [1, 3], dtype: float8_e4m3fn}}\n\
            constants:\n  - {{name: c, shape: [1, 3], dtype: float8_e4m3fn, {values}}}\n\
            nodes:\n  \
            - {{op: concat, axis: 1, requantize: even, inputs: [x, c], output: {{name: y, dtype: float8_e4m3fn}}}}\n\
            outputs: [y]\n"
        );
        guardbit_frontends::read_yaml(&text, std::path::Path::new(""), "net")
            .map_err(|error| error.to_string())
    };
    let constant = |graph: guardbit_graph::Graph| {
        graph.tensor(graph.find_tensor("c").unwrap()).codes().unwrap().to_vec()
    };
    assert_eq!(read("values: [0, 56, 254]").map(constant), read("reals: [0, 1, -448]").map(constant));
    let message = read("reals: [0, 1, 449]").unwrap_err();
    assert!(message.contains("has 449 at index 2, which is not a value of float8_e4m3fn"), "{message}");
    assert!(read("values: [0, 1, 256]").unwrap_err().contains("is 256 at index 2"));
}
