//! The sums of every dot product of a layer: for those who look at their distribution.

use guardbit_hwmodels::MacLayer;
use rayon::prelude::*;

use crate::codes::Codes;
use crate::dot::{DotEngine, DotOutcome};
use crate::reads::{LayerCodes, Reads};
use crate::reference::{LevelSums, ReferenceEngine};

/// What a dot product delivers, beside what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DotSum {
    /// The exact sum at unit 1, a preloaded bias included.
    pub exact: i128,
    /// What the last level delivers, in the unit of the datapath's end.
    pub delivered: i128,
    /// Overflow events at all levels.
    pub events: u64,
}

/// Per output, in the order of the output tensor, what each level adds up with unlimited widths on these activations:
/// prefixes, final sums, shifts and roundings as in the statistics. `sample` matters to random roundings alone.
///
/// Runs on all threads.
pub fn unbounded_sums<'a>(
    layer: &MacLayer,
    reads: impl Into<Reads<'a, Codes>>,
    sample: usize,
) -> Vec<Vec<LevelSums>> {
    let codes = LayerCodes::from(reads.into());
    let window = &layer.dots.window;
    let one =
        |index| ReferenceEngine::new(layer, codes.reads(), sample).unbounded(window.output_position(index));
    (0..window.dots()).into_par_iter().map(one).collect()
}

/// Per output, in the order of the output tensor, the exact and the delivered sum on these activations. A stage that traps
/// does not stop it: as under `observe`, the value stays exact.
///
/// Runs on all threads, on the reference engine.
pub fn delivered_sums<'a>(
    layer: &MacLayer,
    reads: impl Into<Reads<'a, Codes>>,
    sample: usize,
) -> Vec<DotSum> {
    let codes = LayerCodes::from(reads.into());
    let window = &layer.dots.window;
    let shift = layer.datapath.unit_shift(layer.datapath.levels.len());
    let one = |outcome: &mut DotOutcome, index| {
        ReferenceEngine::new(layer, codes.reads(), sample).run(window.output_position(index), outcome);
        let delivered = outcome.delivered;
        let events = outcome.levels.iter().map(|level| level.events_high + level.events_low).sum();
        DotSum { exact: (delivered << shift) - outcome.error, delivered, events }
    };
    (0..window.dots()).into_par_iter().map_init(DotOutcome::default, one).collect()
}
