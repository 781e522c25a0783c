//! Networks by file name.

use std::path::Path;

use guardbit_graph::Graph;

use crate::{FrontendError, tflite, yaml};

/// Bytes of a `.tflite` file.
const MAX_TFLITE: u64 = 1 << 30;

/// Bytes of a graph YAML file. Large constants lie in `.npy` files beside it.
const MAX_YAML: u64 = 1 << 26;

/// Reads a network from a file: `.tflite`, or graph `.yaml` or `.yml`. The network is named after the file, unless
/// the file names it.
///
/// # Errors
/// [`FrontendError`] if the file cannot be read, or is no quantized network that guardbit can represent.
pub fn load(path: &Path) -> Result<Graph, FrontendError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let file = path.to_owned();
    match extension.as_str() {
        "tflite" => {
            let bytes = guardbit_files::read(path, MAX_TFLITE)
                .map_err(|error| FrontendError::Io { file: file.clone(), error })?;
            tflite::read(&bytes, &name)
                .map_err(|error| FrontendError::Tflite { file, error: Box::new(error) })
        }
        "yaml" | "yml" => {
            let text = guardbit_files::read_text(path, MAX_YAML);
            let text = text.map_err(|error| FrontendError::Io { file: file.clone(), error })?;
            let dir = path.parent().unwrap_or(Path::new(""));
            yaml::read(&text, dir, &name)
                .map_err(|error| FrontendError::Yaml { file, error: Box::new(error) })
        }
        "onnx" => Err(FrontendError::Onnx { file }),
        _ => Err(FrontendError::UnknownExtension { file }),
    }
}
