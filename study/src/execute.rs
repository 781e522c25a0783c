//! Running programs over all samples, batch by batch.

use guardbit_hwmodels::Program;
use guardbit_reports::Outcome;
use guardbit_sim::{LayerStats, Mode, Options, PointTensors, Points, Settled};

use crate::score::Score;
use crate::subject::Subject;
use crate::{Progress, StudyError, registers};

/// Samples per batch. The first batch is a single sample: mostly it holds all events that are listed.
const BATCH: usize = 32;
/// Where several programs run together: enough for every thread to have something to do.
const LEAST_BATCH: usize = 8;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Executed {
    pub layers: Vec<Option<LayerStats>>,
    pub outcome: Outcome,
    pub settled: Settled,
}

/// Programs over the same samples.
pub(crate) struct ExecutedTogether {
    pub each: Vec<Executed>,
    /// The statistics of the same hardware with accumulators that hold every sum, where they were counted beside:
    /// in propagated mode the programs themselves only show what their own overflow left of the activations.
    pub unlimited: Option<Vec<Option<LayerStats>>>,
}

/// Runs `program` over the samples of `subject`. `then` gets the tensors of every sample, in order.
pub(crate) fn execute(
    subject: &Subject,
    program: &Program,
    options: Options,
    progress: &dyn Progress,
    then: &mut dyn FnMut(&PointTensors) -> Result<(), StudyError>,
) -> Result<Executed, StudyError> {
    let mut executed = execute_points(subject, &[program], 1, options, progress, then)?;
    Ok(executed.swap_remove(0))
}

/// The same with several programs that differ in their registers alone, and with what their layers need of an
/// accumulator, if `options` ask for prefixes.
pub(crate) fn execute_together(
    subject: &Subject,
    programs: &[&Program],
    options: Options,
    progress: &dyn Progress,
    then: &mut dyn FnMut(&PointTensors) -> Result<(), StudyError>,
) -> Result<ExecutedTogether, StudyError> {
    let beside = options.mode == Mode::Propagated && options.stats.counts_prefixes();
    let unlimited = programs.first().filter(|_| beside);
    let unlimited = unlimited.map(|program| registers::unlimited(subject, program)).transpose()?;
    let all: Vec<&Program> = programs.iter().copied().chain(&unlimited).collect();
    let mut each = execute_points(subject, &all, programs.len(), options, progress, then)?;
    let unlimited = unlimited.and_then(|_| each.pop()).map(|executed| executed.layers);
    Ok(ExecutedTogether { each, unlimited })
}

/// Runs `programs`; the first `shown` of them count as progress.
fn execute_points(
    subject: &Subject,
    programs: &[&Program],
    shown: usize,
    options: Options,
    progress: &dyn Progress,
    then: &mut dyn FnMut(&PointTensors) -> Result<(), StudyError>,
) -> Result<Vec<Executed>, StudyError> {
    let mut points = Points::new(programs, options)?;
    let score = || Score::new(&subject.graph, &subject.outputs, subject.labels.as_deref(), options.mode);
    let mut scores: Vec<Score<'_>> = programs.iter().map(|_| score()).collect();
    let mut samples = subject.samples.reader();
    // Each point holds tensors of its own.
    let batch = (BATCH / programs.len().max(1)).max(LEAST_BATCH);
    let mut next = 0;
    while next < subject.samples.count() {
        let size = if next == 0 { 1 } else { batch.min(subject.samples.count() - next) };
        for sample in points.run_batch(&samples.read(size)?)? {
            for (score, simulated) in scores.iter_mut().zip(&sample.simulated) {
                score.add(&sample.exact, simulated);
            }
            then(&sample)?;
        }
        next += size;
        progress.advance((size * shown) as u64);
    }
    let settled: Vec<Settled> = (0..programs.len()).map(|point| points.settled(point)).collect();
    let executed = points
        .finish()?
        .into_iter()
        .zip(scores)
        .zip(settled)
        .map(|((layers, score), settled)| Executed { outcome: score.outcome(&layers), settled, layers });
    Ok(executed.collect())
}
