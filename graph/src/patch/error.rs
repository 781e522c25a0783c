//! What can be wrong with a patch.

use crate::GraphError;

/// A patch that makes no graph.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// What is added is refused, or two tensors have one name.
    #[error("{0}")]
    Graph(GraphError),
    /// A tensor that takes the place of one of another type.
    #[error("`{by}` cannot take the place of `{tensor}`: {difference}")]
    Type {
        /// The tensor that is replaced.
        tensor: String,
        /// The one that takes its place.
        by: String,
        /// How they differ.
        difference: String,
    },
    /// A tensor that two others take the place of.
    #[error("`{tensor}` is replaced twice")]
    ReplacedTwice {
        /// The tensor.
        tensor: String,
    },
    /// A removed node that is needed.
    #[error("`{node}` is removed, but {reader}")]
    StillRead {
        /// The node.
        node: String,
        /// Who reads it.
        reader: String,
    },
    /// An output of the network that would have another name.
    #[error("`{output}` is an output of the network and would be called `{by}`")]
    OutputName {
        /// The output.
        output: String,
        /// The tensor in its place.
        by: String,
    },
    /// Tensors that would depend on themselves.
    #[error("`{tensor}` would depend on itself")]
    Cycle {
        /// One of them.
        tensor: String,
    },
    /// A tensor or node that is not there.
    #[error("there is no {what} {index}")]
    Unknown {
        /// `tensor` or `node`.
        what: &'static str,
        /// Its index.
        index: usize,
    },
}

impl PatchError {
    /// A name for this kind of error that does not change.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Graph(_) => "guardbit::patch::graph",
            Self::Type { .. } => "guardbit::patch::type",
            Self::ReplacedTwice { .. } => "guardbit::patch::replaced_twice",
            Self::StillRead { .. } => "guardbit::patch::still_read",
            Self::OutputName { .. } => "guardbit::patch::output_name",
            Self::Cycle { .. } => "guardbit::patch::cycle",
            Self::Unknown { .. } => "guardbit::patch::unknown",
        }
    }

    /// What to do about it: it is the pass that has to be mended.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Graph(_) => "what a patch adds is checked as what a reader of files adds",
            Self::Type { .. } => {
                "a tensor takes the place of one with the same shape, dtype, scales and zero points"
            }
            Self::ReplacedTwice { .. } => "apply one replacement, and look at the new graph for the other",
            Self::StillRead { .. } => "replace the output of a node before it is removed",
            Self::OutputName { .. } => "add the new tensor under the name of the output",
            Self::Cycle { .. } => {
                "what is to be read in the place of a tensor must not be made of it, but by a node that the patch adds"
            }
            Self::Unknown { .. } => "indices belong to one graph, and to one patch of it",
        }
    }
}
