//! Corner cases: sums at and around every rail on every path, and situations in which flow control, bias
//! adders and requantizers often fail.
//!
//! A path that the layer's terms and operand ranges cannot take is left out; the coverage table lists such
//! paths. Biases and multipliers are chosen case by case, so that a change of the sum by one unit changes the
//! output code.

mod climb;
mod exactly;
mod output;
mod paths;
mod rare;
mod search;
mod unit;
mod unshown;
mod visible;

pub(crate) use search::search;
pub(crate) use unshown::unshown;

use std::cell::OnceCell;
use std::collections::BTreeMap;

use guardbit_hwmodels::MacLayer;
use guardbit_hwmodels::bounds::Range;
use guardbit_num::Multiplier;
use guardbit_sim::trace::TraceOperand;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::arithmetic::one_channel;
use crate::beats::{self, Dot};
use crate::coverage::Aim;
use crate::manifest::{Arithmetic, CaseGroup};
use crate::reach::{Bits, Reach, rails};
use crate::solve::Ranges;

/// Greatest number of products of a generated dot product: enough for any path, and short enough for a slow
/// simulator.
const MAX_TERMS: usize = 1024;

/// Returns the corner cases of `layer`.
pub(crate) fn corners(layer: &MacLayer, arithmetic: &Arithmetic) -> Vec<Dot> {
    let mut maker = Maker::new(layer, arithmetic);
    for (level, info) in arithmetic.levels.iter().enumerate() {
        if let (Some(min), Some(max)) = (info.min, info.max) {
            maker.level(level, &info.name, min.into(), max.into());
            maker.widths(level, info, min.into(), max.into());
        }
    }
    maker.product(arithmetic);
    maker.operands();
    maker.bounds();
    maker.flow();
    maker.requantize(arithmetic.requantize.exp_max);
    maker.requantize_float(arithmetic);
    maker.exponents(arithmetic);
    maker.post_bias(arithmetic);
    maker.opposite_signs(arithmetic);
    maker.preload(arithmetic);
    maker.dots
}

/// Returns operands that take `level` of `layer` through `steps`, in the level's unit, with as few products
/// per step as possible. Returns `None` if no operands of the layer do.
pub(crate) fn walk(
    layer: &MacLayer,
    arithmetic: &Arithmetic,
    level: usize,
    steps: &[i128],
) -> Option<Vec<TraceOperand>> {
    let maker = Maker::new(layer, arithmetic);
    maker.walk(level, steps).filter(|operands| operands.iter().all(|&operand| maker.ranges.allows(operand)))
}

/// Returns operands that give `level` of `layer` a result within `range`, found by a search; `None` if it finds none.
pub(crate) fn result(
    layer: &MacLayer,
    arithmetic: &Arithmetic,
    level: usize,
    range: Range,
) -> Option<Vec<TraceOperand>> {
    let maker = Maker::new(layer, arithmetic);
    let reach = Reach::new(arithmetic, layer.order.len()).levels[level].result;
    if range.max.min(reach.max) < range.min.max(reach.min) {
        return None;
    }
    let aim = Aim::of_result(arithmetic, maker.lanes, level, range);
    // Without a bias, which an array adds elsewhere.
    maker.climb(&aim, None, &mut Pcg64Mcg::seed_from_u64(3)).map(|(operands, _)| operands)
}

/// Returns random operands of a dot product of `layer`, often such that take sums as far as they can go.
pub(crate) fn random(layer: &MacLayer, arithmetic: &Arithmetic, random: &mut Pcg64Mcg) -> Vec<TraceOperand> {
    let maker = Maker::new(layer, arithmetic);
    match random.next_u64() % 2 {
        0 => maker.random(random),
        _ => maker.alternating(random),
    }
}

/// Returns dot products of one product at or next to a rail of the multiplier's register.
pub(crate) fn at_product_rails(layer: &MacLayer, arithmetic: &Arithmetic) -> Vec<Vec<TraceOperand>> {
    let maker = Maker::new(layer, arithmetic);
    let rails = rails(&arithmetic.product).map(|rails| [rails.min, rails.max]);
    let values = rails.into_iter().flatten().flat_map(|rail| [rail, rail - 1, rail + 1]);
    values.filter_map(|value| maker.ranges.product(value)).map(|operand| vec![operand]).collect()
}

/// Values that the multiplier hands over, with operands of each, and the sums of 1, 2 and more of them.
struct Sums {
    values: BTreeMap<i128, TraceOperand>,
    sums: Vec<Bits>,
}

struct Maker<'a> {
    layer: &'a MacLayer,
    ranges: Ranges,
    terms: usize,
    lanes: usize,
    dots: Vec<Dot>,
    /// Sums of few products, once they are needed; `None` if there are too many.
    sums: OnceCell<Option<Sums>>,
}

/// Bias and multiplier that follow a delivered sum.
#[derive(Debug, Clone, Copy)]
enum Output {
    /// Bias of the layer, and a multiplier for which a change of the sum by one unit changes the code.
    Visible,
    /// Given multiplier and bias at unit 1.
    Scaled(Multiplier, i128),
    /// Given bias at unit 1.
    Biased(i128),
    /// Bias and multiplier of a channel.
    Channel(usize),
}

impl<'a> Maker<'a> {
    fn new(layer: &'a MacLayer, arithmetic: &Arithmetic) -> Self {
        Self {
            layer,
            ranges: Ranges {
                activation: arithmetic.activation.clone(),
                weight: arithmetic.weight.clone(),
                product: layer.datapath.product,
            },
            terms: layer.order.len().min(MAX_TERMS),
            lanes: beats::lanes(&layer.datapath, layer.order.len()),
            dots: Vec::new(),
            sums: OnceCell::new(),
        }
    }

    fn add(&mut self, id: String, class: &str, operands: Vec<TraceOperand>) {
        if !operands.is_empty() && operands.len() <= self.terms {
            self.push(id, class, operands, Output::Visible);
        }
    }

    /// Adds a case, unless it needs values that no operand has: bipolar codes have no 0 to fill a run with.
    fn push(&mut self, id: String, class: &str, operands: Vec<TraceOperand>, output: Output) {
        if !operands.iter().all(|&operand| self.ranges.allows(operand)) {
            return;
        }
        let mut layer = match output {
            Output::Visible | Output::Biased(_) => one_channel(self.layer, 0, None),
            Output::Scaled(multiplier, _) => one_channel(self.layer, 0, Some(multiplier)),
            Output::Channel(channel) => one_channel(self.layer, channel, None),
        };
        let bias = match output {
            Output::Biased(bias) | Output::Scaled(_, bias) => Some(bias),
            Output::Visible | Output::Channel(_) => None,
        };
        if let (Some(bias), Some(biases)) = (bias, layer.bias.as_mut()) {
            biases[0] = bias;
        }
        let number = self.dots.len();
        match output {
            Output::Visible => layer = visible::biased(self.layer, layer, &operands, number),
            Output::Biased(_) => layer = visible::scaled(layer, &operands, number),
            Output::Scaled(..) | Output::Channel(_) => {}
        }
        self.dots.push(Dot {
            id,
            group: CaseGroup::Corner,
            class: class.into(),
            place: None,
            layer,
            operands,
            bubble_every: None,
            cut_after: None,
        });
    }
}
