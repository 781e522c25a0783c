//! Every operator that can be read, on its own.

use crate::writer::{INT4, INT64, Model, Operator, Tensor, UINT8, Value};
use guardbit_frontends::read_tflite;

/// The operation that a network of one operator becomes, and the shape of its output.
fn read(tensors: Vec<Tensor>, operator: Operator) -> String {
    let graph = match read_tflite(&Model::new(tensors, vec![operator]).to_bytes(), "test") {
        Ok(graph) => graph,
        Err(error) => return error.to_string(),
    };
    let node = &graph.nodes()[0];
    format!("{:?} -> {:?}", node.op, graph.tensor(node.output).ty.shape)
}

fn x(shape: &[i32]) -> Tensor {
    Tensor::int8("x", shape, 0.5, -1)
}

fn y(shape: &[i32]) -> Tensor {
    Tensor { name: "y", ..x(shape) }
}

fn w(shape: &[i32]) -> Tensor {
    let count = shape.iter().product::<i32>();
    Tensor::int8("w", shape, 0.25, 0).with_data((0..count).map(|v| v as i8))
}

#[test]
fn conv2d() {
    let options = [
        (0, Value::Byte(1)),
        (1, Value::Int(2)),
        (2, Value::Int(1)),
        (3, Value::Byte(3)),
        (4, Value::Int(1)),
        (5, Value::Int(2)),
    ];
    let tensors = vec![x(&[1, 8, 8, 1]), w(&[2, 3, 3, 1]), Tensor::ints("b", &[5, -6]), y(&[1, 4, 3, 2])];
    let operator = Operator::new(3, &[0, 1, 2], 3).with_options(1, options);
    insta::assert_snapshot!(read(tensors, operator), @"Conv2d(Conv2d { stride: [1, 2], dilation: [2, 1], padding: Valid, activation: Relu6, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 4, 3, 2]");
}

#[test]
fn depthwise_conv2d() {
    let options = [(1, Value::Int(1)), (2, Value::Int(1)), (3, Value::Int(2)), (4, Value::Byte(1))];
    let tensors = vec![x(&[1, 4, 4, 2]), w(&[1, 3, 3, 4]), y(&[1, 4, 4, 4])];
    let operator = Operator::new(4, &[0, 1, -1], 2).with_options(2, options);
    insta::assert_snapshot!(read(tensors, operator), @"DepthwiseConv2d(DepthwiseConv2d { stride: [1, 1], dilation: [1, 1], padding: Same, activation: Relu, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 4, 4, 4]");
}

#[test]
fn fully_connected() {
    let tensors = vec![x(&[2, 3, 4]), w(&[5, 4]), y(&[2, 3, 5])];
    let operator = Operator::new(9, &[0, 1, -1], 2).with_options(8, [(2, Value::Byte(1))]);
    insta::assert_snapshot!(read(tensors, operator), @"FullyConnected(FullyConnected { keep_num_dims: true, activation: None, requantize: Requantize { scheme: Float64Away, rule: Float64 } }) -> [2, 3, 5]");
}

#[test]
fn fully_connected_per_channel() {
    let weights = Tensor { scales: vec![0.5, 0.25], zero_points: vec![0, 0], ..w(&[2, 4]) };
    let tensors = vec![x(&[1, 4]), weights, y(&[1, 2])];
    insta::assert_snapshot!(read(tensors, Operator::new(9, &[0, 1], 2)), @"FullyConnected(FullyConnected { keep_num_dims: false, activation: None, requantize: Requantize { scheme: Float64Away, rule: Float64 } }) -> [1, 2]");
}

#[test]
fn add_and_mul() {
    let operator =
        |code, options| Operator::new(code, &[0, 1], 2).with_options(options, [(0, Value::Byte(1))]);
    let tensors = || vec![x(&[1, 4]), w(&[1, 4]), y(&[1, 4])];
    insta::assert_snapshot!(read(tensors(), operator(0, 11)), @"Add(Add { activation: Relu, scheme: Double }) -> [1, 4]");
    insta::assert_snapshot!(read(tensors(), operator(18, 21)), @"Mul(Mul { activation: Relu, requantize: Requantize { scheme: Double, rule: Float32 } }) -> [1, 4]");
}

#[test]
fn pools() {
    let options = || [(1, Value::Int(1)), (2, Value::Int(2)), (3, Value::Int(3)), (4, Value::Int(2))];
    let tensors = || vec![x(&[1, 4, 4, 2]), y(&[1, 2, 4, 2])];
    insta::assert_snapshot!(read(tensors(), Operator::new(1, &[0], 1).with_options(5, options())), @"AvgPool2d(AvgPool2d { kernel: [2, 3], stride: [2, 1], padding: Same, activation: None }) -> [1, 2, 4, 2]");
    insta::assert_snapshot!(read(tensors(), Operator::new(17, &[0], 1).with_options(5, options())), @"MaxPool2d(MaxPool2d { kernel: [2, 3], stride: [2, 1], padding: Same, activation: None }) -> [1, 2, 4, 2]");
}

#[test]
fn mean_and_sum() {
    let tensors = || vec![x(&[1, 4, 4, 2]), Tensor::ints("axes", &[-2, 1, 2]), y(&[1, 1, 1, 2])];
    let options = || [(0, Value::Byte(1))];
    insta::assert_snapshot!(read(tensors(), Operator::new(40, &[0, 1], 2).with_options(27, options())), @"Mean(Mean { axes: [1, 2], keep_dims: true, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 1, 1, 2]");
    insta::assert_snapshot!(read(tensors(), Operator::new(74, &[0, 1], 2).with_options(27, options())), @"Sum(Sum { axes: [1, 2], keep_dims: true, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 1, 1, 2]");
}

#[test]
fn activations() {
    let probabilities = Tensor::int8("y", &[1, 4], 1.0 / 256.0, -128);
    let softmax = Operator::new(25, &[0], 1).with_options(9, [(0, Value::Float(1.0))]);
    insta::assert_snapshot!(read(vec![x(&[1, 4]), probabilities], softmax), @"Softmax(Softmax { beta: 1.0 }) -> [1, 4]");
    let tensors = || vec![x(&[1, 4]), Tensor::int8("y", &[1, 4], 0.25, 3)];
    insta::assert_snapshot!(read(tensors(), Operator::new(19, &[0], 1)), @"Relu(Relu { requantize: Requantize { scheme: Double, rule: Float32 } }) -> [1, 4]");
    insta::assert_snapshot!(read(tensors(), Operator::new(21, &[0], 1)), @"Relu6(Relu6 { requantize: Requantize { scheme: Double, rule: Float32 } }) -> [1, 4]");
    insta::assert_snapshot!(read(tensors(), Operator::new(114, &[0], 1)), @"Quantize(Quantize { requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 4]");
    let unsigned = Tensor { element: UINT8, zero_points: vec![127], ..y(&[1, 4]) };
    insta::assert_snapshot!(read(vec![x(&[1, 4]), unsigned], Operator::new(114, &[0], 1)), @"Quantize(Quantize { requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 4]");
}

#[test]
fn reshape_and_squeeze() {
    let shape = Tensor::ints("shape", &[-1, 4]);
    insta::assert_snapshot!(read(vec![x(&[1, 2, 4]), shape, y(&[2, 4])], Operator::new(22, &[0, 1], 2)), @"Reshape(Reshape { shape: [-1, 4] }) -> [2, 4]");
    let wide = Tensor { element: INT64, ..Tensor::plain("shape", INT64, &[2]) };
    let wide = Tensor { data: Some([2i64, 4].iter().flat_map(|v| v.to_le_bytes()).collect()), ..wide };
    insta::assert_snapshot!(read(vec![x(&[1, 2, 4]), wide, y(&[2, 4])], Operator::new(22, &[0, 1], 2)), @"Reshape(Reshape { shape: [2, 4] }) -> [2, 4]");
    let operator = Operator::new(22, &[0], 1).with_options(17, [(0, Value::Ints(vec![8]))]);
    insta::assert_snapshot!(read(vec![x(&[1, 2, 4]), y(&[8])], operator), @"Reshape(Reshape { shape: [8] }) -> [8]");
    let operator = Operator::new(43, &[0], 1).with_options(30, [(0, Value::Ints(vec![-1]))]);
    insta::assert_snapshot!(read(vec![x(&[1, 2, 1]), y(&[1, 2])], operator), @"Reshape(Reshape { shape: [1, 2] }) -> [1, 2]");
    insta::assert_snapshot!(read(vec![x(&[1, 2, 1]), y(&[2])], Operator::new(43, &[0], 1)), @"Reshape(Reshape { shape: [2] }) -> [2]");
}

#[test]
fn concatenation() {
    let operator = Operator::new(2, &[0, 1, 0], 2).with_options(10, [(0, Value::Int(-1))]);
    let other = Tensor { data: Some(vec![1, 2]), ..Tensor::int8("other", &[1, 2], 0.5, -1) };
    insta::assert_snapshot!(read(vec![x(&[1, 4]), other, y(&[1, 10])], operator), @"Concat(Concat { axis: 1, requantize: Requantize { scheme: Double, rule: Float64 } }) -> [1, 10]");
}

#[test]
fn pad_and_transpose() {
    let paddings = || Tensor::ints("paddings", &[0, 0, 1, 2]);
    let tensors = vec![x(&[1, 4]), paddings(), y(&[1, 7])];
    insta::assert_snapshot!(read(tensors, Operator::new(34, &[0, 1], 2)), @"Pad(Pad { paddings: [[0, 0], [1, 2]], value: None }) -> [1, 7]");
    let value = Tensor { data: Some(vec![7]), ..Tensor::int8("value", &[1], 0.5, -1) };
    let tensors = vec![x(&[1, 4]), paddings(), value, y(&[1, 7])];
    insta::assert_snapshot!(read(tensors, Operator::new(60, &[0, 1, 2], 3)), @"Pad(Pad { paddings: [[0, 0], [1, 2]], value: Some(7) }) -> [1, 7]");
    let tensors = vec![x(&[1, 4]), Tensor::ints("order", &[1, 0]), y(&[4, 1])];
    insta::assert_snapshot!(read(tensors, Operator::new(39, &[0, 1], 2)), @"Transpose(Transpose { permutation: [1, 0] }) -> [4, 1]");
}

#[test]
fn int4_weights_lie_two_to_a_byte() {
    let weights = Tensor { element: INT4, data: Some(vec![0x21, 0xf8, 0x07]), ..w(&[1, 5]) };
    let model = Model::new(vec![x(&[1, 5]), weights, y(&[1, 1])], vec![Operator::new(9, &[0, 1], 2)]);
    let graph = read_tflite(&model.to_bytes(), "test").unwrap();
    let weights = graph.tensor(graph.find_tensor("w").unwrap());
    assert_eq!(weights.constant.as_deref(), Some(&[1, 2, -8, -1, 7][..]));
}

#[test]
fn constants_may_lie_behind_the_flatbuffer() {
    let mut model = Model::new(vec![x(&[1, 4]), w(&[2, 4]), y(&[1, 2])], vec![Operator::new(9, &[0, 1], 2)]);
    model.data_outside = true;
    let graph = read_tflite(&model.to_bytes(), "test").unwrap();
    let weights = graph.tensor(graph.find_tensor("w").unwrap());
    assert_eq!(weights.constant.as_deref(), Some(&[0, 1, 2, 3, 4, 5, 6, 7][..]));
}

#[test]
fn names_become_unique() {
    let relu = |from, to| Operator::new(19, &[from], to);
    let unnamed = Tensor { name: "", ..x(&[1, 4]) };
    let tensors = vec![x(&[1, 4]), x(&[1, 4]), unnamed, w(&[1, 4]), Tensor { name: "w", ..x(&[1, 4]) }];
    let add = Operator::new(0, &[2, 3], 4);
    let model = Model::new(tensors, vec![relu(0, 1), relu(1, 2), add]);
    let graph = read_tflite(&model.to_bytes(), "test").unwrap();
    let names: Vec<_> = graph.tensors().iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["x", "x#1", "#2", "w#3", "w"]);
}
