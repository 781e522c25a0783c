//! A network over batches of samples.

use guardbit_hwmodels::Program;

use crate::batch::{Batch, BatchTensors};
use crate::codes::{Codes, ToCodes};
use crate::error::SimError;
use crate::fast::Settled;
use crate::options::Options;
use crate::stats::{EventCounts, LayerStats};

/// A running simulation: feed it samples, then take the statistics.
#[derive(Debug)]
pub struct Simulation<'p>(Batch<'p>);

/// Codes of one sample's tensors, by tensor index; `None` for what was not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SampleTensors {
    /// Of the exact network.
    pub exact: Vec<Option<Codes>>,
    /// Of the narrow hardware. In isolated mode each tensor is what its own layer made from exact inputs.
    pub simulated: Vec<Option<Codes>>,
    /// The events of every accelerated layer in order of execution; empty unless they are asked for.
    pub events: Vec<EventCounts>,
}

impl<'p> Simulation<'p> {
    /// A simulation of `program` with nothing run yet.
    pub fn new(program: &'p Program, options: Options) -> Self {
        Self(Batch::of_one(program, options))
    }

    /// Runs a batch. `samples` holds, per sample, the codes of every graph input in order.
    ///
    /// Which samples share a batch makes no difference to any result. Samples of a network with states are steps of one stream,
    /// which goes on from batch to batch.
    ///
    /// # Errors
    /// [`SimError`] if a sample does not fit the graph, or an overflow is trapped.
    pub fn run_batch<C: ToCodes>(&mut self, samples: &[Vec<C>]) -> Result<Vec<SampleTensors>, SimError> {
        let batch = self.0.run_batch(samples)?;
        let only = |sample: BatchTensors| {
            let BatchTensors { exact, mut simulated, mut events } = sample;
            let (simulated, events) = (simulated.pop().unwrap_or_default(), events.pop().unwrap_or_default());
            SampleTensors { exact, simulated, events }
        };
        Ok(batch.into_iter().map(only).collect())
    }

    /// Samples run so far.
    pub fn samples(&self) -> usize {
        self.0.samples()
    }

    /// How many dot products the fast engine settled in which way, so far.
    ///
    /// The same for any thread count; instructions and `stats` makes a difference.
    pub fn settled(&self) -> Settled {
        self.0.settled(0)
    }

    /// The statistics per node; `None` for what the host runs.
    pub fn finish(self) -> Vec<Option<LayerStats>> {
        // A trap has been said by the batch in which it happened.
        self.0.finish().pop().and_then(Result::ok).unwrap_or_default()
    }
}
