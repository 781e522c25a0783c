//! Sums of every dot product of a layer, for analyses of their distribution.

use guardbit_hwmodels::MacLayer;
use rayon::prelude::*;

use crate::codes::Codes;
use crate::dot::{DotEngine, DotOutcome};
use crate::reads::{LayerCodes, Reads};
use crate::reference::{LevelSums, ReferenceEngine};

/// Delivered and exact sum of a dot product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DotSum {
    /// Exact sum at unit 1, including a preloaded bias.
    pub exact: i128,
    /// Sum that the last level delivers, in the unit at the end of the datapath.
    pub delivered: i128,
    /// Number of overflow events at all levels.
    pub events: u64,
}

/// Returns, per output in the order of the output tensor, the sums of each level with unlimited widths on
/// these activations. Prefixes, final sums, shifts and roundings are those of the statistics. `sample` only
/// matters for random rounding.
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

/// Returns, per output in the order of the output tensor, the exact and the delivered sum on these
/// activations. A stage that traps does not stop the computation: its value stays exact, as under `observe`.
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
