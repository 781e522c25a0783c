//! Tests of the results of each operation, on values small enough to compute by hand.

use crate::common;
use crate::common::{DOUBLE, activations, bias, int8, int8_output, ones, output, ramp, run, weights};
use guardbit_graph::{Activation, DType, Op, Padding, ops};
use guardbit_num::Scheme;

const NONE: Activation = Activation::None;

fn codes(op: impl Into<Op>, inputs: &[common::Input], output: guardbit_graph::OutputSpec) -> Vec<i32> {
    run(op, inputs, output).1
}

#[test]
fn fully_connected() {
    let op = |activation| ops::FullyConnected { keep_num_dims: false, activation, requantize: DOUBLE };
    let inputs = [
        activations(&[2, 3], DType::Int8, 0.5, 1, &[1, 2, 3, -1, 0, 1]),
        weights(&[2, 3], &[1, 2, 3, -1, 0, 1]),
        bias(&[10, -10]),
    ];
    // Sums 8 + 10, 2 - 10, -4 + 10, 2 - 10, at half the output's scale.
    assert_eq!(codes(op(NONE), &inputs, output(DType::Int8, 1.0, 3)), [12, -1, 6, -1]);
    assert_eq!(codes(op(Activation::Relu), &inputs, output(DType::Int8, 1.0, 3)), [12, 3, 6, 3]);
    assert_eq!(codes(op(Activation::Relu6), &inputs, output(DType::Int8, 1.0, 3)), [9, 3, 6, 3]);
}

#[test]
fn depthwise_convolution() {
    let op = ops::DepthwiseConv2d {
        stride: [1, 1],
        dilation: [1, 1],
        padding: Padding::Valid,
        activation: NONE,
        requantize: DOUBLE,
    };
    // Two cells of channels (1, 2) and (3, 4); two filters per channel.
    let inputs = [int8(&[1, 1, 2, 2], &[1, 2, 3, 4]), weights(&[1, 1, 2, 4], &[1, 10, 1, 2, 1, 0, -1, 3])];
    assert_eq!(run(op, &inputs, int8_output()), (vec![1, 1, 1, 4], vec![4, 10, -2, 16]));
}

#[test]
fn convolution_reads_zero_outside_the_image() {
    let op = |padding, dilation| ops::Conv2d {
        stride: [1, 1],
        dilation,
        padding,
        activation: NONE,
        requantize: DOUBLE,
    };
    let image = activations(&[1, 1, 4, 1], DType::Int8, 1.0, -100, &[-99, -98, -97, -96]);
    let inputs = [image, ones(&[1, 1, 3, 1])];
    let y = || output(DType::Int8, 1.0, 0);
    assert_eq!(codes(op(Padding::Same, [1, 1]), &inputs, y()), [3, 6, 9, 7]);
    assert_eq!(codes(op(Padding::Valid, [1, 1]), &inputs, y()), [6, 9]);
    assert_eq!(codes(op(Padding::Same, [1, 2]), &inputs, y()), [4, 6, 4, 6]);
    let explicit = Padding::Explicit { rows: [0, 0], cols: [2, 0] };
    assert_eq!(codes(op(explicit, [1, 1]), &inputs, y()), [1, 3, 6, 9]);
}

#[test]
fn grouped_convolution() {
    let op = ops::Conv2d {
        stride: [1, 1],
        dilation: [1, 1],
        padding: Padding::Valid,
        activation: NONE,
        requantize: DOUBLE,
    };
    // Two groups of two channels, two filters each.
    let inputs = [int8(&[1, 1, 1, 4], &[1, 2, 3, 4]), weights(&[4, 1, 1, 2], &[1, 1, 1, -1, 1, 1, 10, 1])];
    assert_eq!(codes(op, &inputs, int8_output()), [3, -1, 7, 34]);
}

/// Average pools on raw codes, half away from zero. Other frameworks differ here.
#[test]
fn average_pools() {
    let cases: [(&[i32], i32, i32); 6] = [
        (&[-1, -2], 0, -2),
        (&[-1, -2], -128, -2),
        (&[0, -1], 0, -1),
        (&[-3, -4, -4, -3], 0, -4),
        (&[-3, -4, -4, -3], -1, -4),
        (&[127, 126], 0, 127),
    ];
    for (values, zero_point, expected) in cases {
        let shape = [1, 1, values.len(), 1];
        let input = activations(&shape, DType::Int8, 1.0, zero_point, values);
        let op = ops::AvgPool2d {
            kernel: [1, values.len()],
            stride: [1, 1],
            padding: Padding::Valid,
            activation: NONE,
        };
        let found = codes(op, &[input], output(DType::Int8, 1.0, zero_point));
        assert_eq!(found, [expected], "{values:?} at zero point {zero_point}");
    }
}

#[test]
fn pools_leave_padding_out() {
    let (kernel, stride, padding) = ([1, 3], [1, 1], Padding::Same);
    let input = [int8(&[1, 1, 3, 1], &[-10, -20, -40])];
    let average = ops::AvgPool2d { kernel, stride, padding, activation: NONE };
    assert_eq!(codes(average, &input, int8_output()), [-15, -23, -30]);
    let max = |activation| ops::MaxPool2d { kernel, stride, padding, activation };
    assert_eq!(codes(max(NONE), &input, int8_output()), [-10, -10, -20]);
    assert_eq!(codes(max(Activation::Relu), &input, int8_output()), [0, 0, 0]);
}

/// TVM's lowering of these sums gives 2, 0 (or -2) and 4.
#[test]
fn sums_are_rounded_after_the_addition() {
    let op = || ops::Add { activation: NONE, scheme: Scheme::Double };
    for (code, expected) in [(1, 1), (-1, -1), (3, 3)] {
        let term = activations(&[1], DType::Int8, 0.5, 0, &[code]);
        assert_eq!(codes(op(), &[term.clone(), term], int8_output()), [expected]);
    }
}

#[test]
fn pairs_of_elements_broadcast() {
    let add = || ops::Add { activation: NONE, scheme: Scheme::Double };
    let (column, row) = (int8(&[2, 1], &[10, 20]), int8(&[3], &[1, 2, 3]));
    let expected = (vec![2, 3], vec![11, 12, 13, 21, 22, 23]);
    assert_eq!(run(add(), &[column.clone(), row.clone()], int8_output()), expected);
    assert_eq!(run(add(), &[row.clone(), column.clone()], int8_output()), expected);
    let mul = ops::Mul { activation: Activation::Relu6, requantize: DOUBLE };
    let product = run(mul, &[column, row], output(DType::Int8, 10.0, -1));
    assert_eq!(product, (vec![2, 3], vec![0, 0, 0, 0, 0, 0]));
    let scalar = int8(&[], &[5]);
    assert_eq!(run(add(), &[int8(&[2], &[1, 2]), scalar], int8_output()), (vec![2], vec![6, 7]));
}

#[test]
fn products() {
    let op = ops::Mul { activation: NONE, requantize: DOUBLE };
    let a = activations(&[4], DType::UInt8, 0.5, 128, &[129, 127, 131, 255]);
    let b = activations(&[4], DType::UInt8, 1.0, 0, &[1, 1, 3, 255]);
    // 0.5, -0.5 and 4.5 round half up. The last one is clamped.
    assert_eq!(codes(op, &[a, b], output(DType::UInt8, 1.0, 10)), [11, 10, 15, 255]);
}

#[test]
fn means_and_sums() {
    let input = activations(&[1, 2, 2, 2], DType::Int8, 1.0, 10, &[11, 20, 12, 30, 13, 40, 15, 52]);
    let y = || output(DType::Int8, 1.0, 0);
    let mean = |axes: &[usize], keep_dims| ops::Mean { axes: axes.into(), keep_dims, requantize: DOUBLE };
    // 11/4 and 102/4 = 25.5.
    assert_eq!(run(mean(&[1, 2], false), std::slice::from_ref(&input), y()), (vec![1, 2], vec![3, 26]));
    assert_eq!(run(mean(&[2, 1], true), std::slice::from_ref(&input), y()), (vec![1, 1, 1, 2], vec![3, 26]));
    assert_eq!(run(mean(&[0, 1, 2, 3], false), std::slice::from_ref(&input), y()), (vec![], vec![14]));
    let sum = |axes: &[usize]| ops::Sum { axes: axes.into(), keep_dims: false, requantize: DOUBLE };
    assert_eq!(run(sum(&[1, 2]), std::slice::from_ref(&input), y()), (vec![1, 2], vec![11, 102]));
    assert_eq!(run(sum(&[3]), &[input], y()), (vec![1, 2, 2], vec![11, 22, 33, 47]));
}

#[test]
fn rectifiers() {
    let input = || [activations(&[5], DType::Int8, 0.5, -10, &[-128, -10, 0, 1, 127])];
    let relu = ops::Relu { requantize: DOUBLE };
    assert_eq!(codes(relu, &input(), output(DType::Int8, 1.0, -128)), [-128, -128, -123, -122, -59]);
    let relu6 = ops::Relu6 { requantize: DOUBLE };
    assert_eq!(codes(relu6, &input(), output(DType::Int8, 1.0, -128)), [-128, -128, -123, -122, -122]);
}

#[test]
fn int8_to_uint8_moves_the_zero_point() {
    let all: Vec<_> = (-128..128).collect();
    let op = || ops::Quantize { requantize: DOUBLE };
    let input = activations(&[256], DType::Int8, 0.37, -5, &all);
    let flipped: Vec<_> = all.iter().map(|code| code + 128).collect();
    assert_eq!(codes(op(), &[input], output(DType::UInt8, 0.37, 123)), flipped);
    let back = activations(&[256], DType::UInt8, 0.37, 123, &flipped);
    assert_eq!(codes(op(), &[back], output(DType::Int8, 0.37, -5)), all);
}

#[test]
fn a_coarser_scale_rounds() {
    let input = activations(&[6], DType::Int8, 0.25, 0, &[2, -2, 6, -6, 10, -10]);
    let op = |scheme| ops::Quantize { requantize: DOUBLE.with_scheme(scheme) };
    let under = |scheme| codes(op(scheme), std::slice::from_ref(&input), int8_output());
    assert_eq!(under(Scheme::Double), [1, -1, 2, -2, 3, -3]);
    assert_eq!(under(Scheme::Single), [1, 0, 2, -1, 3, -2]);
    assert_eq!(under(Scheme::Even), [0, 0, 2, -2, 2, -2]);
}

/// Compares with the float function, rounded half away from zero.
#[test]
fn softmax_of_every_difference() {
    for (scale, beta) in [(0.02f32, 1.0f32), (0.1, 1.0), (1.0, 1.0), (0.1, 3.0)] {
        for difference in 0..255 {
            let input = activations(&[2], DType::Int8, scale, 7, &[127, 127 - difference]);
            let found = codes(ops::Softmax { beta }, &[input], output(DType::Int8, 1.0 / 256.0, -128));
            let power = (-f64::from(difference) * f64::from(scale) * f64::from(beta)).exp();
            let expected = [1.0 / (1.0 + power), power / (1.0 + power)]
                .map(|p| ((p * 256.0).round() as i32 - 128).clamp(-128, 127));
            assert_eq!(found, expected, "difference {difference} at scale {scale}, beta {beta}");
        }
    }
}

#[test]
fn softmax_of_extreme_scales() {
    for scale in [2e-8, 15.9, 16.0, 1e30] {
        let input = activations(&[2, 2], DType::UInt8, scale, 0, &[3, 3, 200, 199]);
        let found = codes(ops::Softmax { beta: 1.0 }, &[input], output(DType::UInt8, 1.0 / 256.0, 0));
        let one_sided = if scale > 1.0 { [255, 0] } else { [128, 128] };
        assert_eq!(found, [[128, 128], one_sided].concat(), "scale {scale}");
    }
}

#[test]
fn codes_that_only_move() {
    let input = [ramp(&[2, 3])];
    let all = input[0].codes.clone();
    let reshape = |shape: &[i64]| run(ops::Reshape { shape: shape.into() }, &input, int8_output());
    assert_eq!(reshape(&[3, -1]), (vec![3, 2], all.clone()));
    assert_eq!(reshape(&[6]), (vec![6], all.clone()));
    let transpose = run(ops::Transpose { permutation: vec![1, 0] }, &input, int8_output());
    assert_eq!(transpose, (vec![3, 2], [0, 3, 1, 4, 2, 5].map(|i| all[i]).into()));
    let three = int8(&[2, 2, 3], &(0..12).collect::<Vec<_>>());
    let cycled = run(ops::Transpose { permutation: vec![2, 0, 1] }, &[three], int8_output());
    assert_eq!(cycled, (vec![3, 2, 2], vec![0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]));
}

#[test]
fn padding() {
    let input = [activations(&[1, 2], DType::Int8, 1.0, 9, &[1, 2])];
    let pad = |value| ops::Pad { paddings: vec![[1, 0], [0, 2]], value };
    let y = || output(DType::Int8, 1.0, 9);
    assert_eq!(run(pad(None), &input, y()), (vec![2, 4], vec![9, 9, 9, 9, 1, 2, 9, 9]));
    assert_eq!(run(pad(Some(-3)), &input, y()).1, [-3, -3, -3, -3, 1, 2, -3, -3]);
}

#[test]
fn concatenation_requantizes_what_differs() {
    let (a, b) = (int8(&[2, 1], &[1, 2]), activations(&[2, 2], DType::Int8, 0.5, 1, &[1, 3, 5, 7]));
    let concat = |axis| ops::Concat { axis, requantize: DOUBLE };
    assert_eq!(run(concat(1), &[a.clone(), b], int8_output()), (vec![2, 3], vec![1, 0, 1, 2, 2, 3]));
    assert_eq!(run(concat(0), &[a.clone(), a], int8_output()), (vec![4, 1], vec![1, 2, 1, 2]));
}
