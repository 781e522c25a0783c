//! Preparation of a float network. Constants are folded, factors and offsets of single channels (batch
//! normalization) are merged into the layer before them, functions expressed as several operations become
//! one, and layouts are merged. Real values change only by float32 rounding.
//!
//! To add a rewrite, write its file and add its line to `REWRITES`.

mod constants;
mod equalize;
mod factors;
mod functions;
mod inlined;
mod means;
mod offsets;
mod own_inputs;

use guardbit_graph::passes::{DeadNodes, FoldConstants, Identities, MergeLayouts, Pass};
use guardbit_graph::{Graph, PatchError, Tensor};

pub(crate) use constants::{PerChannel, per_channel, reals};
pub(crate) use equalize::equalized;
pub(crate) use own_inputs::own_inputs;

use crate::QuantizeError;

/// All rewrites, in the order in which a round runs them.
const REWRITES: &[&dyn Pass] = &[
    &FoldConstants,
    &MergeLayouts,
    &Identities,
    &functions::HardSwishes,
    &functions::HardSigmoids,
    &means::MeansOfMoved,
    &factors::FactorsBeforeRectifiers,
    &factors::FactorsOfSums,
    &factors::FactorsIntoLayers,
    &offsets::JoinedOffsets,
    &offsets::OffsetsIntoConvolutions,
    &DeadNodes,
];

/// Returns the network with functions divided as in ONNX Runtime's quantizer.
///
/// # Errors
/// [`PatchError`] if a part cannot replace the whole.
pub(crate) fn inlined(graph: &Graph) -> Result<Graph, PatchError> {
    Ok(inlined::InlinedHardSwish.run(graph)?.unwrap_or_else(|| graph.clone()))
}

/// Greatest number of rounds until nothing changes; each of them removes operations.
const ROUNDS: usize = 1000;

/// Returns the prepared network.
///
/// # Errors
/// [`QuantizeError::NotFloat`] if it contains codes.
pub fn prepare(graph: &Graph) -> Result<Graph, QuantizeError> {
    // Constants without a scale are indices, not codes.
    let is_real = |tensor: &Tensor| {
        tensor.ty.dtype == guardbit_graph::DType::Float32
            || tensor.constant.is_some() && tensor.ty.quantization.is_none()
    };
    if let Some(tensor) = graph.tensors().iter().find(|tensor| !is_real(tensor)) {
        return Err(QuantizeError::NotFloat { tensor: tensor.name.clone(), dtype: tensor.ty.dtype });
    }
    let mut graph = graph.clone();
    for _ in 0..ROUNDS {
        let mut changed = false;
        for rewrite in REWRITES {
            if let Some(made) = rewrite.run(&graph)? {
                graph = made;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    Ok(graph)
}
