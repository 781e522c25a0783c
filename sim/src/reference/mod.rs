//! The reference engine: the definition of what the hardware computes.
//!
//! It computes one dot product stage by stage, in the order of the datapath: [`operands`] -> [`product`] ->
//! [`level`]s -> [`output`](crate::output). Every narrow value is accompanied by its *counterpart*: the value
//! with unlimited widths and equal shifts and roundings.

mod draws;
mod level;
mod live;
mod operands;
mod order;
mod product;
mod unbounded;

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::MacLayer;

use crate::dot::{DotEngine, DotOutcome};
use crate::output;
use crate::packing::HighLane;
use crate::reads::Reads;
use crate::trace::LevelStep;

pub(crate) use draws::{BLOCK_BITS, Draws, Stage, bits_per_draw};
pub(crate) use live::Live;
pub(crate) use operands::{Operand, read as read_operands};
pub use unbounded::LevelSums;

/// Reference engine for one layer and its inputs in one sample.
pub(crate) struct ReferenceEngine<'a> {
    layer: &'a MacLayer,
    reads: Reads<'a, [i32]>,
    sample: usize,
}

/// Value on its way through the datapath.
#[derive(Debug, Clone, Copy)]
struct Value {
    /// Value that the hardware holds.
    narrow: i128,
    /// Value with unlimited widths and equal shifts and roundings.
    counterpart: i128,
    /// Index of the last product that the value contains.
    last_k: usize,
}

impl<'a> ReferenceEngine<'a> {
    pub fn new(layer: &'a MacLayer, reads: Reads<'a, [i32]>, sample: usize) -> Self {
        Self { layer, reads, sample }
    }
}

impl ReferenceEngine<'_> {
    /// Returns the sums of each level of the dot product at `out` with unlimited widths.
    pub fn unbounded(&self, out: OutputPosition) -> Vec<LevelSums> {
        let operands = read_operands(self.layer, self.reads, out);
        unbounded::level_sums(self.layer, out.c, Draws::new(self.layer, self.sample, out), &operands)
    }
}

impl DotEngine for ReferenceEngine<'_> {
    fn run(&mut self, out: OutputPosition, outcome: &mut DotOutcome) {
        let operands = read_operands(self.layer, self.reads, out);
        let low = operands::low_lane(self.layer, self.reads.weights, out);
        let draws = Draws::new(self.layer, self.sample, out);
        run_observed(self.layer, out.c, draws, (&operands, low.as_deref()), outcome, &mut |_| ());
    }
}

/// Computes one dot product of output channel `channel`. Overwrites `outcome`, passes every step to
/// `observer` and returns the sums. If an adder is shared, `low` has the weights of the lane below.
pub(crate) fn run_observed(
    layer: &MacLayer,
    channel: usize,
    draws: Draws,
    (operands, low): (&[Operand], Option<&[i32]>),
    outcome: &mut DotOutcome,
    observer: &mut dyn FnMut(LevelStep),
) -> output::Sum {
    let datapath = &layer.datapath;
    outcome.clear(datapath.levels.len());
    let mut values = product::multiply(datapath, draws, 0, operands, outcome);

    let high = low.and_then(|low| HighLane::above(layer, low));
    let crosstalk = high.as_ref().map(|lane| lane.crosstalk(operands.iter().map(|o| o.activation as i64)));
    for (value, &carry) in values.iter_mut().zip(crosstalk.iter().flat_map(|c| &c.carries)) {
        value.narrow += i128::from(carry);
    }

    let preload = output::preload(layer, channel);
    let last = datapath.levels.len() - 1;
    for (index, level) in datapath.levels.iter().enumerate() {
        let initial = if index == last { preload } else { None };
        let packed = high.as_ref().zip(crosstalk.as_ref()).filter(|_| index == 0);
        let level = packed.map_or(level, |(lane, _)| &lane.level);
        values = level::reduce(index, level, draws, &values, initial, outcome, observer);
        if let Some((lane, crosstalk)) = packed {
            for (value, &fixup) in values.iter_mut().zip(&crosstalk.fixups) {
                value.narrow = lane.leave(value.narrow as i64, fixup).into();
            }
        }
    }
    // The last level reduces everything to one value.
    let delivered = values[0].narrow;

    let products = operands.iter().map(|o| o.activation * o.weight).sum();
    let sum = output::Sum {
        delivered,
        exact: output::exact_sum(layer, channel, products),
        activations: operands.iter().map(|o| o.activation).sum(),
        weights: operands.iter().map(|o| o.weight).sum(),
        count: operands.len(),
    };
    output::finish(layer, channel, &sum, outcome);
    sum
}
