//! Preparation of a float network: constants folded, factors and offsets of single channels (batch normalization) taken
//! into the layer before them, functions that are spelled out made one operation, layouts merged. Real values stay what they are but for rounding of float32.
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

/// All of them, in the order in which a round runs them.
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

/// The network with functions cut as ONNX Runtime's quantizer cuts them.
///
/// # Errors
/// [`PatchError`] if a part cannot stand where the whole stood.
pub(crate) fn inlined(graph: &Graph) -> Result<Graph, PatchError> {
    Ok(inlined::InlinedHardSwish.run(graph)?.unwrap_or_else(|| graph.clone()))
}

/// Rounds until nothing changes, at most: every one of them leaves fewer operations.
const ROUNDS: usize = 1000;

/// The network, prepared.
///
/// # Errors
/// [`QuantizeError::NotFloat`] if there are codes in it.
pub fn prepare(graph: &Graph) -> Result<Graph, QuantizeError> {
    // Constants without a scale are places, not codes.
    let is_real = |tensor: &Tensor| {
        tensor.ty.dtype.is_float() || tensor.constant.is_some() && tensor.ty.quantization.is_none()
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
