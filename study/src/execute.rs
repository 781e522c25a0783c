//! Running a program over all samples, batch by batch.

use guardbit_hwmodels::Program;
use guardbit_reports::Outcome;
use guardbit_sim::{LayerStats, Options, SampleTensors, Settled, Simulation};

use crate::score::Score;
use crate::subject::Subject;
use crate::{Progress, StudyError};

/// Samples per batch. The first batch is a single sample: mostly it holds all events that are listed.
const BATCH: usize = 32;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Executed {
    pub layers: Vec<Option<LayerStats>>,
    pub outcome: Outcome,
    pub settled: Settled,
}

/// Runs `program` over the samples of `subject`. `then` gets the tensors of every sample, in order.
pub(crate) fn execute(
    subject: &Subject,
    program: &Program,
    options: Options,
    progress: &dyn Progress,
    then: &mut dyn FnMut(&SampleTensors) -> Result<(), StudyError>,
) -> Result<Executed, StudyError> {
    let mut simulation = Simulation::new(program, options);
    let mut score = Score::new(&subject.graph, &subject.outputs, subject.labels.as_deref(), options.mode);
    let mut samples = subject.samples.reader();
    let mut next = 0;
    while next < subject.samples.count() {
        let size = if next == 0 { 1 } else { BATCH.min(subject.samples.count() - next) };
        for sample in simulation.run_batch(&samples.read(size)?)? {
            score.add(&sample);
            then(&sample)?;
        }
        next += size;
        progress.advance(size as u64);
    }
    let settled = simulation.settled();
    let layers = simulation.finish();
    Ok(Executed { outcome: score.outcome(&layers), settled, layers })
}
