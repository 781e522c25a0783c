//! Passes: changes of a graph that keep every output code. No pass runs automatically.
//!
//! To add one, write its file, its `mod` line and its line in `passes!`; docs/how-to/extending.md has the steps. Tests run every pass of the
//! list on random and on real networks.

mod dead_nodes;
mod fold_bias;
mod fold_casts;
mod fold_constants;
mod fold_float_layers;
mod fold_pads;
mod fold_requantize;
mod fuse_activations;
mod hoist_quantize;
mod identities;
mod merge_layouts;
mod tables;

use crate::pattern::Pattern;
use crate::{DType, Graph, GraphPatch, PatchError};

/// A change of a graph that keeps the codes of every output, bit for bit, for any input.
pub trait Pass: std::fmt::Debug + Sync {
    /// Returns its name on the command line.
    fn name(&self) -> &'static str;

    /// Returns a description in one line.
    fn description(&self) -> &'static str;

    /// Returns all changes that it can make to the graph in one round, or `None` if there are none.
    ///
    /// Changes that become possible through these changes are left for the next round.
    ///
    /// # Errors
    /// [`PatchError`] if a change is invalid, which is a bug of the pass.
    fn patch<'g>(&self, graph: &'g Graph) -> Result<Option<GraphPatch<'g>>, PatchError>;

    /// Runs rounds until nothing changes. Returns the new graph, or `None` if there was nothing to change.
    ///
    /// # Errors
    /// [`PatchError`] if a change is invalid, which is a bug of the pass.
    fn run(&self, graph: &Graph) -> Result<Option<Graph>, PatchError> {
        let mut changed: Option<Graph> = None;
        // Every round removes a node or makes one final, so the number of rounds is limited.
        for _ in 0..=graph.nodes.len() {
            let Some(patch) = self.patch(changed.as_ref().unwrap_or(graph))? else { break };
            changed = Some(patch.apply()?);
        }
        Ok(changed)
    }
}

/// Returns the pass with this name.
pub fn find(name: &str) -> Option<&'static dyn Pass> {
    PASSES.iter().copied().find(|pass| pass.name() == name)
}

/// Registers the passes: file and type.
macro_rules! passes {
    ($($file:ident::$ty:ident),* $(,)?) => {
        $(pub use $file::$ty;)*

        /// All passes, in the order of registration.
        pub const PASSES: &[&dyn Pass] = &[$(&$ty),*];
    };
}

passes! {
    identities::Identities,
    merge_layouts::MergeLayouts,
    fuse_activations::FuseActivations,
    fold_pads::FoldPads,
    fold_constants::FoldConstants,
    dead_nodes::DeadNodes,
    fold_bias::FoldBias,
    fold_requantize::FoldRequantize,
    fold_casts::FoldCasts,
    hoist_quantize::HoistQuantize,
    tables::Tables,
    fold_float_layers::FoldFloatLayers,
}

/// Returns the pattern of a layer with constant weights and int32 sums.
fn sums_of_a_layer() -> Pattern {
    let layers = ["conv2d", "depthwise_conv2d", "transpose_conv2d", "fully_connected"];
    Pattern::op_named(layers).where_type(|ty| ty.dtype == DType::Int32)
}

/// Returns a name that no tensor of a graph has.
fn free_name(graph: &Graph, base: &str) -> String {
    let taken = |name: &String| graph.tensors.iter().any(|tensor| tensor.name == *name);
    let mut names = (1..).map(|n| if n == 1 { base.to_owned() } else { format!("{base}#{n}") });
    names.find(|name| !taken(name)).unwrap_or_else(|| base.to_owned())
}

/// Returns the patch if it contains changes.
fn unless_empty(changes: usize, patch: GraphPatch<'_>) -> Option<GraphPatch<'_>> {
    (changes > 0).then_some(patch)
}
