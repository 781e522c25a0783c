//! Errors of graphs.

use guardbit_num::MultiplierError;

use crate::{CodeType, DType};

/// The reason why a graph cannot be built, with the node and the tensor at fault.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Two tensors have equal names.
    #[error("tensor `{tensor}` is defined twice")]
    DuplicateTensor {
        /// The name.
        tensor: String,
    },
    /// A name contains characters that files or terminals cannot hold.
    #[error("the name of a tensor {problem}: `{name}`")]
    Name {
        /// The name, truncated and without such characters.
        name: String,
        /// The problem, as a predicate of the name.
        problem: String,
    },
    /// No tensor can have this shape.
    #[error("tensor `{tensor}`: {problem}")]
    TensorShape {
        /// The tensor.
        tensor: String,
        /// The problem.
        problem: String,
    },
    /// The network is too large to be simulated.
    #[error("with tensor `{tensor}` the network has more than {limit} elements in total")]
    TooManyElements {
        /// The tensor.
        tensor: String,
        /// The limit.
        limit: usize,
    },
    /// The quantization does not match the shape or dtype of the tensor.
    #[error("tensor `{tensor}`: {problem}")]
    TensorType {
        /// The tensor.
        tensor: String,
        /// The problem.
        problem: String,
    },
    /// A constant has the wrong number of codes.
    #[error("tensor `{tensor}` of shape {shape:?} needs {expected} codes, found {found}")]
    CodeCount {
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Product of the shape.
        expected: usize,
        /// Number of given codes.
        found: usize,
    },
    /// A code lies outside its type.
    #[error("tensor `{tensor}`: code {code} at index {index} is outside {ty}")]
    CodeRange {
        /// The tensor.
        tensor: String,
        /// The code.
        code: i64,
        /// Its flat index.
        index: usize,
        /// The codes that the tensor may hold.
        ty: CodeType,
    },
    /// A tensor is too large to be simulated.
    #[error("tensor `{tensor}` of shape {shape:?} has more than {limit} elements")]
    TooLarge {
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The limit.
        limit: usize,
    },
    /// An operation has the wrong number of inputs.
    #[error("{op} `{node}` takes {expected} inputs, found {found}")]
    Arity {
        /// The node, by the name of its output tensor.
        node: String,
        /// The operation.
        op: &'static str,
        /// The accepted numbers of inputs.
        expected: String,
        /// The given number of inputs.
        found: usize,
    },
    /// The operation does not accept the shape of a tensor.
    #[error("{op} `{node}`: tensor `{tensor}` has shape {found:?}, expected {expected}")]
    Shape {
        /// The node.
        node: String,
        /// The operation.
        op: &'static str,
        /// The tensor at fault.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// The expected shape, as a phrase.
        expected: String,
    },
    /// The operation does not accept the dtype of a tensor.
    #[error("{op} `{node}`: tensor `{tensor}` is {found}, expected {expected}")]
    DType {
        /// The node.
        node: String,
        /// The operation.
        op: &'static str,
        /// The tensor at fault.
        tensor: String,
        /// Its dtype.
        found: DType,
        /// The expected dtypes, as a phrase.
        expected: String,
    },
    /// The operation does not accept a tensor.
    #[error("{op} `{node}`: tensor `{tensor}`: {problem}")]
    Operand {
        /// The node.
        node: String,
        /// The operation.
        op: &'static str,
        /// The tensor at fault.
        tensor: String,
        /// The problem.
        problem: String,
    },
    /// An attribute is out of range.
    #[error("{op} `{node}`: {attribute} {problem}")]
    Attribute {
        /// The node.
        node: String,
        /// The operation.
        op: &'static str,
        /// The attribute.
        attribute: &'static str,
        /// The problem, as a predicate of the attribute.
        problem: String,
    },
    /// No requantizer can represent the ratio of the scales.
    #[error("{op} `{node}`: {source}")]
    Multiplier {
        /// The node.
        node: String,
        /// The operation.
        op: &'static str,
        /// The rejected multiplier.
        source: MultiplierError,
    },
    /// A tensor cannot become the next value of a state.
    #[error("state `{tensor}` cannot take the codes of `{next}`: {problem}")]
    State {
        /// The state.
        tensor: String,
        /// The tensor of its next codes.
        next: String,
        /// The problem.
        problem: String,
    },
    /// The network was given the wrong number of inputs.
    #[error("the network has {expected} inputs, found codes for {found}")]
    InputCount {
        /// Number of inputs of the network.
        expected: usize,
        /// Number of given lists of codes.
        found: usize,
    },
    /// A stream was given the wrong number of states.
    #[error("the network has {expected} states, found codes for {found}")]
    StateCount {
        /// Number of states of the network.
        expected: usize,
        /// Number of given lists of codes.
        found: usize,
    },
    /// The graph has no inputs or no outputs.
    #[error("the graph has no {what}")]
    Empty {
        /// `input` or `output`.
        what: &'static str,
    },
}
