//! Errors of TFLite files.

use std::fmt;

use guardbit_graph::{GraphError, QuantizationError};

use super::flatbuffer::FlatbufferError;
use crate::FormatError;

/// The reason why a TFLite file cannot be read, with the operator or the tensor at fault.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TfliteError {
    /// The file is not a TFLite file.
    #[error("not a TFLite file: bytes 4 to 7 are not `TFL3`")]
    Identifier,
    /// An offset or a length points outside of the file.
    #[error("the file is cut off or damaged: {error}")]
    Truncated {
        /// The position.
        error: FlatbufferError,
    },
    /// The contents violate the format.
    #[error("the file is damaged: {error}")]
    Malformed {
        /// The position.
        error: FlatbufferError,
    },
    /// An index does not exist.
    #[error("the file is damaged: {what} {index} does not exist")]
    Index {
        /// The kind of indexed object.
        what: &'static str,
        /// The index.
        index: i64,
    },
    /// Parts of the file are used so often that it expands to far more than its size.
    #[error("the file is damaged or hostile: its tensors expand to more than {limit} values")]
    Unfolds {
        /// The limit, which follows from the size of the file.
        limit: usize,
    },
    /// The file has another version of the schema.
    #[error("schema version {version} is not supported; expected version 3")]
    Version {
        /// The version.
        version: u32,
    },
    /// The model is not a single network.
    #[error("the model has {count} subgraphs; expected one, and those that CALL_ONCE runs")]
    Subgraphs {
        /// Their number.
        count: usize,
    },
    /// The operator is not supported.
    #[error("operator {index} is {operator}, which is not supported (output tensor `{output}`)")]
    UnsupportedOperator {
        /// Index of the operator.
        index: usize,
        /// Its name and number.
        operator: String,
        /// Name of its output.
        output: String,
    },
    /// The options or operands of an operator are not supported.
    #[error("{place}: {problem}")]
    Operator {
        /// The operator.
        place: OperatorPlace,
        /// The problem.
        problem: String,
    },
    /// An operator reads a tensor before it is written.
    #[error("{place} reads tensor `{tensor}`, which is neither a constant nor written before")]
    Order {
        /// The operator.
        place: OperatorPlace,
        /// The tensor.
        tensor: String,
    },
    /// The network is not quantized, or only in part.
    #[error("tensor `{tensor}` is {found}: guardbit needs a quantized network")]
    Float {
        /// The tensor.
        tensor: String,
        /// Its type.
        found: String,
    },
    /// An operator on real values is only supported on codes.
    #[error("{place} works on `{tensor}`, which is float32; it only supports codes")]
    FloatOperator {
        /// The operator.
        place: OperatorPlace,
        /// The tensor.
        tensor: String,
    },
    /// A tensor of a quantized network cannot have this type, shape or storage.
    #[error("tensor `{tensor}`: {problem}")]
    Tensor {
        /// The tensor.
        tensor: String,
        /// The problem.
        problem: String,
    },
    /// Scales or zero points are invalid.
    #[error("tensor `{tensor}`: {error}")]
    Quantization {
        /// The tensor.
        tensor: String,
        /// The error of the quantization.
        error: QuantizationError,
    },
    /// The declared shape of an output is not the one that follows from the operator.
    #[error("{place}: output `{tensor}` has shape {declared:?} in the file, but {inferred:?} follows")]
    Shape {
        /// The operator.
        place: OperatorPlace,
        /// The output.
        tensor: String,
        /// The shape in the file.
        declared: Vec<usize>,
        /// The shape that follows from the operands.
        inferred: Vec<usize>,
    },
    /// The graph rejects the network.
    #[error("{}{error}", place.as_ref().map_or_else(String::new, |p| format!("{p}: ")))]
    Graph {
        /// The operator, if the error belongs to one.
        place: Option<OperatorPlace>,
        /// The error of the graph.
        error: Box<GraphError>,
    },
}

/// An operator in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorPlace {
    /// Its index.
    pub index: usize,
    /// Its name in the schema.
    pub name: &'static str,
}

impl TfliteError {
    /// Returns the error of an operator or input that writes a tensor which already has values.
    pub(crate) fn written_twice(place: Option<OperatorPlace>, tensor: &str) -> Self {
        Self::Graph { place, error: Box::new(GraphError::DuplicateTensor { tensor: tensor.into() }) }
    }
}

impl FormatError for TfliteError {
    fn code(&self) -> &'static str {
        match self {
            Self::Identifier => "guardbit::tflite::identifier",
            Self::Truncated { .. } => "guardbit::tflite::truncated",
            Self::Malformed { .. } => "guardbit::tflite::malformed",
            Self::Index { .. } => "guardbit::tflite::index",
            Self::Unfolds { .. } => "guardbit::tflite::unfolds",
            Self::Version { .. } => "guardbit::tflite::version",
            Self::Subgraphs { .. } => "guardbit::tflite::subgraphs",
            Self::UnsupportedOperator { .. } => "guardbit::tflite::unsupported_operator",
            Self::Operator { .. } => "guardbit::tflite::operator",
            Self::Order { .. } => "guardbit::tflite::order",
            Self::Float { .. } | Self::FloatOperator { .. } => "guardbit::tflite::float",
            Self::Tensor { .. } => "guardbit::tflite::tensor",
            Self::Quantization { .. } => "guardbit::tflite::quantization",
            Self::Shape { .. } => "guardbit::tflite::shape",
            Self::Graph { .. } => "guardbit::tflite::graph",
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Identifier => "the extension of a network file selects its reader: rename a file of another format",
            Self::Truncated { .. } | Self::Malformed { .. } | Self::Index { .. } | Self::Unfolds { .. } => {
                "compare its size or checksum with the original"
            }
            Self::Version { .. } => "convert the network again with a current TensorFlow",
            Self::Subgraphs { .. } => "convert a single function, without loops and conditions",
            Self::UnsupportedOperator { .. } => {
                "docs/reference/tflite.md lists the supported operators; replace this one before converting, or read \
                 only the part of the network before it with `--to TENSOR`"
            }
            Self::Float { .. } | Self::FloatOperator { .. } => {
                "convert with full-integer quantization: a representative dataset, TFLITE_BUILTINS_INT8, and int8 \
                 inference_input_type and inference_output_type"
            }
            Self::Operator { .. }
            | Self::Order { .. }
            | Self::Tensor { .. }
            | Self::Quantization { .. }
            | Self::Shape { .. }
            | Self::Graph { .. } => {
                "docs/reference/tflite.md describes what is supported; change the network before converting, or read only a part \
                 of it with `--from TENSOR` and `--to TENSOR`"
            }
        }
        .into()
    }
}

impl fmt::Display for OperatorPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operator {} ({})", self.index, self.name)
    }
}

impl From<FlatbufferError> for TfliteError {
    fn from(error: FlatbufferError) -> Self {
        match error {
            FlatbufferError::OutOfBounds { .. } => Self::Truncated { error },
            _ => Self::Malformed { error },
        }
    }
}
