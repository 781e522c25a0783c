//! The trait of a format, and loading of networks by file name.

use std::fmt::Debug;
use std::path::Path;

use guardbit_graph::{Graph, Quantization};

use crate::{Dims, FRONTENDS, FrontendError, Profile};

/// A reader of the network files of one format.
pub trait Frontend: Debug + Sync {
    /// Returns the name of the format.
    fn name(&self) -> &'static str;

    /// Returns the file name extensions in lower case, without the dot, the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// Returns the name of its files in help texts.
    fn files(&self) -> String {
        format!(".{}", self.extensions().first().unwrap_or(&""))
    }

    /// Reads the file at `path`. The network gets the name `name`, unless the file contains a name.
    ///
    /// # Errors
    /// [`FrontendError`] if the file cannot be read, or is not a quantized network that guardbit can represent.
    fn read(&self, path: &Path, name: &str) -> Result<Graph, FrontendError>;

    /// Reads the file at `path` with the rounding of a runtime profile, if the format leaves rounding to the runtime.
    ///
    /// # Errors
    /// Errors of [`read`](Self::read), and [`FrontendError::Profile`] for formats that define the rounding themselves.
    fn read_as(&self, path: &Path, name: &str, profile: Profile) -> Result<Graph, FrontendError> {
        let _ = name;
        Err(FrontendError::Profile { file: path.into(), format: self.name(), profile })
    }

    /// Reads the file at `path` with lengths for axes that it leaves open.
    ///
    /// # Errors
    /// Errors of [`read`](Self::read), and with a profile those of [`read_as`](Self::read_as). Also an error if a
    /// length is given for an axis that is not open.
    fn read_sized(
        &self,
        path: &Path,
        name: &str,
        profile: Option<Profile>,
        dims: &Dims,
    ) -> Result<Graph, FrontendError> {
        match profile {
            _ if !dims.is_empty() => Err(FrontendError::FixedAxes { file: path.into(), format: self.name() }),
            Some(profile) => self.read_as(path, name, profile),
            None => self.read(path, name),
        }
    }

    /// Reads the part of a network that the file's tensors `to` depend on. They become its outputs.
    ///
    /// Operators after them may be unknown. Returns `None` if the format or the file does not have these tensors.
    ///
    /// # Errors
    /// See [`read_sized`](Self::read_sized).
    fn read_up_to(
        &self,
        path: &Path,
        name: &str,
        profile: Option<Profile>,
        dims: &Dims,
        to: &[String],
    ) -> Result<Option<Graph>, FrontendError> {
        let _ = (path, name, profile, dims, to);
        Ok(None)
    }

    /// Returns the code of a finite real value at an input of the network, with the rounding of the format's runtime.
    ///
    /// The code is not clamped to the input's dtype.
    fn quantize_input(&self, value: f32, quantization: &Quantization) -> i128;
}

/// Returns the format of a file, by its name.
///
/// # Errors
/// [`FrontendError`] if no format has this extension.
pub fn frontend(path: &Path) -> Result<&'static dyn Frontend, FrontendError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let found = FRONTENDS.iter().find(|frontend| frontend.extensions().contains(&extension.as_str()));
    found.copied().ok_or_else(|| FrontendError::UnknownExtension { file: path.into() })
}

/// The part of a file to read: by default the whole network, and lengths for axes that the file leaves open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cut {
    /// Tensors that become inputs.
    pub from: Vec<String>,
    /// Tensors that become the outputs.
    pub to: Vec<String>,
    /// Lengths of axes.
    pub dims: Dims,
}

/// Reads a part of a network from a file of any format, optionally with a runtime profile.
///
/// The network gets the name of the file, unless the file contains a name. `to` are tensors of the file if it has all
/// of them. Otherwise they are, like `from`, tensors or nodes of the network after reading ([`Graph::cut`]).
/// Operators after tensors of a TFLite or ONNX file are not read.
///
/// # Errors
/// [`FrontendError`] under the conditions of [`load_as`], or if the network does not have this part.
pub fn load_part(path: &Path, profile: Option<Profile>, cut: &Cut) -> Result<Graph, FrontendError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let frontend = frontend(path)?;
    let part = match cut.to.is_empty() {
        true => None,
        false => frontend.read_up_to(path, &name, profile, &cut.dims, &cut.to)?,
    };
    let (graph, to) = match part {
        Some(part) => (part, &[][..]),
        None => (frontend.read_sized(path, &name, profile, &cut.dims)?, &cut.to[..]),
    };
    if cut.from.is_empty() && to.is_empty() {
        return Ok(graph);
    }
    graph.cut(&cut.from, to).map_err(|error| FrontendError::Cut { file: path.into(), error })
}

/// Reads a network from a file of any format. It gets the name of the file, unless the file contains a name.
///
/// # Errors
/// [`FrontendError`] if the file cannot be read, or is not a quantized network that guardbit can represent.
pub fn load(path: &Path) -> Result<Graph, FrontendError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    frontend(path)?.read(path, &name)
}

/// Reads a network from a file of any format with the rounding of a runtime profile.
///
/// # Errors
/// [`FrontendError`] under the conditions of [`load`], or if the format has no profiles.
pub fn load_as(path: &Path, profile: Profile) -> Result<Graph, FrontendError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    frontend(path)?.read_as(path, &name, profile)
}

/// Returns the readable files, for help texts: `.tflite, .onnx or graph .yaml`.
pub fn network_files() -> String {
    either(FRONTENDS.iter().map(|frontend| frontend.files()))
}

/// Returns the extensions of readable files: `.tflite, .onnx, .yaml or .yml`.
pub(crate) fn network_extensions() -> String {
    let all = FRONTENDS.iter().flat_map(|frontend| frontend.extensions());
    either(all.map(|extension| format!(".{extension}")))
}

fn either(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match items.split_last() {
        Some((last, front)) if !front.is_empty() => format!("{} or {last}", front.join(", ")),
        Some((only, _)) => only.clone(),
        None => String::new(),
    }
}

/// Returns `value / scale` in float32, rounded half away from zero, plus the zero point.
///
/// TensorFlow Lite quantizes inputs in this way (`tensorflow/lite/kernels/internal/quantization_util.h`,
/// `TfLiteRound`).
pub(crate) fn half_away(value: f32, quantization: &Quantization) -> i128 {
    let steps = (value / quantization.scale(0)).round();
    // A quotient beyond 128 bits, including infinity, saturates. The limits are far outside any dtype.
    (steps as i128).saturating_add(quantization.zero_point(0).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_has_one_format() {
        let all: Vec<_> = FRONTENDS.iter().flat_map(|frontend| frontend.extensions()).collect();
        for (index, extension) in all.iter().enumerate() {
            assert!(!all[..index].contains(extension), "{extension}");
            let found = frontend(Path::new(&format!("net.{}", extension.to_uppercase()))).unwrap();
            assert!(found.extensions().contains(extension) && !found.name().is_empty());
        }
        assert_eq!(network_files(), ".tflite, .onnx or graph .yaml");
        assert_eq!(network_extensions(), ".tflite, .onnx, .yaml or .yml");
    }
}
