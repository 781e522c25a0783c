//! Access to the lower stages alone, for fuzzing. How much of them a full read uses depends on the operators of a
//! file.

use prost::Message;

use super::error::OnnxError;
use super::normalise;
use super::parse::{self, File, proto};

/// Parses a file into a plain network.
///
/// # Errors
/// [`OnnxError`] with the problem of the file.
pub fn parse(bytes: &[u8]) -> Result<(), OnnxError> {
    file(bytes).map(|_| ())
}

/// Returns the shapes and numbers of elements of all constants of a file, given and computed.
///
/// # Errors
/// [`OnnxError`] with the problem of the file, or of a constant that it computes.
pub fn normalise(bytes: &[u8]) -> Result<Vec<(Vec<usize>, usize)>, OnnxError> {
    let mut file = file(bytes)?;
    let known = normalise::normalise(&mut file)?;
    let sizes =
        |fixed: &normalise::known::Fixed| (fixed.elements().shape.clone(), fixed.elements().data.len());
    Ok(known.constants.values().map(sizes).collect())
}

fn file(bytes: &[u8]) -> Result<File, OnnxError> {
    let wrong = |error| OnnxError::Format { problem: format!("is not an ONNX message: {error}") };
    parse::parse(proto::Model::decode(bytes).map_err(wrong)?, None)
}
