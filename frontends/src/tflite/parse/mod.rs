//! A TFLite file as plain data: the tensors that it names, its operators in order, inputs and outputs.
//!
//! Whatever a hostile file can do is met here: places beyond its end, sizes, ranks, indices, tensors that are written twice or
//! read before they are written, and parts that are used over and over. What is wrong with a tensor is kept with it, and is the
//! error of whoever needs that tensor: one that nobody needs may be anything.

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
