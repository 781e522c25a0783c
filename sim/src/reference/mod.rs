//! The reference engine: the definition of what the hardware computes.
//!
//! One dot product, stage by stage, as the data flows: [`operands`] -> [`product`] -> [`level`]s -> [`output`](crate::output).
//! Beside every narrow value travels its *counterpart*: the same shifts and roundings with unlimited widths.

mod level;
mod live;
mod operands;
mod product;

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::MacLayer;

use crate::dot::{DotEngine, DotOutcome};
use crate::output;
use crate::packing::HighLane;
use crate::trace::LevelStep;

pub(crate) use live::Live;
pub(crate) use operands::{Operand, read as read_operands};

/// The reference engine over one layer and one input.
pub(crate) struct ReferenceEngine<'a> {
    layer: &'a MacLayer,
    input: &'a [i32],
}

/// A value on its way through the datapath.
#[derive(Debug, Clone, Copy)]
struct Value {
    /// What the hardware holds.
    narrow: i128,
    /// The same with unlimited widths.
    counterpart: i128,
    /// The last product that it contains.
    last_k: usize,
}

impl<'a> ReferenceEngine<'a> {
    pub fn new(layer: &'a MacLayer, input: &'a [i32]) -> Self {
        Self { layer, input }
    }
}

impl DotEngine for ReferenceEngine<'_> {
    fn run(&mut self, out: OutputPosition, outcome: &mut DotOutcome) {
        let operands = read_operands(self.layer, self.input, out);
        run_observed(self.layer, out.c, &operands, outcome, &mut |_| ());
    }
}

/// One dot product of output channel `channel`; overwrites `outcome`, shows every step to `observer` and returns the
/// exact sum.
pub(crate) fn run_observed(
    layer: &MacLayer,
    channel: usize,
    operands: &[Operand],
    outcome: &mut DotOutcome,
    observer: &mut dyn FnMut(LevelStep),
) -> i128 {
    let datapath = &layer.datapath;
    outcome.clear(datapath.levels.len());
    let mut values = product::multiply(datapath, operands, outcome);

    let high = HighLane::of(layer, channel);
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
        values = level::reduce(index, level, &values, initial, outcome, observer);
        if let Some((lane, crosstalk)) = packed {
            for (value, &fixup) in values.iter_mut().zip(&crosstalk.fixups) {
                value.narrow = lane.leave(value.narrow as i64, fixup).into();
            }
        }
    }
    // The last level reduces everything: one value is left.
    let delivered = values[0].narrow;

    let products = operands.iter().map(|o| o.activation * o.weight).sum();
    let sum = output::Sum {
        delivered,
        exact: output::exact_sum(layer, channel, products),
        activations: operands.iter().map(|o| o.activation).sum(),
        count: operands.len(),
    };
    output::finish(layer, channel, &sum, outcome);
    sum.exact
}
