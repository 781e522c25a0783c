//! Removes unused nodes.

use super::Pass;
use crate::{Graph, GraphPatch, PatchError};

/// A pass that removes nodes and constants that no output of the network depends on.
#[derive(Debug)]
pub struct DeadNodes;

impl Pass for DeadNodes {
    fn name(&self) -> &'static str {
        "dead_nodes"
    }

    fn description(&self) -> &'static str {
        "removes operations and constants that no output depends on"
    }

    fn patch<'g>(&self, graph: &'g Graph) -> Result<Option<GraphPatch<'g>>, PatchError> {
        let patch = GraphPatch::new(graph);
        Ok(patch.leaves_out().then_some(patch))
    }
}
