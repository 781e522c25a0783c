//! Determines which activations stay on the chip, from the layer that produces them to the last one that
//! reads them.
//!
//! Tensors are considered in the order in which they are produced. A tensor stays if its layer is allowed to
//! keep it (`memory.residency: fit`) and if, at every node from that layer to the last one on the accelerator
//! that reads it,
//!
//! ```text
//! size of all tensors that stay there + buffer <= activation_kib
//! ```
//!
//! Here `buffer` is the part of the SRAM that the layer's tiles occupy without residency. It is 0 if the
//! layer's input stays, and for nodes on the host. Therefore no tile becomes smaller, and no tensor that
//! stays is displaced by a later one. A layer with two activations loads both from outside, so its inputs are
//! stored there.

use guardbit_graph::{Graph, NodeId, TensorId};

use crate::timing::{Outside, bits_of_kib};
use crate::{MacLayer, Program, Residency, Resident, Step};

/// SRAM of activations while a node runs, in bits.
struct Moment {
    /// Size of the SRAM.
    size: u128,
    /// Size of the activations that stay in it.
    held: u128,
    /// Size of the tiles' buffer.
    buffer: u128,
    /// Tensor that the accelerator reads.
    input: Option<TensorId>,
}

/// Selects the tensors that stay, and times again the layers that produce or read them.
pub(super) fn keep(program: &mut Program) {
    program.residents = choose(program);
    if program.residents.is_empty() {
        return;
    }
    for index in 0..program.steps.len() {
        let Step::Mac(layer) = &program.steps[index] else { continue };
        let outside = outside(program, layer);
        if outside == Outside::ALL {
            continue;
        }
        let accelerator = program.accelerator_of(layer.node);
        let timing = layer.timing.clone().within(outside, accelerator, &layer.dots.window, layer.widths);
        if let Step::Mac(layer) = &mut program.steps[index] {
            layer.timing = timing;
        }
    }
}

fn choose(program: &Program) -> Vec<Resident> {
    let mut moments: Vec<Moment> =
        program.graph.nodes_with_ids().map(|(node, _)| moment(program, node)).collect();
    let mut residents = Vec::new();
    for layer in program.mac_layers() {
        if program.accelerator_of(layer.node).memory.residency == Residency::None {
            continue;
        }
        let Some(resident) = candidate(program, layer) else { continue };
        let life = &mut moments[resident.from.index()..=resident.until.index()];
        let reads = |moment: &Moment| moment.input == Some(resident.tensor);
        let fits = |moment: &Moment| {
            let buffer = if reads(moment) { 0 } else { moment.buffer };
            moment.held.saturating_add(resident.bits).saturating_add(buffer) <= moment.size
        };
        if !life.iter().all(fits) {
            continue;
        }
        for moment in life {
            moment.held += resident.bits;
            if reads(moment) {
                moment.buffer = 0;
            }
        }
        residents.push(resident);
    }
    residents
}

fn moment(program: &Program, node: NodeId) -> Moment {
    let layer = program.mac_layer(node);
    Moment {
        size: bits_of_kib(program.accelerator_of(node).memory.activation_kib, 1),
        held: 0,
        buffer: layer.map_or(0, |layer| layer.timing.buffer),
        input: layer.and_then(|layer| activations(&program.graph, layer)),
    }
}

/// Returns the output of a layer, if a layer on the accelerator reads it.
pub(super) fn candidate(program: &Program, layer: &MacLayer) -> Option<Resident> {
    let graph = &program.graph;
    let tensor = graph.node(layer.node).output;
    // A tensor that the next step of a stream reads is stored outside in between.
    let is_carried = graph.states().iter().any(|state| state.next == tensor);
    let (mut until, mut is_stored) = (None, is_carried || graph.outputs().contains(&tensor));
    for (id, node) in graph.nodes_with_ids() {
        for (input, read) in node.inputs.iter().enumerate() {
            match (program.mac_layer(id), input) {
                _ if *read != Some(tensor) => {}
                (Some(layer), 0) if !layer.dots.streams_weights() => until = Some(id),
                _ => is_stored = true,
            }
        }
    }
    let ty = &graph.tensor(tensor).ty;
    let bits = ty.len() as u128 * u128::from(ty.code_range().bits());
    Some(Resident { tensor, from: layer.node, until: until?, bits, is_stored })
}

/// Returns which data of a layer passes between the chip and external memory.
fn outside(program: &Program, layer: &MacLayer) -> Outside {
    let find = |tensor| program.residents.iter().find(|resident| resident.tensor == tensor);
    let input = activations(&program.graph, layer).and_then(find);
    let output = find(program.graph.node(layer.node).output);
    Outside { loads: input.is_none(), stores: output.is_none_or(|resident| resident.is_stored) }
}

/// Returns the activations that a layer reads, if they can stay on the chip for it.
fn activations(graph: &Graph, layer: &MacLayer) -> Option<TensorId> {
    graph.node(layer.node).inputs.first().copied().flatten().filter(|_| !layer.dots.streams_weights())
}
