//! Tests of output shapes and of the padding before.

use crate::common::{DOUBLE, build, int8_output, node, ones, ramp};
use guardbit_graph::{Activation, Padding, Window, ops};

const SAME: Padding = Padding::Same;
const VALID: Padding = Padding::Valid;

fn explicit(rows: [usize; 2], cols: [usize; 2]) -> Padding {
    Padding::Explicit { rows, cols }
}

/// Image, kernel, stride, dilation, padding; rows and columns of the output, padding before.
type Case = ([usize; 2], [usize; 2], [usize; 2], [usize; 2], Padding, [usize; 2], [usize; 2]);

fn check((image, kernel, stride, dilation, padding, output, pad): Case) {
    let op = ops::Conv2d { stride, dilation, padding, activation: Activation::None, requantize: DOUBLE };
    let inputs = [ramp(&[2, image[0], image[1], 3]), ones(&[4, kernel[0], kernel[1], 3])];
    let graph = build(op, &inputs, int8_output()).unwrap();
    let window = graph.dot_products(node(&graph)).unwrap().window;
    let expected = Window {
        batch: 2,
        input: [image[0], image[1], 3],
        output: [output[0], output[1], 4],
        kernel: [kernel[0], kernel[1], 3],
        stride,
        dilation,
        pad,
        groups: 1,
    };
    assert_eq!(window, expected);
    assert_eq!(graph.tensor(graph.outputs()[0]).ty.shape, [2, output[0], output[1], 4]);
}

#[test]
fn windows() {
    let one = [1, 1];
    check(([5, 5], [3, 3], one, one, VALID, [3, 3], [0, 0]));
    check(([5, 5], [3, 3], one, one, SAME, [5, 5], [1, 1]));
    // The odd cell goes to the end.
    check(([6, 7], [3, 3], [2, 2], one, SAME, [3, 4], [0, 1]));
    check(([5, 5], [2, 4], one, one, SAME, [5, 5], [0, 1]));
    // A window that needs no padding, and one that is smaller than its step.
    check(([4, 4], [2, 2], [2, 2], one, SAME, [2, 2], [0, 0]));
    check(([7, 7], [1, 1], [3, 3], one, SAME, [3, 3], [0, 0]));
    check(([7, 7], [1, 1], [3, 3], one, VALID, [3, 3], [0, 0]));
    // Dilation enlarges the extent of a window.
    check(([7, 7], [3, 3], one, [2, 3], VALID, [3, 1], [0, 0]));
    check(([7, 7], [3, 3], one, [2, 3], SAME, [7, 7], [2, 3]));
    check(([4, 5], [3, 2], [2, 1], one, explicit([1, 0], [0, 3]), [2, 7], [1, 0]));
    // A window larger than the image.
    check(([2, 2], [5, 5], one, one, SAME, [2, 2], [2, 2]));
}

#[test]
fn groups_follow_from_the_shapes() {
    let op = || ops::Conv2d {
        stride: [1, 1],
        dilation: [1, 1],
        padding: VALID,
        activation: Activation::None,
        requantize: DOUBLE,
    };
    for (depth, filters, groups) in [(6, 4, 1), (3, 4, 2), (2, 9, 3), (1, 6, 6)] {
        let inputs = [ramp(&[1, 2, 2, 6]), ones(&[filters, 1, 1, depth])];
        let graph = build(op(), &inputs, int8_output()).unwrap();
        assert_eq!(graph.dot_products(node(&graph)).unwrap().window.groups, groups);
    }
}

#[test]
fn depthwise_windows_have_a_group_per_channel() {
    let op = ops::DepthwiseConv2d {
        stride: [2, 1],
        dilation: [1, 1],
        padding: SAME,
        activation: Activation::None,
        requantize: DOUBLE,
    };
    let graph = build(op, &[ramp(&[1, 4, 4, 3]), ones(&[1, 3, 3, 6])], int8_output()).unwrap();
    let window = graph.dot_products(node(&graph)).unwrap().window;
    assert_eq!((window.groups, window.kernel, window.output), (3, [3, 3, 1], [2, 4, 6]));
}

#[test]
fn fully_connected_layers_flatten_or_keep() {
    let shape = |input: &[usize], keep_num_dims| {
        let op = ops::FullyConnected { keep_num_dims, activation: Activation::None, requantize: DOUBLE };
        let graph = build(op, &[ramp(input), ones(&[5, 6])], int8_output()).unwrap();
        graph.tensor(graph.outputs()[0]).ty.shape.clone()
    };
    assert_eq!(shape(&[2, 6], false), [2, 5]);
    assert_eq!(shape(&[2, 3, 6], false), [6, 5]);
    assert_eq!(shape(&[2, 3, 6], true), [2, 3, 5]);
    assert_eq!(shape(&[1, 2, 3, 1], false), [1, 5]);
}
