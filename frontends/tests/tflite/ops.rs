//! Tests of every supported operator by itself.

use super::writer::{INT4, INT8, INT16, INT64, Model, Operator, Tensor, UINT8, Value};
use guardbit_frontends::read_tflite;
use guardbit_graph::Finish;

/// Returns the operation of a network of one operator, and the shape of its output.
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

/// Returns the rounding of a network of one layer with 16-bit activations, and the bits of its bias.
///
/// `declared` is the field `quantized_bias_type`.
fn sixteen_bits(builtin: i32, bias: Option<Tensor>, declared: i8) -> String {
    let sixteen = |tensor| Tensor { element: INT16, zero_points: vec![0], ..tensor };
    let (x, y, w) = match builtin {
        9 => (x(&[1, 2]), y(&[1, 2]), w(&[2, 2])),
        3 => (x(&[1, 1, 1, 2]), y(&[1, 1, 1, 2]), w(&[2, 1, 1, 2])),
        _ => (x(&[1, 1, 1, 2]), y(&[1, 1, 1, 2]), w(&[1, 1, 1, 2])),
    };
    let (inputs, options) = match builtin {
        9 => (2, vec![(4, Value::Byte(declared))]),
        3 => (1, vec![(1, Value::Int(1)), (2, Value::Int(1)), (6, Value::Byte(declared))]),
        _ => (0, vec![(1, Value::Int(1)), (2, Value::Int(1)), (3, Value::Int(1))]),
    };
    let number = [2, 1, 8][inputs];
    let (third, output) = if bias.is_some() { (3, 2) } else { (-1, 2) };
    let tensors = [vec![sixteen(x), w, sixteen(y)], bias.into_iter().collect()].concat();
    let operator = Operator::new(builtin, &[0, 1, third], output).with_options(number, options);
    let graph = match read_tflite(&Model::new(tensors, vec![operator]).to_bytes(), "test") {
        Ok(graph) => graph,
        Err(error) => return error.to_string(),
    };
    let dots = graph.dot_products(graph.find_node("y").unwrap()).unwrap();
    let Finish::Requantize(stage) = dots.finish else { return "divides".into() };
    let bias = dots.bias.map_or("no bias".into(), |bias| format!("{:?} in {} bits", bias.values, bias.bits));
    format!("{:?}, {bias}", stage.requantize.scheme)
}

/// LiteRT 2.3.0 reads these networks in this way; without a bias, TensorFlow Lite Micro does.
#[test]
fn the_bias_decides_how_sixteen_bits_are_rounded() {
    let narrow = || Some(Tensor::ints("b", &[5, -6]));
    let wide = || Some(Tensor::wide("b", &[1 << 40, -6]));
    insta::assert_snapshot!(sixteen_bits(3, narrow(), 2), @"Double, [5, -6] in 32 bits");
    insta::assert_snapshot!(sixteen_bits(3, narrow(), 0), @"Double, [5, -6] in 32 bits");
    insta::assert_snapshot!(sixteen_bits(3, wide(), 0), @"Q48, [1099511627776, -6] in 64 bits");
    insta::assert_snapshot!(sixteen_bits(3, wide(), 4), @"Q48, [1099511627776, -6] in 64 bits");
    insta::assert_snapshot!(sixteen_bits(3, None, 0), @"Q48, no bias");
    insta::assert_snapshot!(sixteen_bits(3, None, 2), @"Double, no bias");
    insta::assert_snapshot!(sixteen_bits(4, wide(), 0), @"Q48, [1099511627776, -6] in 64 bits");
    insta::assert_snapshot!(sixteen_bits(4, None, 0), @"Q48, no bias");
    insta::assert_snapshot!(sixteen_bits(4, narrow(), 0), @"test: operator 0 (DEPTHWISE_CONV_2D): bias `b` is int32; with int16 activations it must be int64");
    insta::assert_snapshot!(sixteen_bits(9, narrow(), 2), @"Float64Away, [5, -6] in 32 bits");
    insta::assert_snapshot!(sixteen_bits(9, wide(), 0), @"Float64Away, [1099511627776, -6] in 64 bits");
}

#[test]
fn wide_biases_go_with_sixteen_bits_alone() {
    let tensors = vec![x(&[1, 4]), w(&[2, 4]), Tensor::wide("b", &[1, 2]), y(&[1, 2])];
    insta::assert_snapshot!(read(tensors, Operator::new(9, &[0, 1, 2], 3)), @"test: operator 0 (FULLY_CONNECTED): bias `b` is int64, which needs int16 activations, not int8");
    let wide = Tensor { element: INT64, data: None, ..x(&[1, 4]) };
    insta::assert_snapshot!(read(vec![wide, y(&[1, 4])], Operator::new(22, &[0], 1)), @"test: tensor `x`: int64 is only valid for constant biases");
}

/// TensorFlow Lite Micro's person_detect has biases whose scales are declared along axis 3.
#[test]
fn scales_of_a_constant_of_one_axis_lie_along_it() {
    let network = |axis, count| {
        let per_channel =
            |tensor| Tensor { scales: vec![0.5; 4], zero_points: vec![0; 4], axis: 3, ..tensor };
        let bias = Tensor {
            axis,
            scales: vec![0.25; count],
            zero_points: vec![0; count],
            ..Tensor::ints("b", &[5, -6, 7, 8])
        };
        let options = [(1, Value::Int(1)), (2, Value::Int(1)), (3, Value::Int(2)), (4, Value::Byte(1))];
        let tensors = vec![x(&[1, 4, 4, 2]), per_channel(w(&[1, 3, 3, 4])), bias, y(&[1, 4, 4, 4])];
        let operator = Operator::new(4, &[0, 1, 2], 3).with_options(2, options);
        read_tflite(&Model::new(tensors, vec![operator]).to_bytes(), "test")
    };
    let graph = network(3, 4).unwrap();
    let bias = graph.tensor(graph.find_tensor("b").unwrap());
    assert_eq!(bias.ty.quantization.as_ref().and_then(|q| q.axis()), Some(0));
    let [note] = graph.notes() else { panic!("{:?}", graph.notes()) };
    assert_eq!(note.tensor, "b");
    insta::assert_snapshot!(note.text, @"the scales are applied along the only axis, not along axis 3 as declared in the file");
    assert!(network(0, 4).unwrap().notes().is_empty(), "nothing to be said");
    insta::assert_snapshot!(network(3, 3).unwrap_err(), @"test: operator 0 (DEPTHWISE_CONV_2D): tensor `b`: 3 scales along axis 0 of shape [4]");
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

/// LiteRT converts uint8 codes to the scale of the output. Each tensor is converted once.
#[test]
fn concatenation_of_other_uint8_scales() {
    let byte = |tensor: Tensor| Tensor { element: UINT8, zero_points: vec![128], ..tensor };
    let operator = Operator::new(2, &[0, 1, 0], 2).with_options(10, [(0, Value::Int(1))]);
    let same = Tensor { data: Some(vec![1, 2]), ..byte(Tensor::int8("same", &[1, 2], 0.25, 0)) };
    let output = byte(Tensor::int8("y", &[1, 10], 0.25, 0));
    let model = Model::new(vec![byte(x(&[1, 4])), same, output], vec![operator]);
    let graph = read_tflite(&model.to_bytes(), "test").unwrap();
    let name = |id: guardbit_graph::TensorId| graph.tensor(id).name.as_str();
    let node = |node: &guardbit_graph::Node| {
        let inputs: Vec<_> = node.inputs.iter().flatten().map(|&id| name(id)).collect();
        format!("{} = {}({})", name(node.output), node.op.name(), inputs.join(", "))
    };
    insta::assert_snapshot!(graph.nodes().iter().map(node).collect::<Vec<_>>().join("\n"), @r"
    x/moved = table(x, x/table)
    y = concat(x/moved, same, x/moved)
    ");
    assert_eq!(
        graph.interpret(&[&[128, 129, 255, 100]]).unwrap()[graph.outputs()[0].index()],
        [128, 130, 255, 72, 1, 2, 128, 130, 255, 72]
    );
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
    assert_eq!(weights.codes().map(|codes| codes.to_vec()).as_deref(), Some(&[1, 2, -8, -1, 7][..]));
}

#[test]
fn constants_may_lie_behind_the_flatbuffer() {
    let mut model = Model::new(vec![x(&[1, 4]), w(&[2, 4]), y(&[1, 2])], vec![Operator::new(9, &[0, 1], 2)]);
    model.data_outside = true;
    let graph = read_tflite(&model.to_bytes(), "test").unwrap();
    let weights = graph.tensor(graph.find_tensor("w").unwrap());
    assert_eq!(weights.codes().map(|codes| codes.to_vec()).as_deref(), Some(&[0, 1, 2, 3, 4, 5, 6, 7][..]));
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

/// Returns a layer of operator `builtin` whose bias has `factor` times the scale of its products.
fn with_bias_scale(builtin: i32, element: i8, per_channel: bool, factor: f32) -> Model {
    let zero = if element == INT8 { 0 } else { 128 };
    let (input, weights, channels): (&[i32], &[i32], usize) = match builtin {
        3 => (&[1, 1, 1, 4], &[2, 1, 1, 4], 2),
        4 => (&[1, 1, 1, 4], &[1, 1, 1, 4], 4),
        _ => (&[1, 4], &[2, 4], 2),
    };
    let scales = if per_channel { [0.1, 0.2, 0.1, 0.2][..channels].to_vec() } else { vec![0.1] };
    let count = scales.len();
    let weight = Tensor {
        element,
        scales: scales.clone(),
        zero_points: vec![zero; count],
        axis: if builtin == 4 { 3 } else { 0 },
        ..Tensor::int8("w", weights, 1.0, 0)
    };
    let bias = Tensor {
        scales: scales.iter().map(|scale| 0.5 * scale * factor).collect(),
        zero_points: vec![0; count],
        ..Tensor::ints("b", &[1000, 2000, 1000, 2000][..channels])
    };
    let output = [&input[..input.len() - 1], &[channels as i32]].concat();
    let tensors = vec![
        Tensor { element, ..Tensor::int8("x", input, 0.5, zero) },
        weight.with_data(vec![1; weights.iter().product::<i32>() as usize]),
        bias,
        Tensor { element, ..Tensor::int8("y", &output, 1.0, zero) },
    ];
    let strides = [(1, Value::Int(1)), (2, Value::Int(1))];
    let operator = match builtin {
        3 => Operator::new(3, &[0, 1, 2], 3).with_options(1, strides),
        4 => Operator::new(4, &[0, 1, 2], 3).with_options(2, strides),
        _ => Operator::new(9, &[0, 1, 2], 3),
    };
    Model::new(tensors, vec![operator])
}

/// Measured behaviour of LiteRT 2.3.0 on scales of biases.
///
/// CONV_2D and DEPTHWISE_CONV_2D on uint8, and FULLY_CONNECTED with one scale for all weights, reject more than 0.02
/// output steps between bias and products. All others ignore the scale.
#[test]
fn scales_of_biases() {
    let read = |builtin, element, per_channel, factor| {
        read_tflite(&with_bias_scale(builtin, element, per_channel, factor).to_bytes(), "test")
    };
    for (builtin, element, per_channel, refuses) in [
        (9, INT8, false, true),
        (9, INT8, true, false),
        (9, UINT8, false, true),
        (3, INT8, false, false),
        (3, INT8, true, false),
        (3, UINT8, false, true),
        (4, INT8, false, false),
        (4, INT8, true, false),
        (4, UINT8, false, true),
    ] {
        for (factor, far) in [(1.0, false), (1.3, false), (1.5, true), (1e-4, true), (3.0, true)] {
            let case = format!("operator {builtin}, element {element}, per channel {per_channel}, {factor}");
            let notes = read(builtin, element, per_channel, factor).map(|graph| graph.notes().len()).ok();
            let expected = (!(refuses && far)).then_some(usize::from(factor != 1.0));
            assert_eq!(notes, expected, "{case}");
        }
    }
    insta::assert_snapshot!(read(9, INT8, false, 3.0).unwrap_err(), @"test: operator 0 (FULLY_CONNECTED): bias `b` has scale 1.5e-1, input scale times weight scale is 5.000000074505806e-2: LiteRT rejects more than 0.02 output steps (1e0) between them");
    let graph = read(3, INT8, true, 3.0).unwrap();
    insta::assert_snapshot!(graph.notes()[0].text, @"the bias is added to the sums without scaling: its scale 1.5e-1 of channel 0 (2 of 2 differ) is not input scale times weight scale, 5e-2");
}

/// A pruned channel of weights has scale 0. The runtimes run it, and its output is the zero point.
#[test]
fn a_channel_of_scale_0_gives_the_zero_point() {
    let weights = Tensor { scales: vec![0.5, 0.0], zero_points: vec![0, 0], ..w(&[2, 4]) };
    let model = Model::new(vec![x(&[1, 4]), weights, y(&[1, 2])], vec![Operator::new(9, &[0, 1], 2)]);
    let graph = read_tflite(&model.to_bytes(), "test").unwrap();
    let zero_point = graph.tensor(graph.outputs()[0]).ty.quantization.as_ref().unwrap().zero_point(0);
    for sample in [[100, -100, 100, -100], [127; 4], [-128; 4]] {
        let made = graph.interpret(&[&sample]).unwrap();
        assert_eq!(made[graph.outputs()[0].index()][1], zero_point, "{sample:?}");
    }
    // Such a scale cannot quantize activations.
    let input = Tensor { scales: vec![0.5, 0.0, 0.5, 0.5], zero_points: vec![0; 4], axis: 1, ..x(&[1, 4]) };
    let model = Model::new(vec![input, w(&[2, 4]), y(&[1, 2])], vec![Operator::new(9, &[0, 1], 2)]);
    let error = read_tflite(&model.to_bytes(), "test").map(|_| ()).unwrap_err().message();
    assert!(error.contains("scale 0 at index 1; only weights have channels of scale 0"), "{error}");
}
