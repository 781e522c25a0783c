//! What a format is, and networks by file name.

use std::fmt::Debug;
use std::path::Path;

use guardbit_graph::{Graph, Quantization};

use crate::{Dims, FRONTENDS, FrontendError, Profile};

/// A reader of the network files of one format.
pub trait Frontend: Debug + Sync {
    /// Name of the format.
    fn name(&self) -> &'static str;

    /// What its file names end in: lower case, without the dot, the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// What help texts call its files.
    fn files(&self) -> String {
        format!(".{}", self.extensions().first().unwrap_or(&""))
    }

    /// Reads the file at `path`. The network is called `name`, unless the file names it.
    ///
    /// # Errors
    /// [`FrontendError`] if the file cannot be read, or is no quantized network that guardbit can represent.
    fn read(&self, path: &Path, name: &str) -> Result<Graph, FrontendError>;

    /// Reads the file at `path` as a runtime of that profile does, where the format leaves rounding to the runtime.
    ///
    /// # Errors
    /// As [`read`](Self::read), and for formats that say how to round.
    fn read_as(&self, path: &Path, name: &str, profile: Profile) -> Result<Graph, FrontendError> {
        let _ = name;
        Err(FrontendError::Profile { file: path.into(), format: self.name(), profile })
    }

    /// Reads the file at `path` with lengths for axes that it leaves open.
    ///
    /// # Errors
    /// As [`read`](Self::read), and with a profile as [`read_as`](Self::read_as). Formats without open axes refuse lengths, and
    /// the others those of axes that the file does not leave open.
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

    /// Reads the part of a network that the file's tensors `to` depend on: they are its outputs, and operators behind them
    /// need not be known. Returns `None` if the format or the file has no such tensors.
    ///
    /// # Errors
    /// As [`read_sized`](Self::read_sized).
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

    /// The code of a finite real value at an input of the network, not yet clamped to the input's dtype, as the runtime of
    /// the format has it.
    fn quantize_input(&self, value: f32, quantization: &Quantization) -> i128;
}

/// The format of a file, by its name.
///
/// # Errors
/// [`FrontendError`] if no format has such file names.
pub fn frontend(path: &Path) -> Result<&'static dyn Frontend, FrontendError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let found = FRONTENDS.iter().find(|frontend| frontend.extensions().contains(&extension.as_str()));
    found.copied().ok_or_else(|| FrontendError::UnknownExtension { file: path.into() })
}

/// What is taken of a file: a part of the network by names of tensors, the whole network by default, and lengths for axes that
/// the file leaves open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cut {
    /// Tensors that become inputs.
    pub from: Vec<String>,
    /// Tensors that become the outputs.
    pub to: Vec<String>,
    /// Lengths of axes.
    pub dims: Dims,
}

/// Reads a part of a network from a file of any format, as a runtime of that profile does. The network is named after the
/// file, unless the file names it.
///
/// `to` are tensors of the file if it has all of them, and otherwise, like `from`, tensors or nodes of the network as it is
/// read ([`Graph::cut`]). Operators behind tensors of a TFLite or ONNX file are not read.
///
/// # Errors
/// [`FrontendError`] as [`load_as`] has it, or if the network has no such part.
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

/// Reads a network from a file of any format. The network is named after the file, unless the file names it.
///
/// # Errors
/// [`FrontendError`] if the file cannot be read, or is no quantized network that guardbit can represent.
pub fn load(path: &Path) -> Result<Graph, FrontendError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    frontend(path)?.read(path, &name)
}

/// As [`load`], as a runtime of that profile does.
///
/// # Errors
/// [`FrontendError`] if the file cannot be read, or profiles are nothing for its format.
pub fn load_as(path: &Path, profile: Profile) -> Result<Graph, FrontendError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    frontend(path)?.read_as(path, &name, profile)
}

/// The files that can be read, for help texts: `.tflite, .onnx or graph .yaml`.
pub fn network_files() -> String {
    either(FRONTENDS.iter().map(|frontend| frontend.files()))
}

/// The endings of files that can be read: `.tflite, .onnx, .yaml or .yml`.
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

/// `value / scale` in float32, rounded half away from zero, moved by the zero point: how TensorFlow Lite quantizes inputs
/// (`tensorflow/lite/kernels/internal/quantization_util.h`, `TfLiteRound`).
pub(crate) fn half_away(value: f32, quantization: &Quantization) -> i128 {
    let steps = (value / quantization.scale(0)).round();
    // Both ends of i128 are far outside any dtype; a quotient beyond them, infinity too, becomes the end.
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
