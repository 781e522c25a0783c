//! Counts of a program, collected in parts.

use guardbit_hwmodels::{Program, Step};

use crate::accumulate::Accumulate;
use crate::aligned::FloatStats;
use crate::error::SimError;
use crate::fast::{LayerCounts, Prepared, Settled};
use crate::options::Options;
use crate::stats::LayerStats;

/// Counts of one program over some samples.
#[derive(Debug)]
pub(crate) struct Counts {
    /// Counts per node; `None` for nodes that the host runs.
    pub layers: Vec<Option<LayerCounts>>,
    /// Statistics per node of the layers of floating-point codes.
    pub floats: Vec<Option<FloatStats>>,
    /// First error that stopped the program, and the sample in which it occurred.
    pub trapped: Option<(usize, SimError)>,
}

impl Counts {
    /// Returns empty counts for a program.
    pub fn new(program: &Program, prepared: &[Prepared<'_>], options: &Options) -> Self {
        let of_step = |(step, prepared): (&Step, &Prepared<'_>)| match step {
            Step::Host(_) | Step::Float(_) => None,
            Step::Mac(layer) => Some(LayerCounts::new(LayerStats::new(layer, options), prepared)),
        };
        let of_float = |step: &Step| match step {
            Step::Float(layer) => {
                Some(FloatStats::new(options.stats.counts_prefixes(), &layer.accumulation.dot()))
            }
            Step::Host(_) | Step::Mac(_) => None,
        };
        Self {
            layers: program.steps.iter().zip(prepared).map(of_step).collect(),
            floats: program.steps.iter().map(of_float).collect(),
            trapped: None,
        }
    }

    /// Returns empty counts of equal shape, for any samples.
    pub fn empty(&self, prepared: &[Prepared<'_>]) -> Self {
        let empty = |(layer, prepared): (&Option<LayerCounts>, &Prepared<'_>)| {
            layer.as_ref().map(|layer| layer.empty(prepared, 0))
        };
        Self {
            layers: self.layers.iter().zip(prepared).map(empty).collect(),
            floats: self.floats.empty(),
            trapped: None,
        }
    }

    /// Adds the counts of another part, which must have been flushed.
    pub fn merge(&mut self, other: Self) {
        for (mine, others) in self.layers.iter_mut().zip(other.layers) {
            if let (Some(mine), Some(others)) = (mine, others) {
                mine.merge(others);
            }
        }
        self.floats.merge(other.floats);
        self.trapped = earlier(self.trapped.take(), other.trapped);
    }

    /// Takes over the error that stopped another part. That part keeps its counts.
    pub fn take_trap(&mut self, other: &Self) {
        self.trapped = earlier(self.trapped.take(), other.trapped.clone());
    }

    /// Moves all counts to the statistics.
    pub fn flush(&mut self, prepared: &[Prepared<'_>], options: &Options) {
        for (layer, prepared) in self.layers.iter_mut().zip(prepared) {
            if let Some(layer) = layer {
                layer.flush(prepared, options);
            }
        }
    }

    /// Returns how dot products were settled.
    pub fn settled(&self) -> Settled {
        let mut settled = Settled::default();
        self.layers.iter().flatten().for_each(|layer| settled.merge(layer.settled));
        settled
    }

    /// Returns the statistics per node, or the error that stopped the program.
    pub fn finish(self) -> Result<Vec<Option<LayerStats>>, SimError> {
        if let Some((_, error)) = self.trapped {
            return Err(error);
        }
        let finish = |layer: LayerCounts| {
            let mut stats = layer.stats;
            stats.finish();
            stats
        };
        Ok(self.layers.into_iter().map(|layer| layer.map(finish)).collect())
    }
}

/// Returns the trap in the earlier sample.
fn earlier(a: Option<(usize, SimError)>, b: Option<(usize, SimError)>) -> Option<(usize, SimError)> {
    a.into_iter().chain(b).min_by_key(|&(sample, _)| sample)
}
