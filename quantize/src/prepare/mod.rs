//! Preparation of a float network: constants folded, factors and offsets of single channels (batch normalization) taken
//! into the layer before them, layouts merged. Real values stay what they are but for rounding of float32.
//!
//! To add a rewrite, write its file and add its line to `REWRITES`.

mod constants;
mod equalize;
mod factors;
mod offsets;

use guardbit_graph::Graph;
use guardbit_graph::passes::{DeadNodes, FoldConstants, Identities, MergeLayouts, Pass};

pub(crate) use constants::{PerChannel, per_channel, reals};
pub(crate) use equalize::equalized;

use crate::QuantizeError;

/// All of them, in the order in which a round runs them.
const REWRITES: &[&dyn Pass] = &[
    &FoldConstants,
    &MergeLayouts,
    &Identities,
    &factors::FactorsOfSums,
    &factors::FactorsIntoLayers,
    &offsets::JoinedOffsets,
    &offsets::OffsetsIntoConvolutions,
    &DeadNodes,
];

/// Rounds until nothing changes, at most: every one of them leaves fewer operations.
const ROUNDS: usize = 1000;

/// The network, prepared.
///
/// # Errors
/// [`QuantizeError::NotFloat`] if there are codes in it.
pub fn prepare(graph: &Graph) -> Result<Graph, QuantizeError> {
    if let Some(tensor) = graph.tensors().iter().find(|tensor| !tensor.ty.dtype.is_float()) {
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
