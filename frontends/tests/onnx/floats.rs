//! Tests of floating-point codes: conversions, and hostile scales.

use guardbit_frontends::{read_onnx, read_yaml, write_onnx, write_yaml};
use guardbit_graph::ops::FloatCast;
use guardbit_graph::{DType, FloatReason, Graph, GraphBuilder, OutputSpec, RealCodes, TensorType};

use super::writer::{Attribute, Model, Node, Tensor, element};

fn shorts() -> impl Iterator<Item = DType> {
    DType::ALL.into_iter().filter(|dtype| dtype.is_short_float())
}

/// Returns a conversion of every code of a dtype to another dtype.
fn conversion(from: DType, to: DType, saturate: bool) -> Graph {
    let mut builder = GraphBuilder::new("net");
    let output = |name: &str, dtype| OutputSpec { name: name.into(), dtype, quantization: None };
    let ty = TensorType { shape: vec![1, 1 << from.bits()], dtype: from, quantization: None };
    let x = builder.input("x", ty).unwrap();
    let cast = |saturate| FloatCast { saturate };
    let real = builder.node(cast(false), &[Some(x)], output("real", DType::Float32)).unwrap();
    let y = builder.node(cast(saturate), &[Some(real)], output("y", to)).unwrap();
    builder.finish(vec![y]).unwrap()
}

fn converted(graph: &Graph) -> Vec<i32> {
    let input = graph.tensor(graph.inputs()[0]).ty.dtype;
    let codes: Vec<i32> = (input.min()..=input.max()).collect();
    graph.interpret(&[&codes]).unwrap()[graph.outputs()[0].index()].clone()
}

/// Every conversion to 8 and 4 bits can be written and read, and keeps all codes. A code becomes the nearest value.
#[test]
fn conversions_read_again_as_they_were() {
    for (from, to) in shorts().flat_map(|from| shorts().map(move |to| (from, to))) {
        if to.bits() > 8 || to == DType::Float8E8M0 {
            continue;
        }
        for saturate in [false, true] {
            let graph = conversion(from, to, saturate);
            let codes = converted(&graph);
            let again = read_onnx(&write_onnx(&graph).unwrap(), "net").unwrap();
            assert_eq!(again.tensor(again.outputs()[0]).ty.dtype, to);
            assert!(converted(&again) == codes, "{from} to {to} through ONNX");
            let text = write_yaml(&graph, "arrays").unwrap().text;
            assert_eq!(read_yaml(&text, std::path::Path::new(""), "net").unwrap(), graph.in_order_of_files());
            let (source, target) = (RealCodes::of(from).unwrap(), RealCodes::of(to).unwrap());
            let values: Vec<f32> = (0..1 << to.bits()).map(|code| target.real(code)).collect();
            for (code, &made) in (0..).zip(&codes) {
                let (real, made) = (source.real(code), target.real(made));
                let distance = |value: &f32| (value - real).abs();
                let nearest =
                    values.iter().map(distance).filter(|d| d.is_finite()).fold(f32::INFINITY, f32::min);
                let is_near = made.is_finite() && real.is_finite() && distance(&made) == nearest;
                let special = !real.is_finite() || !saturate && !made.is_finite() && nearest > 0.0;
                assert!(is_near || special, "{from} {code:#x} is {real}, which became {made} in {to}");
            }
        }
    }
}

/// Reads a node of real values `x` and these scales and zero points, or of constant codes.
fn read(op: &str, scales: &Tensor, zero: u8, attributes: &[(&str, i64)]) -> Result<Graph, String> {
    let zeros = Tensor {
        name: "z".into(),
        dims: scales.dims.clone(),
        element: element::FLOAT8E4M3FN,
        bytes: vec![zero; scales.bytes.len() / 4],
    };
    let of_x = if op == "QuantizeLinear" { element::FLOAT } else { element::FLOAT8E4M3FN };
    let node = attributes.iter().fold(Node::new(op, &["x", "s", "z"], &["y"]), |node, (name, value)| {
        node.with(name, Attribute::Int(*value))
    });
    let model = Model {
        opset: 21,
        nodes: vec![node],
        constants: vec![scales.clone(), zeros],
        inputs: vec![("x".into(), of_x, vec![1, 4])],
        outputs: vec!["y".into()],
    };
    read_onnx(&model.to_bytes(), "net").map_err(|error| error.message())
}

/// Scales of a wrong shape, blocks of a wrong size and zero points are refused. Other scales follow IEEE 754.
#[test]
fn hostile_scales() {
    let two = Tensor::reals("s", &[0.5, 2.0]);
    for (op, what) in [("QuantizeLinear", "quantized"), ("DequantizeLinear", "dequantized")] {
        let refused = |scales: &Tensor, zero, attributes: &[(&str, i64)], words: &str| {
            let message = read(op, scales, zero, attributes).expect_err(what);
            assert!(message.starts_with(op) && message.contains(words), "{message}");
        };
        refused(&two, 0, &[], "has scales of shape [2]; axis 1 of the codes needs [4]");
        refused(&two, 0, &[("axis", 7)], "axis");
        refused(&Tensor::reals("s", &[]), 0, &[], "has scales of shape [0]");
        refused(&two.clone().with_dims(&[1, 2]), 0, &[], "has scales of shape [1, 2]");
        for size in [-4, 1, 3, i64::MIN, i64::MAX] {
            refused(&two, 0, &[("block_size", size)], "has scales of shape [2]; blocks of");
        }
        refused(&Tensor::reals("s", &[1.0]), 0x38, &[], "has a zero point other than 0");
        let blocks = two.clone().with_dims(&[1, 2]);
        assert!(read(op, &blocks, 0, &[("block_size", 2)]).is_ok(), "{what} by blocks");
        for scale in [f32::NAN, f32::INFINITY, 0.0, -1.0] {
            let graph = read(op, &Tensor::reals("s", &[scale]), 0, &[]).unwrap();
            let ones = if op == "QuantizeLinear" { 1f32.to_bits() as i32 } else { 0x38 };
            let code = graph.interpret(&[&[ones; 4]]).unwrap()[graph.outputs()[0].index()][0];
            let (quotient, product) = (1.0 / scale, scale);
            let made = RealCodes::of(graph.tensor(graph.outputs()[0]).ty.dtype).unwrap().real(code);
            let wanted = if op == "QuantizeLinear" { quotient.clamp(-448.0, 448.0) } else { product };
            assert!(made == wanted || made.is_nan() && wanted.is_nan(), "{what} by {scale}: {made}");
        }
    }
}

/// A product of dequantized codes runs on the host, for a stated reason, with the values of its codes.
#[test]
fn products_of_floating_point_codes() {
    let codes = |name: &str, dims: &[i64], bytes: &[u8]| {
        let (name, dims, bytes) = (name.into(), dims.to_vec(), bytes.to_vec());
        Tensor { name, dims, element: element::FLOAT8E4M3FN, bytes }
    };
    let model = Model {
        opset: 21,
        nodes: vec![
            Node::new("DequantizeLinear", &["x", "s"], &["a"]),
            Node::new("DequantizeLinear", &["w", "t"], &["b"]).with("axis", Attribute::Int(0)),
            Node::new("MatMul", &["a", "b"], &["y"]),
        ],
        // 0x30 is 0.5, 0x38 is 1, 0xC0 is -2.
        constants: vec![
            codes("w", &[2, 1], &[0x30, 0xC0]),
            Tensor::reals("s", &[0.25]),
            Tensor::reals("t", &[2.0, 4.0]),
        ],
        inputs: vec![("x".into(), element::FLOAT8E4M3FN, vec![1, 2])],
        outputs: vec!["y".into()],
    };
    let graph = read_onnx(&model.to_bytes(), "net").unwrap();
    let products = graph.float_products();
    assert_eq!([(FloatReason::FloatCodes, true)], [(products[0].reason, products[0].quantized_weights)]);
    let made = graph.interpret(&[&[0x38, 0x30]]).unwrap()[graph.outputs()[0].index()][0];
    assert_eq!(guardbit_graph::real_of(made), 0.25 * (1.0 * 0.5 * 2.0 + 0.5 * -2.0 * 4.0));
}

/// Constant codes of a convolution and of a product stay codes, with their scales, and give the values that folding
/// them gave.
#[test]
fn constant_codes_stay_codes() {
    let codes = |name: &str, dims: &[i64]| {
        let count: i64 = dims.iter().product();
        let bytes = (0..count).map(|i| (i * 37 % 120) as u8).collect();
        Tensor { name: name.into(), dims: dims.to_vec(), element: element::FLOAT8E4M3FN, bytes }
    };
    let with = |op: Node, w: &[i64], x: &[i64], axis: i64, scales: &[f32]| {
        let of_scales = Tensor::reals("t", scales);
        let model = Model {
            opset: 21,
            nodes: vec![
                Node::new("DequantizeLinear", &["x", "s"], &["a"]),
                Node::new("DequantizeLinear", &["w", "t"], &["b"]).with("axis", Attribute::Int(axis)),
                op,
            ],
            constants: vec![codes("w", w), Tensor::reals("s", &[0.25]), of_scales],
            inputs: vec![("x".into(), element::FLOAT8E4M3FN, x.to_vec())],
            outputs: vec!["y".into()],
        };
        read_onnx(&model.to_bytes(), "net").unwrap()
    };
    let dots = |graph: &Graph| graph.nodes_with_ids().find_map(|(node, _)| graph.float_dots(node)).unwrap();
    let again = |graph: &Graph| dots(&read_onnx(&write_onnx(graph).unwrap(), "net").unwrap());
    let scales = [0.1f32, 3.0, 0.7];
    let conv = with(Node::new("Conv", &["a", "b"], &["y"]), &[3, 2, 2, 1], &[1, 2, 3, 3], 0, &scales);
    assert_eq!(dots(&conv).weights.scales, scales);
    assert_eq!(again(&conv).weights, dots(&conv).weights);
    assert_eq!((dots(&conv).activations.scales, dots(&conv).window.terms()), (vec![0.25], 4));
    let turned = Node::new("Gemm", &["a", "b"], &["y"]).with("transB", Attribute::Int(1));
    let gemm = with(turned, &[3, 4], &[2, 4], 0, &scales);
    assert_eq!(dots(&gemm).weights.scales, scales);
    assert_eq!(again(&gemm).weights, dots(&gemm).weights);
    // A scale of each code is `scale * value`, in float32, before a product in float64.
    let value = |code: i32| RealCodes::of(DType::Float8E4M3Fn).unwrap().real(code);
    let x: Vec<i32> = (0..8).map(|i| i * 13).collect();
    let made = gemm.interpret(&[&x]).unwrap()[gemm.outputs()[0].index()].clone();
    for (index, &word) in made.iter().enumerate() {
        let (row, column) = (index / 3, index % 3);
        let product = |k: usize| {
            let weight = value(((column * 4 + k) * 37 % 120) as i32) * scales[column];
            f64::from(value(x[row * 4 + k]) * 0.25) * f64::from(weight)
        };
        let sum = (0..4).map(product).fold(0.0, |sum, product| sum + product) as f32;
        assert_eq!(guardbit_graph::real_of(word), sum, "{index}");
    }
}

/// Operands of float8 are written as quantizers and dequantizers, and read again as they were.
#[test]
fn operands_read_again_as_they_were() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits/digits_fp8.onnx");
    let graph = read_onnx(&std::fs::read(path).unwrap(), "digits").unwrap();
    let written = write_onnx(&graph).unwrap();
    let text = String::from_utf8_lossy(&written);
    assert!(text.contains("QuantizeLinear") && !text.contains("Cast") && !text.contains("Div"));
    let again = read_onnx(&written, "digits").unwrap();
    let parts = |graph: &Graph| {
        let operand = |operand: &guardbit_graph::FloatOperand| {
            let codes = match &operand.codes {
                guardbit_graph::FloatCodes::Constant(codes) => codes.to_vec(),
                guardbit_graph::FloatCodes::Computed { .. } => Vec::new(),
            };
            (operand.dtype, codes, operand.scales.clone())
        };
        let dots = graph.nodes_with_ids().filter_map(|(id, _)| graph.float_dots(id));
        dots.map(|dots| (operand(&dots.activations), operand(&dots.weights), dots.bias, dots.window))
            .collect::<Vec<_>>()
    };
    assert_eq!(parts(&graph).len(), 4);
    assert!(parts(&graph) == parts(&again), "codes and scales");
    let image: Vec<i32> = (0..64).map(|at| guardbit_graph::word_of(at as f32 / 64.0)).collect();
    let outputs = |graph: &Graph| graph.interpret(&[&image]).unwrap()[graph.outputs()[0].index()].clone();
    assert_eq!(outputs(&again), outputs(&graph));
    // Writing adds names once; the file of the file is the same every time.
    let second = write_onnx(&again).unwrap();
    assert_eq!(write_onnx(&read_onnx(&second, "digits").unwrap()).unwrap(), second);
}

/// Returns a convolution, a product along channels, and a function of images, with scales of blocks.
fn blocked(scale_dtype: DType, element_dtype: DType, channels: usize) -> Graph {
    use guardbit_graph::ops::{
        FloatBinary, FloatBlockScale, FloatConv2d, FloatMatMul, FloatMaxPool2d, RealPair,
    };
    use guardbit_graph::{Op, Padding, TensorId, word_of};
    let mut builder = GraphBuilder::new("net");
    let ty = |shape: &[usize], dtype| TensorType { shape: shape.to_vec(), dtype, quantization: None };
    let node = |builder: &mut GraphBuilder, name: &str, op: Op, inputs: &[TensorId], dtype| {
        let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
        builder.node(op, &inputs, OutputSpec { name: name.into(), dtype, quantization: None }).unwrap()
    };
    let pair = |function| Op::from(FloatBinary { function });
    let coded = |builder: &mut GraphBuilder, name: &str, x: TensorId, axis: usize| {
        let op = FloatBlockScale { axis, block_size: 16, scale_dtype, element_dtype };
        let scales = node(builder, &format!("{name}_scales"), op.into(), &[x], DType::Float32);
        let quotient =
            node(builder, &format!("{name}_quotient"), pair(RealPair::Div), &[x, scales], DType::Float32);
        let saturate = FloatCast { saturate: true };
        let codes = node(builder, &format!("{name}_codes"), saturate.into(), &[quotient], element_dtype);
        let cast = FloatCast { saturate: false };
        let values = node(builder, &format!("{name}_values"), cast.into(), &[codes], DType::Float32);
        node(builder, &format!("{name}_real"), pair(RealPair::Mul), &[values, scales], DType::Float32)
    };
    let weights = |builder: &mut GraphBuilder, name: &str, shape: &[usize], axis: usize| {
        let count: usize = shape.iter().product();
        let codes = (0..count).map(|at| (at * 7 % (1 << element_dtype.bits())) as i32 & !1).collect();
        let codes = builder.constant(name, ty(shape, element_dtype), codes).unwrap();
        let inner: usize = shape[axis + 1..].iter().product();
        let place = |at: usize| (at / inner % shape[axis] / 16 + at % inner + at / inner / shape[axis]) % 9;
        let words = (0..count).map(|at| word_of(2f32.powi(place(at) as i32 - 4))).collect();
        let scales = builder.constant(format!("{name}_by"), ty(shape, DType::Float32), words).unwrap();
        let cast = FloatCast { saturate: false };
        let values = node(builder, &format!("{name}_values"), cast.into(), &[codes], DType::Float32);
        node(builder, &format!("{name}_real"), pair(RealPair::Mul), &[values, scales], DType::Float32)
    };
    let x = builder.input("x", ty(&[1, 4, 3, channels], DType::Float32)).unwrap();
    let (a, b) = (coded(&mut builder, "a", x, 3), weights(&mut builder, "w", &[24, 2, 3, channels], 3));
    let conv = FloatConv2d { stride: [1, 1], dilation: [1, 1], padding: Padding::Valid };
    let hidden = node(&mut builder, "hidden", conv.into(), &[a, b], DType::Float32);
    let pool = FloatMaxPool2d { kernel: [3, 1], stride: [1, 1], padding: Padding::Valid };
    let hidden = node(&mut builder, "pooled", pool.into(), &[hidden], DType::Float32);
    let flat = guardbit_graph::ops::Reshape { shape: vec![1, 24] };
    let hidden = node(&mut builder, "flat", flat.into(), &[hidden], DType::Float32);
    let (c, d) = (coded(&mut builder, "c", hidden, 1), weights(&mut builder, "v", &[24, 5], 0));
    let y = node(&mut builder, "y", FloatMatMul {}.into(), &[c, d], DType::Float32);
    builder.finish(vec![y]).unwrap()
}

/// Scales of blocks are read from ONNX and from YAML as they were written.
#[test]
fn block_scales_read_again_as_they_were() {
    for (scales, elements, channels) in [
        (DType::Float8E8M0, DType::Float8E4M3Fn, 40),
        (DType::Float8E8M0, DType::Float8E5M2, 16),
        (DType::Float8E4M3Fn, DType::Float4E2M1, 20),
        (DType::Float8E8M0, DType::Float4E2M1, 3),
    ] {
        let graph = blocked(scales, elements, channels);
        let bytes = write_onnx(&graph).unwrap();
        let again = read_onnx(&bytes, "net").unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("block_size") && text.contains("BlockScale"), "{elements}");
        let x: Vec<i32> =
            (0..12 * channels).map(|at| (((at * 37 % 101) as f32 - 50.0) * 0.13).to_bits() as i32).collect();
        let outputs = |graph: &Graph| graph.interpret(&[&x]).unwrap()[graph.outputs()[0].index()].clone();
        assert_eq!(outputs(&again), outputs(&graph), "{elements} in blocks of {scales}");
        let formats = |graph: &Graph| {
            let dots = graph.nodes_with_ids().filter_map(|(id, _)| graph.float_dots(id));
            let of = |operand: guardbit_graph::FloatOperand| operand.blocks.map(|blocks| blocks.format);
            dots.map(|dots| [of(dots.activations), of(dots.weights)]).collect::<Vec<_>>()
        };
        assert_eq!(formats(&again), formats(&graph));
        assert!(formats(&graph).iter().flatten().all(Option::is_some));
        let text = write_yaml(&graph, "arrays").unwrap().text;
        assert!(text.contains("float_block_scale"), "{text}");
    }
}
