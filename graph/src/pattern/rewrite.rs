//! Passes that replace what matches a pattern.

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::{Match, Pattern};
use crate::passes::Pass;
use crate::{Graph, GraphPatch, Links, NodeId, PatchError};

/// A pass that puts something else in the place of every match of a pattern.
///
/// ```
/// use guardbit_graph::{GraphPatch, PatchError, ops::Relu};
/// use guardbit_graph::pattern::{Match, Pattern, Rewrite};
///
/// /// A rectifier of what a rectifier made, without another quantization between them.
/// #[derive(Debug)]
/// struct DoubleRelu;
///
/// impl Rewrite for DoubleRelu {
///     fn name(&self) -> &'static str {
///         "double_relu"
///     }
///
///     fn description(&self) -> &'static str {
///         "makes one rectifier of two"
///     }
///
///     fn pattern(&self) -> Pattern {
///         let first = Pattern::op::<Relu>().reads([Pattern::any().named("x")]).named("first");
///         Pattern::op::<Relu>().reads([first]).named("second")
///     }
///
///     fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
///         match (found.op::<Relu>("first"), found.id("x")) {
///             (Some(first), Some(x)) if found.ty("first") == found.ty("second") => {
///                 found.replace_by(patch, first.clone(), &[Some(x)])
///             }
///             _ => Ok(false),
///         }
///     }
/// }
/// ```
pub trait Rewrite: Debug + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it does, in one line.
    fn description(&self) -> &'static str;

    /// What it looks for.
    fn pattern(&self) -> Pattern;

    /// Writes into `patch` what takes the place of a match; `false`, with nothing written, where it stays. It is asked
    /// once whether it would, and again where the match is one of those that are replaced: the answer follows from the
    /// match alone.
    ///
    /// # Errors
    /// [`PatchError`] if what it wants to do is refused: a mistake of the pass.
    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError>;
}

/// Matches are looked for from the outputs of the network upwards; one that has nodes in common with another one that is
/// replaced waits for the next round.
impl<R: Rewrite> Pass for R {
    fn name(&self) -> &'static str {
        Rewrite::name(self)
    }

    fn description(&self) -> &'static str {
        Rewrite::description(self)
    }

    fn patch<'g>(&self, graph: &'g Graph) -> Result<Option<GraphPatch<'g>>, PatchError> {
        let (links, pattern) = (Links::new(graph), self.pattern());
        let mut taken = BTreeSet::new();
        let mut chosen = Vec::new();
        for root in (0..graph.nodes().len()).rev().map(NodeId) {
            let Some(found) = pattern.at(graph, &links, root) else { continue };
            let is_free = found.own_nodes().all(|node| !taken.contains(&node));
            if is_free && self.rewrite(&found, &mut GraphPatch::new(graph))? {
                taken.extend(found.own_nodes());
                chosen.push(found);
            }
        }
        // What is put in reads what was put in before it.
        let mut patch = GraphPatch::new(graph);
        for found in chosen.iter().rev() {
            self.rewrite(found, &mut patch)?;
        }
        Ok((!chosen.is_empty()).then_some(patch))
    }
}
