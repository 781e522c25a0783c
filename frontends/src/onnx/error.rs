//! Errors of ONNX files.

use guardbit_graph::{GraphError, brief, plain_name};

use crate::FormatError;

/// The oldest supported opset. Older ones broadcast operands according to attributes.
pub(in crate::onnx) const OLDEST_OPSET: i64 = 7;

/// The reason why an ONNX file cannot be read or represented.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// The file is not an ONNX message.
    #[error("{problem}")]
    Format {
        /// The problem.
        problem: String,
    },
    /// The operator is not supported.
    #[error("operator `{operator}` of node `{node}` is not supported")]
    UnsupportedOperator {
        /// Domain and name.
        operator: String,
        /// Name of the node.
        node: String,
        /// Names of the supported operators.
        supported: Vec<String>,
    },
    /// A node cannot be represented.
    #[error("{operator} `{node}`: {problem}")]
    Node {
        /// Name of the operator.
        operator: String,
        /// Name of the node, or of its first output.
        node: String,
        /// The problem, and what would be needed.
        problem: String,
    },
    /// A tensor cannot be represented.
    #[error("tensor `{tensor}`: {problem}")]
    Tensor {
        /// The tensor.
        tensor: String,
        /// The problem.
        problem: String,
    },
    /// A length is given for an axis that is not open.
    #[error("{problem}")]
    Dim {
        /// The problem.
        problem: String,
        /// The open axes of the file.
        open: Vec<String>,
    },
    /// Data in another file cannot be read.
    #[error("external data of tensor `{tensor}`: {problem}")]
    External {
        /// The tensor.
        tensor: String,
        /// The problem.
        problem: String,
    },
    /// The graph rejects the network.
    #[error("{}{error}", place.as_ref().map_or(String::new(), |place| format!("{place}: ")))]
    Graph {
        /// Operator and node.
        place: Option<String>,
        /// The error of the graph.
        error: Box<GraphError>,
    },
}

/// Returns a name from a file in a form that can be displayed.
pub(in crate::onnx) fn shown(name: &str) -> String {
    brief(&plain_name(name)).to_string()
}

impl FormatError for OnnxError {
    fn code(&self) -> &'static str {
        match self {
            Self::Format { .. } => "guardbit::onnx::format",
            Self::UnsupportedOperator { .. } => "guardbit::onnx::operator",
            Self::Node { .. } => "guardbit::onnx::node",
            Self::Tensor { .. } => "guardbit::onnx::tensor",
            Self::Dim { .. } => "guardbit::onnx::dim",
            Self::External { .. } => "guardbit::onnx::external",
            Self::Graph { .. } => "guardbit::onnx::graph",
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Format { .. } => {
                format!("an ONNX file is a ModelProto with a graph, of opset {OLDEST_OPSET} or newer")
            }
            Self::UnsupportedOperator { supported, .. } => format!(
                "supported operators: {}; `--to TENSOR` reads only the part before an unsupported one",
                supported.join(", ")
            ),
            Self::External { .. } => {
                "external data must be in files in the model's folder, with relative paths without `..`"
                    .into()
            }
            Self::Dim { open, .. } if open.is_empty() => "all axes of its inputs have lengths".into(),
            Self::Dim { open, .. } => format!("the open axes of the file are {}", open.join(", ")),
            Self::Node { .. } | Self::Tensor { .. } | Self::Graph { .. } => {
                "docs/reference/onnx.md describes what is supported; change the network before exporting it, or read only a part \
                 of it with `--from TENSOR` and `--to TENSOR`"
                    .into()
            }
        }
    }
}
