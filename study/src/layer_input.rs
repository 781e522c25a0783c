//! Inputs of one layer of a network, sample by sample.

use guardbit_graph::{LookupError, NodeId, ScaledCodes, TensorId};
use guardbit_hwmodels::Program;
use guardbit_sim::{Keep, LayerCodes, Mode, Options, Reads, Simulation, StatsLevel};

use crate::registers::observing_traps;
use crate::settings::RunRequest;
use crate::subject::{HwId, Subject};
use crate::{Progress, StudyError};

/// Layer with the codes that it reads.
#[derive(Debug, Clone)]
pub struct LayerInput {
    /// The network on the accelerator.
    pub program: Program,
    /// Node of the layer.
    pub node: NodeId,
    /// Codes that the layer reads, per sample; empty for a layer of floating-point codes.
    pub inputs: Vec<LayerCodes>,
    /// Codes of both operands of a layer of floating-point codes, per sample; empty for other layers.
    pub float_inputs: Vec<[ScaledCodes; 2]>,
    /// File name of the network and the SHA-256 of the graph with its weights, as in
    /// [`Identity`](crate::Identity).
    pub model: [String; 2],
    /// Name of the accelerator and the SHA-256 of its resolved form, as in [`Identity`](crate::Identity).
    pub accelerator: [String; 2],
    /// Origin of the samples, in words.
    pub origin: String,
}

/// Runs `request` as far as needed to get the codes that the layer `name_or_index` reads.
///
/// Trapping stages do not stop the run: they act as under `observe`. The returned program keeps the traps.
///
/// # Errors
/// [`StudyError`] if the network does not load or run, or has no such layer on the accelerator.
pub fn layer_input(
    request: &RunRequest,
    name_or_index: &str,
    progress: &dyn Progress,
) -> Result<LayerInput, StudyError> {
    let settings = &request.settings;
    let accelerator = guardbit_hwmodels::load(&request.hw, &settings.sets)?;
    let subject = Subject::load(&request.model, settings)?;
    subject.input.note_doubts(progress);
    let program = subject.lower(&accelerator)?;
    let node = on_accelerator(&program, name_or_index)?;
    let float = program.float_layers().find(|layer| layer.node == node);
    let options =
        Options { mode: settings.mode, stats: StatsLevel::None, keep: Keep::All, ..Options::default() };
    let observing = observing_traps(&program);
    let mut simulation = Simulation::new(&observing, options);
    let (mut inputs, mut float_inputs) = (Vec::new(), Vec::new());
    progress
        .start(&format!("{} on {}", subject.model.file, accelerator.name), subject.samples.count() as u64);
    let mut samples = subject.samples.reader();
    for _ in 0..subject.samples.count() {
        for tensors in simulation.run_batch(&samples.read(1)?)? {
            let run = match settings.mode {
                Mode::Propagated => &tensors.simulated,
                Mode::Isolated => &tensors.exact,
            };
            let codes = program.mac_layer(node).and_then(|layer| Reads::of(&program, layer, run));
            inputs.extend(codes.map(LayerCodes::from));
            float_inputs.extend(float.map(|layer| {
                let read =
                    |id: TensorId| run[id.index()].as_ref().map_or_else(Vec::new, |codes| codes.to_vec());
                [&layer.dots.activations, &layer.dots.weights]
                    .map(|operand| operand.scaled_codes(&program.graph, read))
            }));
        }
        progress.advance(1);
    }
    drop(simulation);
    let hw = HwId::of(&accelerator);
    Ok(LayerInput {
        node,
        inputs,
        float_inputs,
        model: [subject.model.file.clone(), subject.model.sha256.to_string()],
        accelerator: [hw.name, hw.sha256.to_string()],
        origin: subject.input.describe(),
        program,
    })
}

/// Returns the layer with that name or index, of integer or floating-point codes, if the accelerator runs it.
fn on_accelerator(program: &Program, name_or_index: &str) -> Result<NodeId, StudyError> {
    match program.graph.find_node(name_or_index) {
        Ok(node) if program.float_layers().any(|layer| layer.node == node) => Ok(node),
        _ => accelerated(program, name_or_index),
    }
}

/// Returns the layer of integer codes with that name or index, if the accelerator runs it.
pub(crate) fn accelerated(program: &Program, name_or_index: &str) -> Result<NodeId, StudyError> {
    let graph = &program.graph;
    let short = |node| graph.short_name(node).to_owned();
    match graph.find_node(name_or_index) {
        Ok(node) if program.mac_layer(node).is_some() => Ok(node),
        Err(LookupError::Ambiguous { by_name, by_index }) => Err(StudyError::AmbiguousLayer {
            layer: name_or_index.into(),
            by_name: short(by_name),
            by_index: short(by_index),
        }),
        Ok(node) if program.float_layers().any(|layer| layer.node == node) => {
            Err(StudyError::FloatLayer { layer: name_or_index.into(), hw: program.accelerator.name.clone() })
        }
        Ok(node) => Err(StudyError::HostLayer {
            layer: name_or_index.into(),
            op: graph.node(node).op.name(),
            hw: program.accelerator.name.clone(),
        }),
        Err(LookupError::Unknown) => {
            let is_layer = |node| program.timed_layers().any(|layer| layer.node == node);
            let near = graph.near_nodes(name_or_index, is_layer);
            Err(StudyError::UnknownLayer {
                layer: name_or_index.into(),
                near: near.into_iter().map(|node| (node.index(), short(node))).collect(),
            })
        }
    }
}
