//! The parallel engine: equal to the reference, on 64-bit integers and prepared operands.
//!
//! A layer whose sums could leave 64 bits is given to the reference engine.

mod level;
mod patch;
mod range;

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{MacLayer, Register};
use guardbit_num::Overflow;

use crate::dot::{DotEngine, DotOutcome};
use crate::error::TrapStage;
use crate::output;
use crate::packing::HighLane;
use crate::reference::ReferenceEngine;
use level::LevelRunner;
pub(crate) use patch::Patch;
use range::fits_i64;

/// The 64-bit engine over one layer and one input.
pub(crate) struct PlainEngine<'a> {
    layer: &'a MacLayer,
    patch: Patch<'a>,
    levels: LevelRunner,
    /// Values on their way through the levels.
    narrow: Vec<i64>,
    counterpart: Vec<i64>,
}

/// The engine for a layer: the 64-bit one, or the reference where 64 bits are not enough.
pub(crate) enum ParallelEngine<'a> {
    Plain(PlainEngine<'a>),
    Wide(ReferenceEngine<'a>),
}

impl<'a> ParallelEngine<'a> {
    pub fn new(layer: &'a MacLayer, input: &'a [i32]) -> Self {
        if fits_i64(layer) {
            Self::Plain(PlainEngine::new(layer, input))
        } else {
            Self::Wide(ReferenceEngine::new(layer, input))
        }
    }
}

impl DotEngine for ParallelEngine<'_> {
    fn run(&mut self, out: OutputPosition, outcome: &mut DotOutcome) {
        match self {
            Self::Plain(engine) => engine.run(out, outcome),
            Self::Wide(engine) => engine.run(out, outcome),
        }
    }
}

impl<'a> PlainEngine<'a> {
    fn new(layer: &'a MacLayer, input: &'a [i32]) -> Self {
        Self {
            layer,
            patch: Patch::new(layer, input),
            levels: LevelRunner::default(),
            narrow: Vec::new(),
            counterpart: Vec::new(),
        }
    }

    /// Fills `narrow` and `counterpart` with the products; returns their exact sum at unit 1.
    fn multiply(&mut self, weights: &[i32], outcome: &mut DotOutcome) -> i64 {
        let activations = self.patch.activations();
        let product = self.layer.datapath.product;
        let exact = activations.iter().zip(weights).map(|(&x, &w)| i64::from(x) * i64::from(w));
        self.counterpart.clear();
        self.counterpart.extend(exact);
        let sum = self.counterpart.iter().sum();
        self.narrow.clone_from(&self.counterpart);
        if let Register::Fixed { format, overflow } = product.register {
            for (k, narrow) in self.narrow.iter_mut().enumerate() {
                let fit = overflow.fit((*narrow).into(), format);
                if fit.overflow.is_some() {
                    *narrow = fit.value as i64;
                    outcome.product_events += 1;
                    if overflow == Overflow::Trap {
                        outcome.trap_at(TrapStage::Product, k);
                    }
                }
            }
        }
        if product.shift > 0 {
            let shift = |v: &mut i64| *v = product.round.shift_right((*v).into(), product.shift) as i64;
            self.narrow.iter_mut().for_each(shift);
            self.counterpart.iter_mut().for_each(shift);
        }
        sum
    }
}

impl DotEngine for PlainEngine<'_> {
    fn run(&mut self, out: OutputPosition, outcome: &mut DotOutcome) {
        let layer = self.layer;
        outcome.clear(layer.datapath.levels.len());
        self.patch.read(out);
        let weights = &layer.weights[out.c];
        let products = self.multiply(weights, outcome);

        let high = HighLane::of(layer, out.c);
        let activations = self.patch.activations().iter().map(|&x| i64::from(x));
        let crosstalk = high.as_ref().map(|lane| lane.crosstalk(activations));
        for (value, carry) in self.narrow.iter_mut().zip(crosstalk.iter().flat_map(|c| &c.carries)) {
            *value += carry;
        }

        let preload = output::preload(layer, out.c).map(|bias| bias as i64);
        let count = self.counterpart.len();
        let last = layer.datapath.levels.len() - 1;
        let mut span = 1;
        for (index, level) in layer.datapath.levels.iter().enumerate() {
            let initial = if index == last { preload } else { None };
            let place = level::Place { index, span, count, initial };
            let packed = high.as_ref().zip(crosstalk.as_ref()).filter(|_| index == 0);
            let level = packed.map_or(level, |(lane, _)| &lane.level);
            self.levels.reduce(place, level, &mut self.narrow, &mut self.counterpart, outcome);
            if let Some((lane, crosstalk)) = packed {
                for (value, &fixup) in self.narrow.iter_mut().zip(&crosstalk.fixups) {
                    *value = lane.leave(*value, fixup);
                }
            }
            span = span.saturating_mul(level.terms.run_length(count));
        }
        let sum = output::Sum {
            delivered: self.narrow[0].into(),
            exact: output::exact_sum(layer, out.c, products.into()),
            activations: self.patch.sum().into(),
            count,
        };
        output::finish(layer, out.c, &sum, outcome);
    }
}
