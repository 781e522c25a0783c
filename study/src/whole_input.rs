//! Tensors of one sample, for images of whole layers.

use guardbit_graph::NodeId;
use guardbit_hwmodels::Program;
use guardbit_sim::{Codes, Keep, Mode, Options, Simulation, StatsLevel};

use crate::arguments::Misuse;
use crate::layer_input::accelerated;
use crate::registers::observing_traps;
use crate::settings::RunRequest;
use crate::subject::{HwId, Subject};
use crate::{Progress, StudyError};

/// Network with all tensors of one sample.
#[derive(Debug, Clone)]
pub struct WholeInput {
    /// The network on the accelerator.
    pub program: Program,
    /// Node of the chosen layer; `None` for all layers.
    pub node: Option<NodeId>,
    /// Codes of the sample on this accelerator, by tensor index.
    pub tensors: Vec<Option<Vec<i32>>>,
    /// File name of the network and the SHA-256 of the graph with its weights.
    pub model: [String; 2],
    /// Name of the accelerator and the SHA-256 of its resolved form.
    pub accelerator: [String; 2],
    /// Origin of the samples, in words.
    pub origin: String,
}

/// Runs sample `sample` of `request`. `layer` is the name or index of a layer, or `all`.
///
/// Trapping stages do not stop the run: they act as under `observe`. The returned program keeps the traps.
///
/// # Errors
/// [`StudyError`] if the network does not load or run, has no such layer on the accelerator, or there is no such sample.
pub fn whole_input(
    request: &RunRequest,
    layer: &str,
    sample: usize,
    progress: &dyn Progress,
) -> Result<WholeInput, StudyError> {
    let settings = &request.settings;
    let accelerator = guardbit_hwmodels::load(&request.hw, &settings.sets)?;
    let subject = Subject::load(&request.model, settings)?;
    subject.input.note_doubts(progress);
    let count = subject.samples.count();
    if sample >= count {
        let problem = format!("{sample}: there are {count} samples, counted from 0");
        return Err(Misuse::value("sample", problem).into());
    }
    let program = subject.lower(&accelerator)?;
    let node = if layer == "all" { None } else { Some(accelerated(&program, layer)?) };
    let options =
        Options { mode: Mode::Propagated, stats: StatsLevel::None, keep: Keep::All, ..Options::default() };
    let observing = observing_traps(&program);
    let mut simulation = Simulation::new(&observing, options);
    progress.start(&format!("{} on {}", subject.model.file, accelerator.name), sample as u64 + 1);
    let mut samples = subject.samples.reader();
    let mut tensors = Vec::new();
    for index in 0..=sample {
        let read = samples.read(1)?;
        // Only the state of a stream depends on earlier samples.
        if index == sample || !program.graph.states().is_empty() {
            tensors = simulation.run_batch(&read)?.pop().map(|tensors| tensors.simulated).unwrap_or_default();
        }
        progress.advance(1);
    }
    drop(simulation);
    let hw = HwId::of(&accelerator);
    Ok(WholeInput {
        node,
        tensors: tensors.iter().map(|codes| codes.as_ref().map(Codes::to_vec)).collect(),
        model: [subject.model.file.clone(), subject.model.sha256.to_string()],
        accelerator: [hw.name, hw.sha256.to_string()],
        origin: subject.input.describe(),
        program,
    })
}
