//! Tests of operations without weights as dot products. Walking their windows gives the results of the operation.

use crate::common;
use crate::common::{DOUBLE, activations, build, node, output};
use guardbit_graph::{Activation, DType, DotProducts, Finish, Graph, Op, Padding, Tap, ops};
use proptest::prelude::*;

/// Returns every output code, computed from the public description of the dot products.
fn walk(dots: &DotProducts, codes: &[i32]) -> Vec<i32> {
    let window = dots.window;
    let Finish::Divide(division) = &dots.finish else { panic!("these ops divide") };
    assert!(dots.weights.is_none() && dots.bias.is_none());
    let code = |index| {
        let out = window.output_position(index);
        let taps = (0..window.terms()).filter_map(|k| match window.tap(out, window.kernel_position(k)) {
            Tap::Input(at) => Some(i128::from(codes[at])),
            Tap::Padding => None,
        });
        let read: Vec<_> = taps.collect();
        division.finish(read.iter().sum(), read.len())
    };
    (0..window.dots()).map(code).collect()
}

/// Returns the graph of one operation on these activations.
fn graph_of(op: impl Into<Op>, input: common::Input, output_scale: f32) -> Graph {
    build(op, &[input], output(DType::Int8, output_scale, 3)).unwrap()
}

fn input(shape: Vec<usize>) -> impl Strategy<Value = common::Input> {
    let count = shape.iter().product::<usize>();
    prop::collection::vec(-128..128, count)
        .prop_map(move |codes| activations(&shape, DType::Int8, 0.25, 3, &codes))
}

fn shaped_input(rank: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = common::Input> {
    prop::collection::vec(1usize..5, rank).prop_flat_map(input)
}

proptest! {
    #[test]
    fn reductions(input in shaped_input(2..=4), which in 1usize..8, scale in 0.05f32..2.0, mean: bool) {
        let rank = input.ty.shape.len();
        let axes: Vec<_> = (1..rank).filter(|axis| which >> (axis - 1) & 1 == 1).collect();
        prop_assume!(!axes.is_empty());
        let codes = input.codes.clone();
        let op: Op = match mean {
            true => ops::Mean { axes, keep_dims: false, requantize: DOUBLE }.into(),
            false => ops::Sum { axes, keep_dims: true, requantize: DOUBLE }.into(),
        };
        let graph = graph_of(op, input, scale);
        let dots = graph.dot_products(node(&graph)).unwrap();
        prop_assert_eq!(walk(&dots, &codes), graph.evaluate(node(&graph), &[&codes]));
    }

    #[test]
    fn average_pools(
        input in shaped_input(4..=4),
        kernel in [1usize..4, 1usize..4],
        stride in [1usize..3, 1usize..3],
    ) {
        let codes = input.codes.clone();
        let op = ops::AvgPool2d { kernel, stride, padding: Padding::Same, activation: Activation::Relu };
        let graph = graph_of(op, input, 0.25);
        let dots = graph.dot_products(node(&graph)).unwrap();
        prop_assert_eq!(dots.window.groups, dots.window.channels());
        prop_assert_eq!(walk(&dots, &codes), graph.evaluate(node(&graph), &[&codes]));
    }
}

/// A mean over the samples, or of a tensor that is not an image, is left to the host.
#[test]
fn reductions_that_are_no_windows() {
    for (shape, axes) in [(vec![2, 3], vec![0, 1]), (vec![4], vec![0]), (vec![1, 2, 2, 2, 2], vec![1])] {
        let count: usize = shape.iter().product();
        let input = activations(&shape, DType::Int8, 0.25, 3, &vec![5; count]);
        let op = ops::Mean { axes, keep_dims: false, requantize: DOUBLE };
        let graph = graph_of(op, input, 0.25);
        assert_eq!(graph.dot_products(node(&graph)), None);
        let codes = graph.evaluate(node(&graph), &[&vec![5; count]]);
        assert!(codes.iter().all(|&code| code == 5));
    }
}

#[test]
fn other_ops_are_no_dot_products() {
    let input = activations(&[1, 2, 2, 1], DType::Int8, 0.25, 3, &[0; 4]);
    let op = ops::MaxPool2d {
        kernel: [2, 2],
        stride: [1, 1],
        padding: Padding::Valid,
        activation: Activation::None,
    };
    let graph = graph_of(op, input, 0.25);
    assert_eq!(graph.dot_products(node(&graph)), None);
}
