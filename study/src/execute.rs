//! Runs programs over all samples, batch by batch.

use std::time::{Duration, Instant};

use guardbit_hwmodels::Program;
use guardbit_reports::Verdict;
use guardbit_sim::{Batch, BatchTensors, FloatStats, Keep, LayerStats, Mode, Options, Settled, SimError};

use crate::score::Scorer;
use crate::subject::Subject;
use crate::{Progress, StudyError, registers};

/// Samples per batch: usual number, and maximum for very small networks. The first batch is a single sample,
/// which mostly contains all events that are listed.
const BATCH: usize = 32;
const LONG_BATCH: usize = 256;
/// Products per batch of one program.
const BATCH_PRODUCTS: usize = 1 << 30;
/// Minimum samples per batch if several programs run together: enough work for every thread.
const LEAST_BATCH: usize = 8;

/// Index of the sample whose time is measured: the samples before it run with cold caches.
const JUDGED: usize = 1;

/// Time limit for programs that run together, so that little is lost on interruption.
///
/// If the limit would be exceeded, only the first programs continue. Results do not depend on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub limit: Duration,
    /// Minimum number of programs that continue, however long they take: together they share work.
    pub least: usize,
}

impl Pace {
    /// Returns how many of `programs` continue, if one of `samples` samples took `time` for all of them.
    fn allowed(self, programs: usize, samples: usize, time: Duration) -> usize {
        let whole = time.as_secs_f64() * samples as f64;
        let share = self.limit.as_secs_f64() / whole.max(f64::MIN_POSITIVE);
        let allowed = (programs as f64 * share.min(1.0)) as usize;
        allowed.max(self.least.max(1)).min(programs)
    }

    /// Returns the number of programs to run next, if `programs` took `time`.
    pub fn next(self, programs: usize, time: Duration) -> usize {
        let share = self.limit.as_secs_f64() / time.as_secs_f64().max(f64::MIN_POSITIVE);
        ((programs as f64 * share) as usize).max(self.least.max(1))
    }
}

/// Results of a run.
#[derive(Debug)]
pub(crate) struct Executed {
    pub layers: Vec<Option<LayerStats>>,
    /// Statistics of layers of floating-point codes.
    pub floats: Vec<Option<FloatStats>>,
    pub verdict: Verdict,
    pub settled: Settled,
}

/// Results of programs over common samples.
pub(crate) struct ExecutedTogether {
    /// Result per program; a trapped overflow replaces all other results of its program.
    pub each: Vec<Result<Executed, SimError>>,
    /// Statistics of the hardware with accumulators that hold every sum, if they were counted. In propagated
    /// mode, the programs themselves only show sums of activations that their own overflow has changed.
    pub unlimited: Option<Vec<Option<LayerStats>>>,
}

/// Runs `program` over the samples of `subject`. `then` receives the tensors of every sample, in order.
pub(crate) fn execute(
    subject: &Subject,
    program: &Program,
    options: Options,
    progress: &dyn Progress,
    then: &mut dyn FnMut(&BatchTensors) -> Result<(), StudyError>,
) -> Result<Executed, StudyError> {
    let mut executed = Batches { subject, options, pace: None, beside: 0, progress }.run(&[program], then)?;
    Ok(executed.swap_remove(0)?)
}

/// Runs several programs that differ only in their registers. If `options` request prefixes, also returns the
/// accumulator requirements of their layers. With a `pace` it may finish only the first programs.
pub(crate) fn execute_together(
    subject: &Subject,
    programs: &[&Program],
    options: Options,
    pace: Option<Pace>,
    progress: &dyn Progress,
    then: &mut dyn FnMut(&BatchTensors) -> Result<(), StudyError>,
) -> Result<ExecutedTogether, StudyError> {
    let beside = options.mode == Mode::Propagated && options.stats.counts_prefixes();
    let unlimited = programs.first().filter(|_| beside);
    let unlimited = unlimited.map(|program| registers::unlimited(subject, program)).transpose()?;
    let all: Vec<&Program> = unlimited.iter().chain(programs.iter().copied()).collect();
    let batches = Batches { subject, options, pace, beside: usize::from(unlimited.is_some()), progress };
    let mut each = batches.run(&all, then)?;
    let unlimited = unlimited.map(|_| each.remove(0)).transpose()?.map(|executed| executed.layers);
    Ok(ExecutedTogether { each, unlimited })
}

/// Batches of samples for several programs.
struct Batches<'a> {
    subject: &'a Subject,
    options: Options,
    pace: Option<Pace>,
    /// Number of first programs that run in addition: neither shown nor dropped.
    beside: usize,
    progress: &'a dyn Progress,
}

impl Batches<'_> {
    /// Returns the number of samples per batch. Memory limits it, because each point holds its own tensors.
    fn batch(&self, programs: &[&Program]) -> usize {
        let products = programs.iter().flat_map(|program| program.mac_layers());
        let products: usize = products.map(|layer| layer.dots.window.dots() * layer.order.len()).sum();
        // Memory is the limit if there are few products.
        let codes: usize = self.subject.graph.tensors().iter().map(|tensor| tensor.ty.len()).sum();
        let most = if self.options.keep == Keep::Outputs { LONG_BATCH } else { BATCH };
        let batch = BATCH_PRODUCTS / products.saturating_add(codes.saturating_mul(4)).max(1);
        (batch.clamp(BATCH, most) / programs.len().max(1)).max(LEAST_BATCH)
    }

    fn run(
        &self,
        programs: &[&Program],
        then: &mut dyn FnMut(&BatchTensors) -> Result<(), StudyError>,
    ) -> Result<Vec<Result<Executed, SimError>>, StudyError> {
        let Self { subject, options, pace, beside, progress } = *self;
        let mut points = Batch::new(programs, options)?;
        let mut scorers: Vec<Scorer<'_>> =
            programs.iter().map(|_| Scorer::new(subject.scoring(options.mode))).collect();
        let mut samples = subject.samples.reader();
        let batch = self.batch(programs);
        let count = subject.samples.count();
        let (mut next, mut told) = (0, 0);
        let mut inputs = Vec::new();
        while next < count {
            if progress.is_cancelled() {
                return Err(StudyError::Interrupted);
            }
            let alone = next == 0 || (next == JUDGED && pace.is_some());
            let size = if alone { 1 } else { batch.min(count - next) };
            let start = Instant::now();
            samples.read_into(size, &mut inputs)?;
            let done = points.run_batch(&inputs);
            if (beside..scorers.len()).all(|program| points.stopped(program).is_some()) {
                break;
            }
            for (mut sample, inputs) in done?.into_iter().zip(&inputs) {
                for (program, (scorer, simulated)) in scorers.iter_mut().zip(&sample.simulated).enumerate() {
                    if points.stopped(program).is_none() {
                        scorer.add(inputs, &sample.exact, simulated);
                    }
                }
                sample.simulated.drain(..beside);
                sample.events.drain(..beside);
                then(&sample)?;
            }
            next += size;
            if let Some(pace) = pace.filter(|_| next == JUDGED + 1) {
                let kept = beside + pace.allowed(scorers.len() - beside, count, start.elapsed());
                points.keep_first(kept);
                scorers.truncate(kept);
            }
            // The time counts only for programs that continue; before their number is known, use the minimum.
            let going_on = match pace {
                Some(pace) if next == JUDGED && count > JUDGED => pace.least.min(scorers.len() - beside),
                _ => scorers.len() - beside,
            };
            let done = (next * going_on) as u64;
            progress.advance(done - told);
            told = done;
        }
        // If every program has trapped, the remaining samples need no work.
        progress.advance((count * (scorers.len() - beside)) as u64 - told);
        let settled: Vec<Settled> = (0..scorers.len()).map(|point| points.settled(point)).collect();
        let floats: Vec<_> = (0..scorers.len()).map(|point| points.float_stats(point)).collect();
        let parts = points.finish().into_iter().zip(scorers).zip(settled.into_iter().zip(floats));
        let executed = parts.map(|((layers, scorer), (settled, floats))| {
            layers.map(|layers| Executed {
                verdict: scorer.finish(&layers, &floats),
                settled,
                layers,
                floats,
            })
        });
        Ok(executed.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half the time for all programs lets half of them continue, but never fewer than the minimum.
    #[test]
    fn a_pace_allows_what_is_done_in_time() {
        let pace = Pace { limit: Duration::from_secs(10), least: 2 };
        let allowed = |millis| pace.allowed(18, 100, Duration::from_millis(millis));
        assert_eq!([1, 100, 200, 1000, 60_000].map(allowed), [18, 18, 9, 2, 2]);
        assert_eq!(pace.allowed(1, 100, Duration::from_secs(9)), 1);
        let next = |seconds| pace.next(4, Duration::from_secs(seconds));
        assert_eq!([5, 10, 20, 60].map(next), [8, 4, 2, 2]);
    }
}
