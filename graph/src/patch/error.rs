//! Errors of patches.

use crate::GraphError;

/// The reason why a patch cannot be applied.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// An addition is invalid, or two tensors have equal names.
    #[error("{0}")]
    Graph(GraphError),
    /// A tensor would replace one of another type.
    #[error("`{by}` cannot replace `{tensor}`: {difference}")]
    Type {
        /// The replaced tensor.
        tensor: String,
        /// The replacement.
        by: String,
        /// The difference, as a phrase.
        difference: String,
    },
    /// A tensor is replaced twice.
    #[error("`{tensor}` is replaced twice")]
    ReplacedTwice {
        /// The tensor.
        tensor: String,
    },
    /// A removed node is still needed.
    #[error("`{node}` is removed, but {reader}")]
    StillRead {
        /// The node.
        node: String,
        /// The reader, as a phrase.
        reader: String,
    },
    /// An output of the network would change its name.
    #[error("`{output}` is an output of the network and would be called `{by}`")]
    OutputName {
        /// The output.
        output: String,
        /// The replacement.
        by: String,
    },
    /// Tensors would depend on themselves.
    #[error("`{tensor}` would depend on itself")]
    Cycle {
        /// One of them.
        tensor: String,
    },
    /// A tensor or node does not exist.
    #[error("{what} {index} does not exist")]
    Unknown {
        /// `tensor` or `node`.
        what: &'static str,
        /// Its index.
        index: usize,
    },
}

impl PatchError {
    /// Returns the stable code of this kind of error.
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

    /// Returns what to do. The pass must be corrected.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Graph(_) => "additions of a patch must pass the checks of a graph",
            Self::Type { .. } => "a replacement must have the same shape, dtype, scales and zero points",
            Self::ReplacedTwice { .. } => "apply one replacement, then make the other one in the new graph",
            Self::StillRead { .. } => "replace the output of a node before you remove the node",
            Self::OutputName { .. } => "give the new tensor the name of the output",
            Self::Cycle { .. } => {
                "a replacement must not depend on the replaced tensor, unless the patch adds its node"
            }
            Self::Unknown { .. } => "an index is only valid for its own graph and patch",
        }
    }
}
