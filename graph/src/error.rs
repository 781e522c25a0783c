//! What can be wrong with a graph.

use guardbit_num::MultiplierError;

use crate::{CodeType, DType};

/// A graph that cannot be built, with the node and the tensor at fault.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Two tensors of one name.
    #[error("tensor `{tensor}` is defined twice")]
    DuplicateTensor {
        /// The name.
        tensor: String,
    },
    /// A name that files and terminals cannot take.
    #[error("the name of a tensor {problem}: `{name}`")]
    Name {
        /// The name, cut and cleaned.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A shape that no tensor can have.
    #[error("tensor `{tensor}`: {problem}")]
    TensorShape {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        problem: String,
    },
    /// A network too large to be simulated.
    #[error("with tensor `{tensor}` the network has more than {limit} elements over all tensors")]
    TooManyElements {
        /// The tensor.
        tensor: String,
        /// The limit.
        limit: usize,
    },
    /// A quantization that does not belong to the tensor's shape or dtype.
    #[error("tensor `{tensor}`: {problem}")]
    TensorType {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        problem: String,
    },
    /// A constant with the wrong number of codes.
    #[error("tensor `{tensor}` of shape {shape:?} needs {expected} codes, found {found}")]
    CodeCount {
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
        /// Product of the shape.
        expected: usize,
        /// Number of codes given.
        found: usize,
    },
    /// A code outside its type.
    #[error("tensor `{tensor}`: code {code} at index {index} is outside {ty}")]
    CodeRange {
        /// The tensor.
        tensor: String,
        /// The code.
        code: i64,
        /// Its flat index.
        index: usize,
        /// What the tensor may hold.
        ty: CodeType,
    },
    /// A tensor too large to be simulated.
    #[error("tensor `{tensor}` of shape {shape:?} has more than {limit} elements")]
    TooLarge {
        /// The tensor.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
        /// The limit.
        limit: usize,
    },
    /// The wrong number of inputs.
    #[error("{op} `{node}` takes {expected} inputs, found {found}")]
    Arity {
        /// The node: the name of its output tensor.
        node: String,
        /// The operation.
        op: &'static str,
        /// What it takes.
        expected: String,
        /// What it was given.
        found: usize,
    },
    /// A shape that the operation cannot take.
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
        /// What is expected.
        expected: String,
    },
    /// A dtype that the operation cannot take.
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
        /// What is expected.
        expected: String,
    },
    /// A quantization that the operation cannot take.
    #[error("{op} `{node}`: tensor `{tensor}`: {problem}")]
    Operand {
        /// The node.
        node: String,
        /// The operation.
        op: &'static str,
        /// The tensor at fault.
        tensor: String,
        /// What is wrong.
        problem: String,
    },
    /// An attribute out of range.
    #[error("{op} `{node}`: {attribute} {problem}")]
    Attribute {
        /// The node.
        node: String,
        /// The operation.
        op: &'static str,
        /// The attribute.
        attribute: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// Scales whose ratio no requantizer can hold.
    #[error("{op} `{node}`: {source}")]
    Multiplier {
        /// The node.
        node: String,
        /// The operation.
        op: &'static str,
        /// What is wrong.
        source: MultiplierError,
    },
    /// A tensor that a state cannot become.
    #[error("state `{tensor}` cannot take on the codes of `{next}`: {problem}")]
    State {
        /// The state.
        tensor: String,
        /// What it is to become.
        next: String,
        /// What is wrong.
        problem: String,
    },
    /// A network that is given the wrong number of inputs.
    #[error("the network has {expected} inputs, found codes for {found}")]
    InputCount {
        /// Inputs of the network.
        expected: usize,
        /// Lists of codes that were given.
        found: usize,
    },
    /// A stream that is given the wrong number of states.
    #[error("the network has {expected} states, found codes for {found}")]
    StateCount {
        /// States of the network.
        expected: usize,
        /// Lists of codes that were given.
        found: usize,
    },
    /// A graph without inputs or outputs.
    #[error("the graph has no {what}")]
    Empty {
        /// `input` or `output`.
        what: &'static str,
    },
}
