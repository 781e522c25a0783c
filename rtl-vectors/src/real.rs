//! Cases from the layer's real activations: the first outputs, those with the largest intermediate sums, and
//! random ones.

use std::collections::HashSet;

use guardbit_hwmodels::MacLayer;
use guardbit_sim::Reads;
use guardbit_sim::trace::operands;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

use crate::arithmetic::one_channel;
use crate::beats::Dot;
use crate::manifest::CaseGroup;

/// Class of the first cases.
pub(crate) const FIRST: &str = "first";
/// Class of the cases with the largest intermediate sums.
pub(crate) const WORST: &str = "worst";
/// Class of the cases chosen by one random number each.
pub(crate) const RANDOM: &str = "random";
/// All classes.
pub(crate) const CLASSES: [&str; 3] = [FIRST, WORST, RANDOM];

/// Number of dot products that are searched for the worst ones.
const SEARCHED: usize = 8192;

/// Returns at most `count` dot products of `layer` over `inputs`, which holds the codes that it reads, sample
/// by sample. No output occurs twice; if there are at most `count` outputs, all of them are returned.
pub(crate) fn real(
    layer: &MacLayer,
    inputs: &[Reads<'_, [i32]>],
    count: usize,
    random: &mut Pcg64Mcg,
) -> Vec<Dot> {
    let all = layer.dots.window.dots() * inputs.len();
    let cases = choose(all, count, random, || worst(layer, inputs)).into_iter().enumerate();
    cases.map(|(number, (index, class))| dot(layer, inputs, number, index, class)).collect()
}

/// Returns at most `count` of `all` outputs with their classes: the first ones, those that `worst` lists first, and random
/// ones.
pub(crate) fn choose(
    all: usize,
    count: usize,
    random: &mut Pcg64Mcg,
    worst: impl FnOnce() -> Vec<usize>,
) -> Vec<(usize, &'static str)> {
    let count = count.min(all);
    let mut chosen = Chosen::default();
    for index in 0..count.div_ceil(4) {
        chosen.add(index, FIRST);
    }
    let worst_to = chosen.order.len() + count / 2;
    for index in worst() {
        if chosen.order.len() == worst_to.min(count) {
            break;
        }
        chosen.add(index, WORST);
    }
    while chosen.order.len() < count {
        let from = ((u128::from(random.next_u64()) * all as u128) >> 64) as usize;
        // Take the next output that is not chosen yet.
        let index = (from..all).chain(0..from).find(|index| !chosen.known.contains(index));
        chosen.add(index.unwrap_or(from), RANDOM);
    }
    chosen.order
}

/// Outputs in the order of their cases, each once.
#[derive(Default)]
struct Chosen {
    order: Vec<(usize, &'static str)>,
    known: HashSet<usize>,
}

impl Chosen {
    fn add(&mut self, index: usize, class: &'static str) {
        if self.known.insert(index) {
            self.order.push((index, class));
        }
    }
}

/// Returns the identifier of a case; `number` counts the cases of its class.
pub(crate) fn id(class: &str, number: usize) -> String {
    format!("{class}_{number}")
}

fn dot(layer: &MacLayer, inputs: &[Reads<'_, [i32]>], number: usize, index: usize, class: &str) -> Dot {
    let window = &layer.dots.window;
    let (sample, out) = (index / window.dots(), window.output_position(index % window.dots()));
    Dot {
        id: id(class, number),
        group: CaseGroup::Real,
        class: class.into(),
        place: Some([sample, out.n, out.h, out.w, out.c]),
        layer: one_channel(layer, out.c, None),
        operands: operands(layer, inputs[sample], out),
        bubble_every: None,
        cut_after: None,
    }
}

/// Returns evenly spaced outputs sorted by their largest prefix of exact products, the largest first.
fn worst(layer: &MacLayer, inputs: &[Reads<'_, [i32]>]) -> Vec<usize> {
    let all = layer.dots.window.dots() * inputs.len();
    // An odd step visits all channels.
    let step = all.div_ceil(SEARCHED).max(1) | 1;
    let window = &layer.dots.window;
    let peak = |index: usize| {
        let mut sum = 0i128;
        let products =
            operands(layer, inputs[index / window.dots()], window.output_position(index % window.dots()));
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
    peaks.into_iter().map(|(_, index)| index).collect()
}
