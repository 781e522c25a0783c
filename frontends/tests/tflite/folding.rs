//! Tests of shapes that a network computes from constants and its own sizes. No operation remains of them.

use guardbit_frontends::read_tflite;
use guardbit_graph::Graph;

use super::writer::{INT32, INT64, Model, Operator, Tensor, Value};

const SHAPE: i32 = 77;
const STRIDED_SLICE: i32 = 45;
const PACK: i32 = 83;
const RESHAPE: i32 = 22;

fn x(shape: &[i32]) -> Tensor {
    Tensor::int8("x", shape, 0.5, -1)
}

fn y(shape: &[i32]) -> Tensor {
    Tensor { name: "y", ..x(shape) }
}

fn computed(name: &'static str, element: i8, shape: &[i32]) -> Tensor {
    Tensor::plain(name, element, shape)
}

/// Returns element 0 of a list.
fn first(inputs: &[i32], output: i32) -> Operator {
    Operator::new(STRIDED_SLICE, inputs, output).with_options(32, [(4, Value::Int(1))])
}

/// Returns Keras' Flatten with an open batch, before a fully connected layer.
fn flatten(element: i8) -> Model {
    let tensors = vec![
        x(&[1, 2, 2, 2]),
        computed("shape", element, &[4]),
        Tensor::ints("begin", &[0]),
        Tensor::ints("end", &[1]),
        Tensor::ints("step", &[1]),
        computed("batch", element, &[]),
        if element == INT32 {
            Tensor { shape: vec![], ..Tensor::ints("size", &[8]) }
        } else {
            Tensor { shape: vec![], ..Tensor::wide("size", &[8]) }
        },
        computed("sizes", element, &[2]),
        Tensor { name: "flat", ..x(&[1, 8]) },
        Tensor::int8("w", &[2, 8], 0.25, 0).with_data(0..16),
        y(&[1, 2]),
    ];
    let operators = vec![
        Operator::new(SHAPE, &[0], 1),
        first(&[1, 2, 3, 4], 5),
        Operator::new(PACK, &[5, 6], 7).with_options(59, [(0, Value::Int(2))]),
        Operator::new(RESHAPE, &[0, 7], 8),
        Operator::new(9, &[8, 9, -1], 10),
    ];
    Model::new(tensors, operators)
}

fn listing(graph: &Graph) -> String {
    let node =
        |node: &guardbit_graph::Node| format!("{:?} -> {:?}", node.op, graph.tensor(node.output).ty.shape);
    graph.nodes().iter().map(node).collect::<Vec<_>>().join("\n")
}

fn read(model: &Model) -> String {
    read_tflite(&model.to_bytes(), "test").map_or_else(|error| error.to_string(), |graph| listing(&graph))
}

#[test]
fn flatten_with_an_open_batch() {
    for element in [INT32, INT64] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(read(&flatten(element)), @r"
            Reshape(Reshape { shape: [1, 8] }) -> [1, 8]
            FullyConnected(FullyConnected { keep_num_dims: false, activation: None, requantize: Requantize { scheme: Float64Away, rule: Float64 } }) -> [1, 2]
            ");
        }
    }
}

/// The shape of a dense layer on several axes: the rows of all but the last axis.
#[test]
fn products_of_sizes() {
    let scalar = |name| computed(name, INT32, &[]);
    let tensors = vec![
        x(&[2, 3, 4]),
        computed("shape", INT32, &[3]),
        Tensor::ints("front", &[0, 1]),
        computed("free", INT32, &[2]),
        Tensor::ints("axis", &[0]),
        scalar("rows"),
        Tensor { shape: vec![], ..Tensor::ints("4", &[4]) },
        computed("sizes", INT32, &[2]),
        Tensor { name: "flat", ..x(&[6, 4]) },
        Tensor::ints("last", &[4]),
        computed("all", INT32, &[3]),
        y(&[2, 3, 4]),
    ];
    let operators = vec![
        Operator::new(SHAPE, &[0], 1),
        Operator::new(36, &[1, 2], 3).with_options(23, []),
        Operator::new(81, &[3, 4], 5).with_options(27, []),
        Operator::new(PACK, &[5, 6], 7).with_options(59, []),
        Operator::new(RESHAPE, &[0, 7], 8),
        Operator::new(2, &[3, 9], 10).with_options(10, []),
        Operator::new(RESHAPE, &[8, 10], 11),
    ];
    insta::assert_snapshot!(read(&Model::new(tensors, operators)), @r"
    Reshape(Reshape { shape: [6, 4] }) -> [6, 4]
    Reshape(Reshape { shape: [2, 3, 4] }) -> [2, 3, 4]
    ");
}

/// The shape of a transposed convolution: twice the rows of its input plus one.
#[test]
fn sums_and_products_of_sizes() {
    let scalar = |name| computed(name, INT32, &[]);
    let number = |name, value| Tensor { shape: vec![], ..Tensor::ints(name, &[value]) };
    let tensors = vec![
        x(&[1, 2, 2, 1]),
        computed("shape", INT32, &[4]),
        Tensor::ints("begin", &[1]),
        Tensor::ints("end", &[2]),
        Tensor::ints("step", &[1]),
        scalar("rows"),
        number("two", 2),
        scalar("twice"),
        number("one", 1),
        scalar("more"),
        computed("sizes", INT32, &[4]),
        Tensor::int8("w", &[1, 3, 3, 1], 0.25, 0).with_data(0..9),
        y(&[1, 5, 5, 1]),
    ];
    let operators = vec![
        Operator::new(SHAPE, &[0], 1),
        first(&[1, 2, 3, 4], 5),
        Operator::new(18, &[5, 6], 7).with_options(21, []),
        Operator::new(0, &[7, 8], 9).with_options(11, []),
        Operator::new(PACK, &[8, 9, 9, 8], 10).with_options(59, []),
        Operator::new(67, &[10, 11, 0], 12)
            .with_options(49, [(0, Value::Byte(1)), (1, Value::Int(2)), (2, Value::Int(2))]),
    ];
    insta::assert_snapshot!(read(&Model::new(tensors, operators)), @r"
    Dilate(Dilate { factor: [2, 2] }) -> [1, 3, 3, 1]
    TransposeConv2d(TransposeConv2d { padding: Explicit { rows: [2, 2], cols: [2, 2] }, activation: None, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 5, 5, 1]
    ");
}

/// Shapes that cannot be computed are rejected.
#[test]
fn shapes_that_are_not_computed() {
    let mut output = flatten(INT32);
    output.outputs = vec![10, 1];
    insta::assert_snapshot!(read(&output), @"test: operator 0 is SHAPE (77), which is not supported (output tensor `shape`)");
    let mut wrong = flatten(INT32);
    wrong.tensors[1].shape = vec![3];
    insta::assert_snapshot!(read(&wrong), @"test: operator 0 is SHAPE (77), which is not supported (output tensor `shape`)");
    let mut early = flatten(INT32);
    early.operators[0].inputs = vec![8];
    insta::assert_snapshot!(read(&early), @"test: operator 0 is SHAPE (77), which is not supported (output tensor `shape`)");
    let mut twice = flatten(INT32);
    twice.operators.insert(1, Operator::new(SHAPE, &[0], 1));
    insta::assert_snapshot!(read(&twice), @"test: operator 1 is SHAPE (77), which is not supported (output tensor `shape`)");
}
