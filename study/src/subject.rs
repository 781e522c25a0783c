//! What is simulated: a network on samples, loaded and checked before anything is run or written.

use std::path::Path;
use std::sync::Arc;

use guardbit_graph::{Graph, TensorId};
use guardbit_hwmodels::{Accelerator, Program, lower};
use serde::Serialize;
use serde_json::Value;

use crate::digest::{sha256, sha256_of, sha256_of_file};
use crate::samples::Samples;
use crate::score::ScoredOutputs;
use crate::{InputSource, Progress, Settings, StudyError, labels};

/// A network with its samples and labels.
#[derive(Debug)]
pub(crate) struct Subject {
    pub graph: Arc<Graph>,
    pub model: FileId,
    pub samples: Samples,
    pub input: InputId,
    pub labels: Option<Vec<usize>>,
    pub labels_file: Option<FileId>,
    pub outputs: ScoredOutputs,
}

/// A file by name and content; its folder makes no difference to results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FileId {
    pub file: String,
    pub sha256: String,
}

/// The samples by origin and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct InputId {
    #[serde(flatten)]
    pub origin: InputOrigin,
    pub samples: usize,
    /// Real values outside what the input's codes stand for.
    #[serde(skip_serializing_if = "is_zero")]
    pub clipped: u64,
}

/// Where samples came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum InputOrigin {
    File(FileId),
    /// The hash is that of the codes as little-endian 32-bit integers, input after input.
    Random {
        random: usize,
        seed: u64,
        sha256: String,
    },
}

/// An accelerator by name and content.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct HwId {
    pub name: String,
    pub sha256: String,
    pub resolved: Value,
}

impl FileId {
    pub fn of(path: &Path) -> Result<Self, StudyError> {
        let sha256 = sha256_of_file(path).map_err(|source| StudyError::Read { path: path.into(), source })?;
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { file, sha256 })
    }
}

impl HwId {
    pub fn of(accelerator: &Accelerator) -> Self {
        let resolved = accelerator.resolved_json();
        let sha256 = sha256(resolved.to_string().as_bytes());
        Self { name: accelerator.name.clone(), sha256, resolved }
    }
}

impl Subject {
    pub fn load(model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        let graph = guardbit_frontends::load(model)?;
        let samples = Samples::load(&graph, &settings.input)?;
        let outputs = ScoredOutputs::choose(&graph, settings.output.as_deref(), settings.labels.is_some())?;
        let classes = |id: TensorId| graph.tensor(id).ty.len();
        let labels = match (&settings.labels, outputs.classes) {
            (Some(path), Some(id)) => Some(labels::load(path, samples.count(), classes(id))?),
            _ => None,
        };
        let origin = match &settings.input {
            InputSource::File(path) => InputOrigin::File(FileId::of(path)?),
            InputSource::Random { count, seed } => {
                // Codes from a seed cannot fail to be read.
                let pieces = samples.inputs().flat_map(|(_, pieces)| pieces).flatten();
                let bytes =
                    pieces.map(|codes| codes.into_iter().flat_map(i32::to_le_bytes).collect::<Vec<_>>());
                InputOrigin::Random { random: *count, seed: *seed, sha256: sha256_of(bytes) }
            }
        };
        Ok(Self {
            model: FileId::of(model)?,
            input: InputId { origin, samples: samples.count(), clipped: samples.clipped() },
            labels_file: settings.labels.as_deref().map(FileId::of).transpose()?,
            graph: Arc::new(graph),
            samples,
            labels,
            outputs,
        })
    }

    /// The network on an accelerator.
    pub fn lower(&self, accelerator: &Accelerator) -> Result<Program, StudyError> {
        let program = lower(Arc::clone(&self.graph), accelerator)?;
        if program.mac_layers().next().is_none() {
            let (hw, model) = (accelerator.name.clone(), self.model.file.clone());
            return Err(StudyError::NothingOffloaded { hw, model });
        }
        Ok(program)
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl InputId {
    /// Says how many real values were clipped, if any were.
    pub fn note_clipped(&self, progress: &dyn Progress) {
        if self.clipped > 0 {
            let InputOrigin::File(file) = &self.origin else { return };
            progress.note(&format!(
                "{}: {} real values lie outside what the input's codes stand for and were clipped",
                file.file, self.clipped
            ));
        }
    }

    /// In words.
    pub fn describe(&self) -> String {
        match &self.origin {
            InputOrigin::File(file) => {
                let clipped = match self.clipped {
                    0 => String::new(),
                    clipped => format!(", {clipped} values clipped"),
                };
                format!("{} ({} samples{clipped})", file.file, self.samples)
            }
            InputOrigin::Random { random, seed, .. } => format!("{random} random samples, seed {seed}"),
        }
    }
}
