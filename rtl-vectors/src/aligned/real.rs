//! Cases from the samples: the first outputs, those whose sums lose most, and random ones.

use std::sync::Arc;

use guardbit_hwmodels::FloatMacLayer;
use rand_pcg::Pcg64Mcg;

use super::beats::FloatDot;
use super::unit::Unit;
use crate::manifest::CaseGroup;
use crate::real::{choose, id};

/// Codes of activations and weights of one sample, in the layout of the node's inputs
/// ([`FloatOperand::codes`](guardbit_graph::FloatOperand::codes)).
pub type FloatOperands = [Arc<[i32]>; 2];

/// Number of dot products that are searched for the worst ones.
const SEARCHED: usize = 1024;

/// Returns at most `count` dot products of a layer over `inputs`, sample by sample.
pub(super) fn real(
    layer: &FloatMacLayer,
    unit: &Unit,
    inputs: &[FloatOperands],
    count: usize,
    random: &mut Pcg64Mcg,
) -> Vec<FloatDot> {
    let window = &layer.dots.window;
    let all = window.dots() * inputs.len();
    let products = |index: usize| products(layer, &inputs[index / window.dots()], index % window.dots());
    let worst = || {
        // An odd step visits all channels.
        let step = all.div_ceil(SEARCHED).max(1) | 1;
        let loss = |index: usize| {
            let terms: Vec<_> = products(index).into_iter().map(|codes| unit.product(codes)).collect();
            let lost = unit.dot.run(&terms);
            (u32::MAX - lost.vanished_terms, u32::MAX - lost.cut_terms, index)
        };
        let mut losses: Vec<_> = (0..all).step_by(step).map(loss).collect();
        losses.sort_unstable();
        losses.into_iter().map(|(_, _, index)| index).collect()
    };
    let cases = choose(all, count, random, worst).into_iter().enumerate();
    let dot = |(number, (index, class)): (usize, (usize, &'static str))| {
        let out = window.output_position(index % window.dots());
        FloatDot {
            id: id(class, number),
            group: CaseGroup::Real,
            class: class.into(),
            place: Some([index / window.dots(), out.n, out.h, out.w, out.c]),
            products: products(index),
            bubble: None,
            is_cut: false,
        }
    };
    cases.map(dot).collect()
}

/// Returns the codes of a dot product in the order of addition. Padding is a zero.
fn products(layer: &FloatMacLayer, [activations, weights]: &FloatOperands, index: usize) -> Vec<[u32; 2]> {
    let (dots, window) = (&layer.dots, &layer.dots.window);
    let out = window.output_position(index);
    let codes = |&cell: &usize| {
        let cell = window.kernel_position(cell);
        let activation = dots.activation(out, cell).map_or(0, |at| activations[at]);
        [activation, weights[dots.weight(out, cell)]].map(|code| code as u32)
    };
    layer.order.iter().map(codes).collect()
}
