//! The first stage of the reader: a TFLite file as plain data with tensors, operators in order, inputs and outputs.
//!
//! This stage handles everything that a hostile file can do: positions beyond its end, sizes, ranks, indices, tensors
//! that are written twice or read before they are written, and parts that are used again and again. The error of a
//! tensor is stored with it, and is reported only if something needs the tensor.

mod budget;
mod builtin;
mod cut;
mod error;
mod flatbuffer;
mod names;
mod network;
mod options;
mod schema;
mod tensor;
mod variables;

pub(crate) use budget::Budget;
pub(crate) use builtin::{CUSTOM, describe};
pub use error::{OperatorPlace, TfliteError};
pub(crate) use flatbuffer::Field;
pub use flatbuffer::FlatbufferError;
pub(crate) use names::Names;
pub(crate) use network::{Input, Network, Operator, State, parse};
pub(crate) use options::Options;
pub(crate) use tensor::{Tensor, Values};
pub(crate) use variables::{Assignment, Variable};
