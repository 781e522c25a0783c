//! Cases from the samples: the first outputs, those whose sums lose most, and random ones.

use guardbit_graph::ScaledCodes;
use guardbit_hwmodels::FloatMacLayer;
use rand_pcg::Pcg64Mcg;

use super::beats::FloatDot;
use super::unit::{Block, Unit};
use crate::manifest::CaseGroup;
use crate::real::{choose, id};

/// Codes of activations and weights of one sample
/// ([`FloatOperand::scaled_codes`](guardbit_graph::FloatOperand::scaled_codes)).
pub type FloatOperands = [ScaledCodes; 2];

/// Codes of the products of a dot product, and its terms if they are scaled.
type Products = (Vec<[u32; 2]>, Vec<Block>);

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
    let products =
        |index: usize| products(layer, unit, &inputs[index / window.dots()], index % window.dots());
    let worst = || {
        // An odd step visits all channels.
        let step = all.div_ceil(SEARCHED).max(1) | 1;
        let loss = |index: usize| {
            let (products, blocks) = products(index);
            let parts = unit.additions(&products, &blocks).into_iter().flatten();
            let terms: Vec<_> = parts.flat_map(|part| unit.terms_of(part)).collect();
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
        let (products, blocks) = products(index);
        FloatDot {
            id: id(class, number),
            group: CaseGroup::Real,
            class: class.into(),
            place: Some([index / window.dots(), out.n, out.h, out.w, out.c]),
            products,
            blocks,
            bubble: None,
            is_cut: false,
        }
    };
    cases.map(dot).collect()
}

/// Returns the codes of a dot product in the order of addition. Padding is a zero, and its scale 1.
fn products(
    layer: &FloatMacLayer,
    unit: &Unit,
    [activations, weights]: &FloatOperands,
    index: usize,
) -> Products {
    let (dots, window) = (&layer.dots, &layer.dots.window);
    let out = window.output_position(index);
    let [one_a, one_w] = unit.ones();
    let both = |&cell: &usize| {
        let cell = window.kernel_position(cell);
        let (at, weight) = (dots.activation(out, cell), dots.weight(out, cell));
        let activation = at.map_or(0, |at| activations.codes[at]);
        let codes = [activation, weights.codes[weight]].map(|code| code as u32);
        let scale =
            |operand: &ScaledCodes, at: usize| operand.scales.as_ref().map(|scales| scales[at] as u32);
        let scales = [
            at.and_then(|at| scale(activations, at)).unwrap_or(one_a),
            scale(weights, weight).unwrap_or(one_w),
        ];
        (codes, scales)
    };
    let (products, scales): (Vec<_>, Vec<_>) = layer.order.iter().map(both).unzip();
    let counts = match (unit.scales, &layer.groups) {
        (None, _) => Vec::new(),
        (Some(_), Some(groups)) => groups.clone(),
        (Some(_), None) => vec![1; products.len()],
    };
    let mut first = 0;
    let block = |count: usize| {
        // The products of a group share their scales.
        let block = Block { count, scales: scales[first] };
        first += count;
        block
    };
    let blocks = counts.into_iter().map(block).collect();
    (products, blocks)
}
