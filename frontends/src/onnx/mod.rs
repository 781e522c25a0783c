//! Reader of ONNX files: QDQ, QOperator and QONNX.
//!
//! It has three stages, each of which knows only the stages below it. `parse` turns the messages of a file into a
//! plain network, `normalise` computes what depends only on constants, and `recognise` turns the rest into nodes of
//! the graph. Real values that codes represent are tracked, so that `DequantizeLinear -> operator -> QuantizeLinear`
//! becomes one quantized operation with the arithmetic of ONNX Runtime's fused kernels. QONNX's `Quant` is a
//! quantizer and a dequantizer in one. Everything else stays in float. `export` writes files.
//!
//! Images of the file are `[n, c, h, w]`, those of the graph `[n, h, w, c]`. Each value records the order of its
//! axes, and is transposed if an operator needs the other order.
//!
//! To add an operator, write its function in a file of `recognise/ops`, add its row to the list there, and add the
//! shape of its output to `normalise/shapes.rs`.

mod error;
mod export;
#[doc(hidden)]
pub mod floors;
mod nearest;
mod normalise;
mod own;
mod parse;
mod recognise;
mod scalar;

use std::path::Path;

use guardbit_graph::{Graph, Quantization};
use prost::Message;

use crate::{Dims, Frontend, FrontendError, Profile};
use parse::proto;

pub use error::OnnxError;
pub use export::{ExportError, check_onnx, write_dynamic_onnx, write_onnx};
pub use parse::metadata::BATCH;

/// Reads an ONNX file from memory. External data is not available. `name` becomes the name of the network, and that
/// of the file in errors.
///
/// # Errors
/// [`FrontendError::Format`] if the file is damaged, or is not a network that guardbit can represent.
pub fn read_onnx(bytes: &[u8], name: &str) -> Result<Graph, FrontendError> {
    read(bytes, None, name).map_err(|error| FrontendError::format(name, error))
}

/// Returns whether bytes are a file that [`write_onnx`] wrote.
pub fn is_own_onnx(bytes: &[u8]) -> bool {
    proto::Model::decode(bytes).is_ok_and(|model| model.producer == export::PRODUCER)
}

/// Maximum size of a file in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// The frontend of ONNX files.
#[derive(Debug)]
pub struct Onnx;

impl Frontend for Onnx {
    fn name(&self) -> &'static str {
        "ONNX"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["onnx"]
    }

    fn read(&self, path: &Path, name: &str) -> Result<Graph, FrontendError> {
        of_file(path, |bytes, dir| graph_of(decode_owned(bytes)?, Some(dir), name))
    }

    fn read_sized(
        &self,
        path: &Path,
        name: &str,
        profile: Option<Profile>,
        dims: &Dims,
    ) -> Result<Graph, FrontendError> {
        if let Some(profile) = profile {
            return self.read_as(path, name, profile);
        }
        of_file(path, |bytes, dir| graph_of(sized(bytes, dims)?, Some(dir), name))
    }

    fn read_up_to(
        &self,
        path: &Path,
        name: &str,
        profile: Option<Profile>,
        dims: &Dims,
        to: &[String],
    ) -> Result<Option<Graph>, FrontendError> {
        if let Some(profile) = profile {
            return self.read_as(path, name, profile).map(Some);
        }
        of_file(path, |bytes, dir| {
            let mut model = sized(bytes, dims)?;
            let is_part = model.graph.as_mut().is_some_and(|graph| parse::cut::up_to(graph, to));
            is_part.then(|| graph_of(model, Some(dir), name)).transpose()
        })
    }

    /// Returns `value / scale` in float32, rounded half to even, plus the zero point (ONNX `QuantizeLinear`).
    fn quantize_input(&self, value: f32, quantization: &Quantization) -> i128 {
        let steps = (value / quantization.scale(0)).round_ties_even();
        (steps as i128).saturating_add(quantization.zero_point(0).into())
    }
}

/// Reads a file and calls `make` with its bytes and its folder.
fn of_file<T>(
    path: &Path,
    make: impl FnOnce(Vec<u8>, &Path) -> Result<T, OnnxError>,
) -> Result<T, FrontendError> {
    let bytes = guardbit_files::read(path, MAX_BYTES).map_err(|error| FrontendError::io(path, error))?;
    let dir = path.parent().unwrap_or(Path::new(""));
    make(bytes, dir).map_err(|error| FrontendError::format(path, error))
}

fn read(bytes: &[u8], dir: Option<&Path>, name: &str) -> Result<Graph, OnnxError> {
    graph_of(decode(bytes)?, dir, name)
}

fn decode(bytes: &[u8]) -> Result<proto::Model, OnnxError> {
    let wrong = |error| OnnxError::Format { problem: format!("is not an ONNX message: {error}") };
    proto::Model::decode(bytes).map_err(wrong)
}

/// Returns the model in the bytes of a file, and frees them: the model has copies of all weights.
fn decode_owned(bytes: Vec<u8>) -> Result<proto::Model, OnnxError> {
    decode(&bytes)
}

/// Returns a model with lengths for axes that its file leaves open.
fn sized(bytes: Vec<u8>, dims: &Dims) -> Result<proto::Model, OnnxError> {
    let mut model = decode_owned(bytes)?;
    model.graph.as_mut().map_or(Ok(()), |graph| parse::dims::give(graph, dims))?;
    Ok(model)
}

/// Passes a model through all stages and returns its graph.
fn graph_of(model: proto::Model, dir: Option<&Path>, name: &str) -> Result<Graph, OnnxError> {
    model.graph.as_ref().map_or(Ok(()), parse::dims::check_samples)?;
    let mut file = parse::parse(model, dir)?;
    let known = normalise::normalise(&mut file)?;
    let graph = recognise::recognise(&file, &known, name)?;
    Ok(graph.with_metadata(file.texts))
}
