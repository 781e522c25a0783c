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

use std::path::Path;

use guardbit_graph::{Graph, Quantization};

use crate::frontend::half_away;
use crate::{Frontend, FrontendError};

pub use error::{OperatorPlace, TfliteError};
pub use flatbuffer::FlatbufferError;
pub use ops::tflite_operators;
pub use policy::{Profile, TFLITE_POLICY, UnknownProfile};

/// Reads a TFLite file from memory. The network is called `name`, and so is the file in errors.
///
/// # Errors
/// [`FrontendError::Format`] if the file is damaged, or is no quantized network that guardbit can represent.
pub fn read_tflite(bytes: &[u8], name: &str) -> Result<Graph, FrontendError> {
    read_tflite_as(bytes, name, Profile::default())
}

/// Reads a TFLite file from memory as a runtime of that profile does.
///
/// # Errors
/// As [`read_tflite`]; operators whose results in that runtime are not known are refused too.
pub fn read_tflite_as(bytes: &[u8], name: &str, profile: Profile) -> Result<Graph, FrontendError> {
    network::read(bytes, name, profile).map_err(|error| FrontendError::format(name, error))
}

/// Bytes of a file.
const MAX_BYTES: u64 = 1 << 30;

/// TensorFlow Lite files.
#[derive(Debug)]
pub struct Tflite;

impl Frontend for Tflite {
    fn name(&self) -> &'static str {
        "TensorFlow Lite"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["tflite"]
    }

    fn read(&self, path: &Path, name: &str) -> Result<Graph, FrontendError> {
        self.read_as(path, name, Profile::default())
    }

    fn read_as(&self, path: &Path, name: &str, profile: Profile) -> Result<Graph, FrontendError> {
        let bytes = guardbit_files::read(path, MAX_BYTES).map_err(|error| FrontendError::io(path, error))?;
        network::read(&bytes, name, profile).map_err(|error| FrontendError::format(path, error))
    }

    fn quantize_input(&self, value: f32, quantization: &Quantization) -> i128 {
        half_away(value, quantization)
    }
}
