//! Reader of TensorFlow Lite files.
//!
//! It has three stages, each of which knows only the stages below it (`frontends/tests/floors.rs` checks this):
//! - `parse`: turns a flatbuffer into plain data, and rejects everything that a hostile file can do;
//! - `normalise`: computes what depends only on constants;
//! - `recognise`: turns each operator into an operation of the graph. The file does not contain the rounding of the
//!   runtime, which is a named policy (`recognise/kit/policy.rs`).
//!
//! To add an operator, write its function in a file of `recognise/ops` and add its row to the list there.

#[doc(hidden)]
pub mod floors;
mod normalise;
mod parse;
mod recognise;

use std::path::Path;

use guardbit_graph::{Graph, Quantization};

use crate::frontend::half_away;
use crate::{Dims, Frontend, FrontendError};

pub use parse::{FlatbufferError, OperatorPlace, TfliteError};
pub use recognise::{Profile, TFLITE_POLICY, UnknownProfile};

/// Reads a TFLite file from memory. `name` becomes the name of the network, and that of the file in errors.
///
/// # Errors
/// [`FrontendError::Format`] if the file is damaged, or is not a quantized network that guardbit can represent.
pub fn read_tflite(bytes: &[u8], name: &str) -> Result<Graph, FrontendError> {
    read_tflite_as(bytes, name, Profile::default())
}

/// Reads a TFLite file from memory with the rounding of a runtime profile.
///
/// # Errors
/// Errors of [`read_tflite`], and an error for operators whose results in that runtime are unknown.
pub fn read_tflite_as(bytes: &[u8], name: &str, profile: Profile) -> Result<Graph, FrontendError> {
    graph(bytes, name, profile).map_err(|error| FrontendError::format(name, error))
}

/// Returns the names of the supported operators of TensorFlow Lite, sorted.
pub fn tflite_operators() -> Vec<&'static str> {
    let mut names: Vec<_> = recognise::operators().chain(normalise::operators()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Passes a file through all stages and returns its graph.
fn graph(file: &[u8], name: &str, profile: Profile) -> Result<Graph, TfliteError> {
    graph_of(parse::parse(file)?, name, profile)
}

fn graph_of(mut network: parse::Network<'_>, name: &str, profile: Profile) -> Result<Graph, TfliteError> {
    normalise::normalise(&mut network);
    recognise::recognise(network, name, profile)
}

/// Maximum size of a file in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// The frontend of TensorFlow Lite files.
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
        graph(&bytes, name, profile).map_err(|error| FrontendError::format(path, error))
    }

    fn read_up_to(
        &self,
        path: &Path,
        name: &str,
        profile: Option<Profile>,
        dims: &Dims,
        to: &[String],
    ) -> Result<Option<Graph>, FrontendError> {
        if !dims.is_empty() {
            return Err(FrontendError::FixedAxes { file: path.into(), format: self.name() });
        }
        let bytes = guardbit_files::read(path, MAX_BYTES).map_err(|error| FrontendError::io(path, error))?;
        let part = parse::parse(&bytes).and_then(|mut network| {
            let is_part = network.cut(to);
            is_part.then(|| graph_of(network, name, profile.unwrap_or_default())).transpose()
        });
        part.map_err(|error| FrontendError::format(path, error))
    }

    fn quantize_input(&self, value: f32, quantization: &Quantization) -> i128 {
        half_away(value, quantization)
    }
}
