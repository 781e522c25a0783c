//! TensorFlow Lite files.
//!
//! A file is a flatbuffer (`flatbuffer`) under a schema (`schema`) that lists operators, tensors and buffers.
//! The reader walks the operators in order; each builtin operator has a function that turns its options and
//! operands into an operation of the graph (`ops`). How the runtime rounds is not in the file: it is a named
//! policy (`policy`).
//!
//! To add an operator, write its function in a file of `ops` and add its line to the list there.

mod error;
mod flatbuffer;
mod network;
mod operator;
mod operators;
mod ops;
mod policy;
mod schema;
mod tensors;

use guardbit_graph::Graph;

use crate::FrontendError;

pub use error::{OperatorPlace, TfliteError};
pub use flatbuffer::FlatbufferError;
pub use policy::TFLITE_POLICY;

/// Reads a TFLite file from memory. The network is called `name`, and so is the file in errors.
///
/// # Errors
/// [`FrontendError::Tflite`] if the file is damaged, or is no quantized network that guardbit can represent.
pub fn read_tflite(bytes: &[u8], name: &str) -> Result<Graph, FrontendError> {
    read(bytes, name).map_err(|error| FrontendError::Tflite { file: name.into(), error: Box::new(error) })
}

pub(crate) fn read(bytes: &[u8], name: &str) -> Result<Graph, TfliteError> {
    network::read(bytes, name)
}
