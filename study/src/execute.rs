//! Running a program over all samples, batch by batch.

use guardbit_graph::{Graph, TensorId};
use guardbit_hwmodels::Program;
use guardbit_reports::Outcome;
use guardbit_sim::{Keep, LayerStats, Options, SampleTensors, Settled, Simulation};

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
    pub tensors: Vec<KeptTensor>,
}

/// The codes of one tensor for every sample.
#[derive(Debug)]
pub(crate) struct KeptTensor {
    pub id: TensorId,
    pub exact: Vec<i32>,
    pub simulated: Vec<i32>,
}

/// Runs `program` over the samples of `subject`.
pub(crate) fn execute(
    subject: &Subject,
    program: &Program,
    options: Options,
    progress: &dyn Progress,
) -> Result<Executed, StudyError> {
    let mut simulation = Simulation::new(program, options);
    let mut score = Score::new(&subject.graph, &subject.outputs, subject.labels.as_deref(), options.mode);
    let mut tensors = kept_tensors(&subject.graph, options.keep);
    let mut next = 0;
    while next < subject.samples.count() {
        let size = if next == 0 { 1 } else { BATCH.min(subject.samples.count() - next) };
        let batch: Vec<_> = (next..next + size).map(|sample| subject.samples.get(sample)).collect();
        for sample in simulation.run_batch(&batch)? {
            score.add(&sample);
            tensors.iter_mut().for_each(|tensor| tensor.add(&sample));
        }
        next += size;
        progress.advance(size as u64);
    }
    let settled = simulation.settled();
    let layers = simulation.finish();
    Ok(Executed { outcome: score.outcome(&layers), settled, layers, tensors })
}

fn kept_tensors(graph: &Graph, keep: Keep) -> Vec<KeptTensor> {
    let new = |id| KeptTensor { id, exact: Vec::new(), simulated: Vec::new() };
    let mut ids: Vec<TensorId> = match keep {
        Keep::Outputs => graph.outputs().to_vec(),
        Keep::All => {
            let made = graph.nodes().iter().map(|node| node.output);
            graph.inputs().iter().copied().chain(made).collect()
        }
    };
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(new).collect()
}

impl KeptTensor {
    fn add(&mut self, sample: &SampleTensors) {
        for (kept, run) in [(&mut self.exact, &sample.exact), (&mut self.simulated, &sample.simulated)] {
            if let Some(codes) = &run[self.id.index()] {
                kept.extend_from_slice(codes);
            }
        }
    }
}
