//! Lookup of nodes by name or index.

use crate::names::clean;
use crate::{Graph, NodeId};

/// Maximum number of suggestions for an unknown name.
const SUGGESTIONS: usize = 5;

/// Least similarity of a suggestion, from 0 (nothing in common) to 1 (equal).
const LEAST_LIKENESS: f64 = 0.6;

/// Maximum length in bytes of a name that is compared with others.
const COMPARED: usize = 200;

/// Error for a name that does not identify one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookupError {
    /// No node has this name.
    Unknown,
    /// A number is the name of one node and the index of another.
    Ambiguous {
        /// The node with this name.
        by_name: NodeId,
        /// The node with this index.
        by_index: NodeId,
    },
}

impl Graph {
    /// Returns the short name of a node: at most 28 ASCII letters, digits, `_` and `-`, starting with a letter.
    ///
    /// It is unique, and it is not the full name of another node.
    pub fn short_name(&self, id: NodeId) -> &str {
        &self.short_names[id.0]
    }

    /// Returns the node with this full name, short name or index.
    ///
    /// # Errors
    /// [`LookupError`] if there is none, or if a number is the name of one node and the index of another.
    pub fn find_node(&self, name: &str) -> Result<NodeId, LookupError> {
        let by_name = self.nodes.iter().position(|n| self.tensor(n.output).name == name);
        let by_name = by_name.or_else(|| self.short_names.iter().position(|short| short == name)).map(NodeId);
        let is_number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
        let index = name.parse().ok().filter(|&index: &usize| is_number && index < self.nodes.len());
        match (by_name, index.map(NodeId)) {
            (Some(by_name), Some(by_index)) if by_name != by_index => {
                Err(LookupError::Ambiguous { by_name, by_index })
            }
            (Some(node), _) | (None, Some(node)) => Ok(node),
            (None, None) => Err(LookupError::Unknown),
        }
    }

    /// Returns the nodes of `among` with the most similar names, the nearest first.
    pub fn near_nodes(&self, name: &str, among: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let nodes = (0..self.nodes.len()).map(NodeId).filter(|&id| among(id));
        let mut near: Vec<(f64, NodeId)> = nodes.map(|id| (self.likeness(name, id), id)).collect();
        near.retain(|&(likeness, _)| likeness >= LEAST_LIKENESS);
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        near.truncate(SUGGESTIONS);
        near.into_iter().map(|(_, id)| id).collect()
    }

    /// Returns the similarity of a name to the names of a node, from 0 to 1.
    fn likeness(&self, name: &str, id: NodeId) -> f64 {
        if name.len() > COMPARED {
            return 0.0;
        }
        let wanted = clean(name).to_lowercase();
        let short = self.short_name(id).to_lowercase();
        let full = Some(self.node_name(id)).filter(|full| full.len() <= COMPARED);
        let of_full = full.map_or(0.0, |full| strsim::normalized_damerau_levenshtein(name, full));
        strsim::normalized_damerau_levenshtein(&wanted, &short).max(of_full)
    }
}
