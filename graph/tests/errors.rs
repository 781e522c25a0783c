//! Tests of errors: graphs that cannot be built report what is wrong and where.

use crate::common::{
    DOUBLE, Input, activations, bias, build, error, int8, int8_output, ones, output, ramp, weights,
};
use guardbit_graph::{
    Activation, DType, GraphBuilder, GraphError, Op, OutputSpec, Padding, Quantization, TensorType, ops,
};
use guardbit_num::Scheme;

fn conv(kernel_stride: [usize; 2], dilation: [usize; 2], padding: Padding) -> ops::Conv2d {
    let activation = Activation::None;
    ops::Conv2d { stride: kernel_stride, dilation, padding, activation, requantize: DOUBLE }
}

fn plain_conv() -> ops::Conv2d {
    conv([1, 1], [1, 1], Padding::Valid)
}

fn dense() -> ops::FullyConnected {
    ops::FullyConnected { keep_num_dims: true, activation: Activation::None, requantize: DOUBLE }
}

fn average(kernel: [usize; 2], padding: Padding) -> ops::AvgPool2d {
    ops::AvgPool2d { kernel, stride: [1, 1], padding, activation: Activation::None }
}

fn mean(axes: &[usize]) -> ops::Mean {
    ops::Mean { axes: axes.into(), keep_dims: false, requantize: DOUBLE }
}

fn add() -> ops::Add {
    ops::Add { activation: Activation::None, scheme: Scheme::Double }
}

fn concat(axis: usize) -> ops::Concat {
    ops::Concat { axis, requantize: DOUBLE }
}

fn reshape(shape: &[i64]) -> ops::Reshape {
    ops::Reshape { shape: shape.into() }
}

fn softmax_output() -> OutputSpec {
    output(DType::Int8, 1.0 / 256.0, -128)
}

fn check(op: impl Into<Op>, inputs: &[Input], output: OutputSpec, expected: &str) {
    assert_eq!(error(op, inputs, output), expected);
}

#[test]
fn numbers_of_inputs() {
    let x = ramp(&[1, 2, 2, 1]);
    check(
        plain_conv(),
        std::slice::from_ref(&x),
        int8_output(),
        "conv2d `output` takes 2 to 3 inputs, found 1",
    );
    check(add(), &[x.clone(), x.clone(), x], int8_output(), "add `output` takes 2 inputs, found 3");
    check(concat(0), &[], int8_output(), "concat `output` takes 1 or more inputs, found 0");
}

#[test]
fn an_absent_input_is_missing() {
    let mut builder = GraphBuilder::new("absent");
    let x = builder.input("x", ramp(&[2]).ty).unwrap();
    for op in [Op::from(add()), concat(0).into()] {
        let found = builder.node(op, &[Some(x), None], int8_output()).unwrap_err();
        assert!(matches!(found, GraphError::Arity { found: 1, .. }), "{found}");
    }
}

#[test]
fn shapes() {
    let image = || ramp(&[1, 2, 2, 3]);
    check(
        plain_conv(),
        &[ramp(&[2, 2, 3]), ones(&[1, 1, 1, 3])],
        int8_output(),
        "conv2d `output`: tensor `input0` has shape [2, 2, 3], expected rank 4",
    );
    check(
        plain_conv(),
        &[image(), ones(&[1, 1, 1, 2])],
        int8_output(),
        "conv2d `output`: tensor `input1` has shape [1, 1, 1, 2], expected [o, kh, kw, 3 / groups] with o a \
         multiple of groups",
    );
    check(
        plain_conv(),
        &[image(), ones(&[1, 3, 1, 3])],
        int8_output(),
        "conv2d `output`: tensor `input0` has shape [1, 2, 2, 3], expected at least one window of [3, 1]",
    );
    check(
        plain_conv(),
        &[image(), ones(&[2, 1, 1, 3]), bias(&[1, 2, 3])],
        int8_output(),
        "conv2d `output`: tensor `input2` has shape [3], expected [2]",
    );
    check(
        ops::DepthwiseConv2d {
            stride: [1, 1],
            dilation: [1, 1],
            padding: Padding::Valid,
            activation: Activation::None,
            requantize: DOUBLE,
        },
        &[image(), ones(&[1, 1, 1, 4])],
        int8_output(),
        "depthwise_conv2d `output`: tensor `input1` has shape [1, 1, 1, 4], expected [1, kh, kw, 3 * multiplier]",
    );
    check(
        dense(),
        &[ramp(&[2, 3]), ones(&[1, 2])],
        int8_output(),
        "fully_connected `output`: tensor `input0` has shape [2, 3], expected [.., 2]",
    );
    check(
        dense(),
        &[ramp(&[2, 3]), ones(&[1, 4])],
        int8_output(),
        "fully_connected `output`: tensor `input0` has shape [2, 3], expected a multiple of 4 elements",
    );
    check(
        add(),
        &[ramp(&[2, 3]), ramp(&[2])],
        int8_output(),
        "add `output`: tensor `input1` has shape [2], expected one that broadcasts with [2, 3]",
    );
    check(
        concat(1),
        &[ramp(&[2, 3]), ramp(&[3, 3])],
        int8_output(),
        "concat `output`: tensor `input1` has shape [3, 3], expected [2, 3] except along axis 1",
    );
}

#[test]
fn dtypes() {
    check(
        add(),
        &[int8(&[1], &[1]), activations(&[1], DType::UInt8, 1.0, 0, &[1])],
        int8_output(),
        "add `output`: tensor `input1` is uint8, expected int8",
    );
    check(
        mean(&[0]),
        &[int8(&[1], &[1])],
        output(DType::UInt8, 1.0, 0),
        "mean `output`: tensor `output` is uint8, expected int8",
    );
    check(
        ops::Softmax { beta: 1.0 },
        &[activations(&[1], DType::Int16, 1.0, 0, &[1])],
        softmax_output(),
        "softmax `output`: tensor `output` is int8, expected int16",
    );
    check(
        plain_conv(),
        &[ramp(&[1, 1, 1, 1]), ones(&[1, 1, 1, 1]), int8(&[1], &[1])],
        int8_output(),
        "conv2d `output`: tensor `input2` is int8, expected int32 or int64",
    );
}

#[test]
fn operands() {
    let image = || ramp(&[1, 1, 1, 2]);
    check(
        plain_conv(),
        &[image(), Input { constant: false, ..ones(&[1, 1, 1, 2]) }],
        int8_output(),
        "conv2d `output`: tensor `input1`: must be a constant",
    );
    let per_axis = |axis, scales: usize| {
        let mut w = weights(&[2, 1, 1, 2], &[1, 2, 3, 4]);
        w.ty.quantization = Quantization::per_axis(vec![1.0; scales], vec![0; scales], axis).ok();
        w
    };
    check(
        plain_conv(),
        &[image(), per_axis(3, 2)],
        int8_output(),
        "conv2d `output`: tensor `input1`: scales must be along axis 0, that of the output channels",
    );
    let mut bare = ones(&[1, 1, 1, 2]);
    bare.ty.quantization = None;
    check(plain_conv(), &[image(), bare], int8_output(), "conv2d `output`: tensor `input1`: has no scale");
    let mut split = image();
    split.ty.quantization = Quantization::per_axis(vec![1.0, 2.0], vec![0, 0], 3).ok();
    check(
        plain_conv(),
        &[split, ones(&[1, 1, 1, 2])],
        int8_output(),
        "conv2d `output`: tensor `input0`: must have a single scale and zero point",
    );
    let mut shifted = bias(&[1]);
    shifted.ty.quantization = Quantization::per_tensor(1.0, 5).ok();
    check(
        plain_conv(),
        &[image(), ones(&[1, 1, 1, 2]), shifted],
        int8_output(),
        "conv2d `output`: tensor `input2`: a bias must have zero point 0",
    );
    check(
        ops::Softmax { beta: 1.0 },
        &[ramp(&[2])],
        int8_output(),
        "softmax `output`: tensor `output`: must have scale 1/256 and zero point -128",
    );
}

#[test]
fn codes_that_only_move_keep_their_quantization() {
    let expected =
        |op: &str| format!("{op} `output`: tensor `output`: scale and zero point differ from `input0`");
    let image = [ramp(&[1, 2, 2, 1])];
    let coarse = || output(DType::Int8, 2.0, 0);
    check(reshape(&[-1]), &image, coarse(), &expected("reshape"));
    check(ops::Transpose { permutation: vec![0, 1, 2, 3] }, &image, coarse(), &expected("transpose"));
    check(ops::Pad { paddings: vec![[0, 0]; 4], value: None }, &image, coarse(), &expected("pad"));
    check(average([1, 1], Padding::Valid), &image, coarse(), &expected("avg_pool2d"));
    let max = ops::MaxPool2d {
        kernel: [1, 1],
        stride: [1, 1],
        padding: Padding::Valid,
        activation: Activation::None,
    };
    check(max, &image, coarse(), &expected("max_pool2d"));
}

#[test]
fn attributes() {
    let image = || [ramp(&[1, 2, 2, 1])];
    let conv_inputs = [ramp(&[1, 2, 2, 1]), ones(&[1, 1, 1, 1])];
    let one = [1, 1];
    check(
        conv([0, 1], one, Padding::Valid),
        &conv_inputs,
        int8_output(),
        "conv2d `output`: stride [0, 1] must be 1..=1048576",
    );
    check(
        conv(one, [1, usize::MAX], Padding::Valid),
        &conv_inputs,
        int8_output(),
        "conv2d `output`: dilation [1, 18446744073709551615] must be 1..=1048576",
    );
    check(
        average([0, 2], Padding::Valid),
        &image(),
        int8_output(),
        "avg_pool2d `output`: kernel [0, 2] must be 1..=1048576",
    );
    check(
        average([2, 2], Padding::Explicit { rows: [0, 2], cols: [0, 0] }),
        &image(),
        int8_output(),
        "avg_pool2d `output`: padding [0, 2] must be below the size 2 of the window",
    );
    let axes = [
        (vec![4], "[4] must be distinct axes of [1, 2, 2, 1]"),
        (vec![1, 1], "[1, 1] must be distinct axes of [1, 2, 2, 1]"),
        (vec![], "[] must cover at least one element of [1, 2, 2, 1]"),
    ];
    for (axes, problem) in axes {
        check(mean(&axes), &image(), int8_output(), &format!("mean `output`: axes {problem}"));
    }
    for shape in [vec![3], vec![-1, -1], vec![-2, 2], vec![0, -1], vec![i64::MIN], vec![i64::MAX, i64::MAX]] {
        let expected = format!("reshape `output`: shape {shape:?} does not fit the input's [1, 2, 2, 1]");
        check(reshape(&shape), &image(), int8_output(), &expected);
    }
    for permutation in [vec![0, 1, 2], vec![0, 1, 2, 2], vec![1, 2, 3, 4]] {
        let expected = format!(
            "transpose `output`: permutation {permutation:?} must contain every axis of [1, 2, 2, 1] once"
        );
        check(ops::Transpose { permutation }, &image(), int8_output(), &expected);
    }
    check(
        ops::Pad { paddings: vec![[1, 1]], value: None },
        &image(),
        int8_output(),
        "pad `output`: paddings has entries for 1 axes; the input has 4 axes",
    );
    check(
        ops::Pad { paddings: vec![[1, 1]; 4], value: Some(128) },
        &image(),
        int8_output(),
        "pad `output`: value 128 is outside int8",
    );
    check(concat(4), &image(), int8_output(), "concat `output`: axis 4 is outside the rank of [1, 2, 2, 1]");
    for beta in [0.0, -1.0, f32::NAN] {
        let expected = format!("softmax `output`: beta {beta} times the input scale must be above 2^-26");
        check(ops::Softmax { beta }, &image(), softmax_output(), &expected);
    }
}

#[test]
fn multipliers() {
    let x = activations(&[1], DType::Int8, 1e20, 0, &[1]);
    check(
        ops::Relu { requantize: DOUBLE },
        &[x],
        output(DType::Int8, 0.5, 0),
        "relu `output`: 200000004008175470000 cannot be a requantization multiplier: it must be finite, not \
         negative and below 2^30",
    );
}

#[test]
fn sizes_beyond_any_network() {
    let huge = usize::MAX;
    let limit = "has more than 268435456 elements";
    let ends = |op: Op, inputs: &[Input]| {
        let found = error(op, inputs, int8_output());
        assert!(found.ends_with(limit), "{found}");
    };
    let vector = || ramp(&[2]);
    ends(ops::Pad { paddings: vec![[huge, huge]], value: None }.into(), &[vector()]);
    let rows = Padding::Explicit { rows: [huge / 2, 0], cols: [0, 0] };
    ends(conv([1, 1], [1, 1], rows).into(), &[ramp(&[1, 1, 1, 1]), ones(&[1, 1, 1, 1])]);
    let wide = |shape: &[usize]| Input {
        ty: TensorType { shape: shape.to_vec(), ..vector().ty },
        codes: Vec::new(),
        constant: false,
    };
    ends(add().into(), &[wide(&[1 << 20, 1]), wide(&[1, 1 << 20])]);
    let everything = Padding::Explicit { rows: [huge, huge], cols: [huge, huge] };
    let found =
        error(conv([1, 1], [1, 1], everything), &[ramp(&[1, 1, 1, 1]), ones(&[1, 1, 1, 1])], int8_output());
    assert!(found.contains("expected at least one window"), "{found}");
}

#[test]
fn tensors() {
    let mut builder = GraphBuilder::new("tensors");
    builder.input("x", ramp(&[2]).ty).unwrap();
    let mut add = |name: &str, input: Input| {
        builder.constant(name, input.ty, input.codes).map(|_| ()).unwrap_err().to_string()
    };
    assert_eq!(add("x", ramp(&[2])), "tensor `x` is defined twice");
    assert_eq!(add("w", int8(&[2, 2], &[1, 2, 3])), "tensor `w` of shape [2, 2] needs 4 codes, found 3");
    assert_eq!(add("w", int8(&[2], &[1, 128])), "tensor `w`: code 128 at index 1 is outside int8");
    let mut split = int8(&[2], &[1, 2]);
    split.ty.quantization = Quantization::per_axis(vec![1.0; 3], vec![0; 3], 0).ok();
    assert_eq!(add("w", split.clone()), "tensor `w`: 3 scales along axis 0 of shape [2]");
    split.ty.quantization = Quantization::per_axis(vec![1.0; 2], vec![0; 2], 1).ok();
    assert_eq!(add("w", split.clone()), "tensor `w`: 2 scales along axis 1 of shape [2]");
    split.ty.quantization = Quantization::per_tensor(1.0, 300).ok();
    assert_eq!(add("w", split), "tensor `w`: zero point 300 is outside int8");
}

#[test]
fn graphs_need_inputs_and_outputs() {
    let empty = GraphBuilder::new("empty").finish(Vec::new()).map(|_| ());
    assert_eq!(empty.unwrap_err().to_string(), "the graph has no input");
    let mut builder = GraphBuilder::new("no output");
    builder.input("x", ramp(&[2]).ty).unwrap();
    assert_eq!(builder.finish(Vec::new()).map(|_| ()).unwrap_err().to_string(), "the graph has no output");
}

#[test]
fn quantizations() {
    let scale = |scale| Quantization::per_tensor(scale, 0).unwrap_err().to_string();
    assert_eq!(scale(0.0), "scale 0 at index 0 is not a finite number above 0");
    assert_eq!(scale(f32::NAN), "scale NaN at index 0 is not a finite number above 0");
    assert_eq!(scale(f32::INFINITY), "scale inf at index 0 is not a finite number above 0");
    let counts = Quantization::per_axis(vec![1.0], vec![0, 0], 0).unwrap_err().to_string();
    assert_eq!(counts, "1 scales do not match 2 zero points");
}

#[test]
fn names() {
    for dtype in DType::ALL {
        assert_eq!(dtype.name().parse(), Ok(dtype));
    }
    let found = "float".parse::<DType>().unwrap_err().to_string();
    assert_eq!(
        found,
        "unknown dtype `float`; the dtypes are int4, uint4, int8, uint8, int16, uint16, int32, int64, float32, float16, bfloat16, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0, float4_e2m1"
    );
    for (index, kind) in Op::KINDS.iter().enumerate() {
        assert!(
            Op::KINDS[..index].iter().all(|other| other.name != kind.name),
            "{kind:?} is registered twice"
        );
    }
    assert_eq!(Op::from(add()).name(), "add");
}

#[test]
fn empty_axes() {
    let empty = |tensor: &str, axis: usize, shape: &str| {
        format!("tensor `{tensor}`: axis {axis} of shape {shape} is empty; expected at least 1 element")
    };
    check(reshape(&[0, 2]), &[ramp(&[0, 2])], int8_output(), &empty("input0", 0, "[0, 2]"));
    check(reshape(&[-1, 2]), &[ramp(&[2, 0])], int8_output(), &empty("input0", 1, "[2, 0]"));
    check(mean(&[0]), &[ramp(&[0, 1])], int8_output(), &empty("input0", 0, "[0, 1]"));
    let pool = average([1, 1], Padding::Same);
    check(pool, &[ramp(&[1, 0, 2, 1])], int8_output(), &empty("input0", 1, "[1, 0, 2, 1]"));
    let image = || ramp(&[1, 2, 2, 3]);
    check(plain_conv(), &[image(), ones(&[1, 1, 1, 0])], int8_output(), &empty("input1", 3, "[1, 1, 1, 0]"));
    check(plain_conv(), &[image(), ones(&[0, 1, 1, 3])], int8_output(), &empty("input1", 0, "[0, 1, 1, 3]"));
    check(dense(), &[ramp(&[0, 3]), ones(&[1, 3])], int8_output(), &empty("input0", 0, "[0, 3]"));
    check(dense(), &[ramp(&[2, 3]), ones(&[1, 0])], int8_output(), &empty("input1", 1, "[1, 0]"));
    let without = bias(&[]);
    check(dense(), &[ramp(&[2, 3]), ones(&[2, 3]), without], int8_output(), &empty("input2", 0, "[0]"));
}

#[test]
fn too_many_axes() {
    let shape = "shape [1, 1, 1, 1, 1, 1, 1, 1, 1] has 9 axes; expected at most 8";
    check(reshape(&[1; 9]), &[ramp(&[1])], int8_output(), &format!("tensor `output`: {shape}"));
    check(reshape(&[1]), &[ramp(&[1; 9])], int8_output(), &format!("tensor `input0`: {shape}"));
    let found = error(reshape(&[1]), &[ramp(&vec![1; 2_000_000])], int8_output());
    assert!(found.len() < 300 && found.contains("has 2000000 axes"), "{found}");
    let found = error(mean(&(0..1_000_000).collect::<Vec<_>>()), &[ramp(&[1])], int8_output());
    assert!(found.len() < 300 && found.contains("1000000 in all"), "{found}");
}

/// All tensors share one budget, which is checked before anything is allocated.
#[test]
fn tensors_together_have_a_limit() {
    let all = "the network has more than 268435456 elements in total";
    let pad = |before| ops::Pad { paddings: vec![[before, 0]], value: None };
    let mut builder = GraphBuilder::new("many");
    let x = builder.input("x", ramp(&[1]).ty).unwrap();
    let mut add = |name: &str, before| {
        let output = OutputSpec { name: name.into(), ..int8_output() };
        builder.node(pad(before), &[Some(x)], output).map(|_| ()).map_err(|error| error.to_string())
    };
    for name in ["a", "b", "c", "d"] {
        // Each has 2^26 - 1 elements.
        add(name, (1 << 26) - 2).unwrap();
    }
    assert_eq!(add("e", 3), Err(format!("with tensor `e` {all}")));
    add("e", 2).unwrap();
    assert_eq!(add("f", 0), Err(format!("with tensor `f` {all}")));
    let ty = |count: usize| TensorType { shape: vec![count], ..ramp(&[1]).ty };
    let empty = GraphBuilder::new("none");
    assert_eq!(empty.check_room("w", &ty(1 << 28)), Ok(()));
    assert!(matches!(empty.check_room("w", &ty((1 << 28) + 1)), Err(GraphError::TooLarge { .. })));
}

/// Padding and the weights of pools count, too.
#[test]
fn what_nodes_hold_has_a_limit() {
    let beyond = "kernel reads more than 268435456 elements, padding included";
    let pixel = || ramp(&[1, 1, 1, 1]);
    let far = conv([1, 1], [1 << 20, 1 << 20], Padding::Same);
    check(far, &[pixel(), ones(&[1, 3, 3, 1])], int8_output(), &format!("conv2d `output`: {beyond}"));
    let wide = average([1 << 20, 1 << 20], Padding::Same);
    check(wide, &[pixel()], int8_output(), &format!("avg_pool2d `output`: {beyond}"));
    // 128 channels of 2^10 * 2^10 padded cells, and equally many weights of 1.
    let many = average([1 << 10, 1 << 10], Padding::Same);
    let found = error(many.clone(), &[ramp(&[1, 1, 1, 256])], int8_output());
    assert_eq!(found, "with tensor `output` the network has more than 268435456 elements in total");
    build(many, &[ramp(&[1, 1, 1, 128])], int8_output()).unwrap();
}

#[test]
fn names_that_nothing_can_show() {
    let mut builder = GraphBuilder::new("names");
    let mut add = |name: &str| builder.input(name, ramp(&[1]).ty).map(|_| ()).map_err(|e| e.to_string());
    assert_eq!(add(""), Err("the name of a tensor is empty: ``".into()));
    let control = "the name of a tensor contains the control character U+001B: `_[2J`";
    assert_eq!(add("\u{1b}[2J"), Err(control.into()));
    let long = add(&"L".repeat(100_000)).unwrap_err();
    assert!(long.starts_with("the name of a tensor has 100000 bytes; expected at most 1024: `LLL"), "{long}");
    assert!(long.len() < 400);
    assert_eq!(add(&"L".repeat(1024)), Ok(()));
}
