//! Passes that replace matches of a pattern.

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::{Match, Pattern};
use crate::passes::Pass;
use crate::{Graph, GraphPatch, Links, NodeId, PatchError};

/// A pass that replaces every match of a pattern.
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
    /// Returns its name on the command line.
    fn name(&self) -> &'static str;

    /// Returns a description in one line.
    fn description(&self) -> &'static str;

    /// Returns the pattern.
    fn pattern(&self) -> Pattern;

    /// Writes the replacement of a match into `patch`. Returns false, without writing anything, if the match stays.
    ///
    /// It is called once to test a match, and again if the match is chosen. The result must depend only on the match.
    ///
    /// # Errors
    /// [`PatchError`] if a change is invalid, which is a bug of the pass.
    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError>;
}

/// Searches matches from the outputs of the network upwards. A match that shares nodes with a replaced one waits for
/// the next round.
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
        // A replacement reads the replacements before it.
        let mut patch = GraphPatch::new(graph);
        for found in chosen.iter().rev() {
            self.rewrite(found, &mut patch)?;
        }
        Ok((!chosen.is_empty()).then_some(patch))
    }
}
