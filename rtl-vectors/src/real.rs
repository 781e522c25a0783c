//! Cases from the layer's real activations: the first outputs, those with the largest sums on the way, random ones.

use guardbit_hwmodels::MacLayer;
use guardbit_sim::trace::operands;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

use crate::beats::Dot;
use crate::contract::one_channel;

/// Dot products that are looked at for the worst ones.
const SEARCHED: usize = 8192;

/// At most `count` dot products of `layer` over `inputs`, the codes that it reads, one vector per sample.
pub(crate) fn real(layer: &MacLayer, inputs: &[Vec<i32>], count: usize, random: &mut Pcg64Mcg) -> Vec<Dot> {
    let all = layer.dots.window.dots() * inputs.len();
    let count = count.min(all);
    let mut chosen: Vec<(usize, &str)> = (0..count.div_ceil(4)).map(|index| (index, "first")).collect();
    chosen.extend(worst(layer, inputs, count / 2).into_iter().map(|index| (index, "worst")));
    while chosen.len() < count {
        chosen.push((((u128::from(random.next_u64()) * all as u128) >> 64) as usize, "random"));
    }
    chosen.truncate(count);
    chosen
        .into_iter()
        .enumerate()
        .map(|(number, (index, class))| dot(layer, inputs, number, index, class))
        .collect()
}

fn dot(layer: &MacLayer, inputs: &[Vec<i32>], number: usize, index: usize, class: &str) -> Dot {
    let window = &layer.dots.window;
    let (sample, out) = (index / window.dots(), window.output_position(index % window.dots()));
    Dot {
        id: format!("{class}_{number}"),
        group: "real",
        class: class.into(),
        place: Some([sample, out.n, out.h, out.w, out.c]),
        layer: one_channel(layer, out.c, None),
        operands: operands(layer, &inputs[sample], out),
        bubble_every: None,
        cut_after: None,
    }
}

/// Those with the largest prefix of exact products, out of evenly spread ones; the largest first.
fn worst(layer: &MacLayer, inputs: &[Vec<i32>], count: usize) -> Vec<usize> {
    let all = layer.dots.window.dots() * inputs.len();
    // An odd step walks all channels.
    let step = all.div_ceil(SEARCHED).max(1) | 1;
    let window = &layer.dots.window;
    let peak = |index: usize| {
        let mut sum = 0i128;
        let products =
            operands(layer, &inputs[index / window.dots()], window.output_position(index % window.dots()));
        products
            .iter()
            .map(|o| {
                sum += o.activation * o.weight;
                sum.abs()
            })
            .max()
            .unwrap_or(0)
    };
    let mut peaks: Vec<(i128, usize)> = (0..all).step_by(step).map(|index| (-peak(index), index)).collect();
    peaks.sort_unstable();
    peaks.into_iter().take(count).map(|(_, index)| index).collect()
}
