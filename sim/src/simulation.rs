//! Simulation of a network over batches of samples.

use guardbit_hwmodels::Program;

use crate::aligned::FloatStats;
use crate::batch::Batch;
use crate::codes::{Codes, ToCodes};
use crate::error::SimError;
use crate::fast::Settled;
use crate::options::Options;
use crate::stats::{EventCounts, LayerStats};
use crate::tensors::BatchTensors;

/// Running simulation. Pass it samples, then call [`finish`](Self::finish) for the statistics.
#[derive(Debug)]
pub struct Simulation<'p>(Batch<'p>);

/// Codes of one sample's tensors, by tensor index; `None` for a tensor that was not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampleTensors {
    /// Tensors of the exact network.
    pub exact: Vec<Option<Codes>>,
    /// Tensors of the narrow hardware. In isolated mode each tensor is what its own layer produced from exact
    /// inputs.
    pub simulated: Vec<Option<Codes>>,
    /// The events of every accelerated layer in order of execution; empty unless they are asked for.
    pub events: Vec<EventCounts>,
}

impl<'p> Simulation<'p> {
    /// Creates a simulation of `program`.
    pub fn new(program: &'p Program, options: Options) -> Self {
        Self(Batch::of_one(program, options))
    }

    /// Runs a batch. `samples` holds, per sample, the codes of every graph input in order.
    ///
    /// How samples are divided into batches does not affect any result. The samples of a network with states
    /// are steps of one stream, which continues from batch to batch.
    ///
    /// # Errors
    /// [`SimError`] if a sample does not match the graph, or an overflow is trapped.
    pub fn run_batch<C: ToCodes>(&mut self, samples: &[Vec<C>]) -> Result<Vec<SampleTensors>, SimError> {
        let batch = self.0.run_batch(samples)?;
        let only = |sample: BatchTensors| {
            let BatchTensors { exact, mut simulated, mut events } = sample;
            let (simulated, events) = (simulated.pop().unwrap_or_default(), events.pop().unwrap_or_default());
            SampleTensors { exact, simulated, events }
        };
        Ok(batch.into_iter().map(only).collect())
    }

    /// Returns the number of samples run so far.
    pub fn samples(&self) -> usize {
        self.0.samples()
    }

    /// Returns how the fast engine settled the dot products so far.
    ///
    /// The numbers do not depend on the number of threads, but on the instruction set and `stats`.
    pub fn settled(&self) -> Settled {
        self.0.settled(0)
    }

    /// Returns the statistics per node so far, of layers of floating-point codes; `None` for other nodes.
    pub fn float_stats(&self) -> Vec<Option<FloatStats>> {
        self.0.float_stats(0)
    }

    /// Returns the statistics per node; `None` for nodes that the host runs.
    pub fn finish(self) -> Vec<Option<LayerStats>> {
        // The batch in which a trap happened has already returned its error.
        self.0.finish().pop().and_then(Result::ok).unwrap_or_default()
    }
}
