//! Passes: changes of a graph that leave every output code as it is. Nothing runs them by itself.
//!
//! To add one, write its file and add its line to `passes!`; docs/extending.md has the steps. Tests run every pass of the
//! list on random and on real networks.

use crate::pattern::Pattern;
use crate::{DType, Graph, GraphPatch, PatchError};

/// A change of a graph that keeps the codes of every output, bit for bit, for any input.
pub trait Pass: std::fmt::Debug + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn description(&self) -> &'static str;

    /// Everything that it can do to the graph as it stands; `None` if that is nothing. What its own changes make
    /// possible is left for another round.
    ///
    /// # Errors
    /// [`PatchError`] if what it wants to do is refused: a mistake of the pass.
    fn patch<'g>(&self, graph: &'g Graph) -> Result<Option<GraphPatch<'g>>, PatchError>;

    /// The graph after as many rounds as there is something to do; `None` if there was nothing.
    ///
    /// # Errors
    /// [`PatchError`] if what it wants to do is refused: a mistake of the pass.
    fn run(&self, graph: &Graph) -> Result<Option<Graph>, PatchError> {
        let mut changed: Option<Graph> = None;
        // Every round leaves fewer nodes, or one fewer to look at.
        for _ in 0..=graph.nodes.len() {
            let Some(patch) = self.patch(changed.as_ref().unwrap_or(graph))? else { break };
            changed = Some(patch.apply()?);
        }
        Ok(changed)
    }
}

/// The pass of that name.
pub fn find(name: &str) -> Option<&'static dyn Pass> {
    PASSES.iter().copied().find(|pass| pass.name() == name)
}

/// Registers the passes: file and type.
macro_rules! passes {
    ($($file:ident::$ty:ident),* $(,)?) => {
        $(mod $file; pub use $file::$ty;)*

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

/// A layer with constant weights that makes int32 sums.
fn sums_of_a_layer() -> Pattern {
    let layers = ["conv2d", "depthwise_conv2d", "transpose_conv2d", "fully_connected"];
    Pattern::op_named(layers).where_type(|ty| ty.dtype == DType::Int32)
}

/// A name that no tensor of a graph has.
fn free_name(graph: &Graph, base: &str) -> String {
    let taken = |name: &String| graph.tensors.iter().any(|tensor| tensor.name == *name);
    let mut names = (1..).map(|n| if n == 1 { base.to_owned() } else { format!("{base}#{n}") });
    names.find(|name| !taken(name)).unwrap_or_else(|| base.to_owned())
}

/// The patch, if there is something in it.
fn unless_empty(changes: usize, patch: GraphPatch<'_>) -> Option<GraphPatch<'_>> {
    (changes > 0).then_some(patch)
}
