//! Subject of a simulation: a network with samples, loaded and checked before anything is run or written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use guardbit_files::Digest;
use guardbit_frontends::{Cut, Dims};
use guardbit_graph::Graph;
use guardbit_hwmodels::{Accelerator, Lowering, Program, lower};
use guardbit_reports::{CoverageRecord, counted};
use guardbit_sim::Mode;
use serde::Serialize;
use serde_json::Value;

use crate::error::Wanted;
use crate::identity::{self, DependsOn, Sources};
use crate::labels::{LabelFile, Labels};
use crate::layer_input::accelerated;
use crate::samples::Samples;
use crate::score::{ScoredNames, ScoredOutputs, Scoring};
use crate::{InputSource, Pick, Progress, Settings, StudyError};

/// Network with its samples and labels.
#[derive(Debug)]
pub(crate) struct Subject {
    pub graph: Arc<Graph>,
    lowering: Arc<Lowering>,
    pub model: FileId,
    pub samples: Samples,
    pub input: InputId,
    pub labels: Option<Labels>,
    pub labels_file: Option<FileId>,
    pub outputs: ScoredOutputs,
}

/// File by name and content; its folder makes no difference to results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FileId {
    pub file: String,
    /// Digest of the data read from it and from the files that it refers to: see [`crate::identity`].
    pub sha256: Digest,
    /// Digest of the file's bytes.
    pub file_sha256: Digest,
    /// Inputs and outputs of a part of a network.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Lengths given for axes that the file leaves open.
    #[serde(skip_serializing_if = "Dims::is_empty")]
    pub dim: Dims,
}

/// Samples by origin and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct InputId {
    #[serde(flatten)]
    pub origin: InputOrigin,
    pub samples: usize,
    /// Digest of the codes: see [`crate::identity`].
    pub sha256: Digest,
    /// Number of real values outside the range of the input's codes.
    #[serde(skip_serializing_if = "is_zero")]
    pub clipped: u64,
    /// Doubts about real values.
    #[serde(skip)]
    pub doubts: Vec<String>,
}

/// Origin of samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum InputOrigin {
    File { file: String, file_sha256: Digest, pick: Pick },
    Random { random: usize, seed: u64 },
}

/// Accelerator by name and content.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct HwId {
    pub name: String,
    /// Digest of its resolved form: see [`crate::identity`].
    pub sha256: Digest,
    pub resolved: Value,
}

/// Network with its identification, shared by subjects that differ only in samples.
#[derive(Debug)]
pub(crate) struct Network {
    lowering: Arc<Lowering>,
    file: FileId,
}

impl Network {
    pub fn load(model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        Self::of_graph(settings.network(model)?, model, settings)
    }

    fn of_graph(graph: Graph, model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        let Cut { from, to, dims } = settings.cut.clone();
        let file = FileId::new(model, identity::of_graph(&graph), Wanted::Model)?;
        Ok(Self {
            lowering: Arc::new(Lowering::new(Arc::new(graph))),
            file: FileId { from, to, dim: dims, ..file },
        })
    }
}

/// Settings that decide figures, common to all commands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CommonSettings {
    mode: &'static str,
    stats: &'static str,
    outputs: ScoredNames,
}

impl FileId {
    /// Returns a file with the digest of the data read from it.
    fn new(path: &Path, sha256: Digest, wanted: Wanted) -> Result<Self, StudyError> {
        let file_sha256 = file_digest(path, wanted)?;
        Ok(Self {
            file: file_name(path),
            sha256,
            file_sha256,
            from: Vec::new(),
            to: Vec::new(),
            dim: Dims::default(),
        })
    }
}

impl HwId {
    pub fn of(accelerator: &Accelerator) -> Self {
        Self {
            name: accelerator.name.clone(),
            sha256: identity::of_accelerator(accelerator),
            resolved: accelerator.resolved_json(),
        }
    }
}

impl Subject {
    /// Returns whether labels state the class of every sample.
    pub fn has_classes(&self) -> bool {
        self.labels.as_ref().and_then(Labels::classes).is_some()
    }

    pub fn load(model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        Self::of_graph(settings.network(model)?, model, settings)
    }

    /// Loads one layer of a network alone, with its accelerator in the network; the samples are the layer's
    /// inputs.
    pub fn load_layer(
        model: &Path,
        settings: &Settings,
        accelerator: &Accelerator,
        name_or_index: &str,
    ) -> Result<(Self, Accelerator), StudyError> {
        let program = lower(Arc::new(settings.network(model)?), accelerator)?;
        let node = accelerated(&program, name_or_index)?;
        let mut own = program.accelerator_of(node).clone();
        own.layers = Default::default();
        Ok((Self::of_graph(program.graph.single_node(node), model, settings)?, own))
    }

    /// Creates a subject from a graph in memory; `model` is its source file.
    pub fn of_graph(graph: Graph, model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        Self::of_network(&Network::of_graph(graph, model, settings)?, model, settings)
    }

    /// Creates a subject from a network that several subjects share.
    pub fn of_network(network: &Network, model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        let lowering = Arc::clone(&network.lowering);
        let graph = Arc::clone(lowering.graph());
        let samples = Samples::load(&graph, guardbit_frontends::frontend(model)?, &settings.input)?;
        let longest = graph.outputs().iter().map(|&id| graph.tensor(id).ty.len()).max().unwrap_or(0);
        let read = |path: &PathBuf| LabelFile::read(path, &samples, longest);
        let file = settings.labels.as_ref().map(read).transpose()?;
        let outputs =
            ScoredOutputs::choose(&graph, settings.output.as_deref(), file.as_ref(), settings.task)?;
        let labels = file.map_or(Ok(None), |file| outputs.labels(&graph, &file))?;
        let origin = match &settings.input {
            InputSource::File { path, pick } => {
                InputOrigin::File { file: file_name(path), file_sha256: samples.source_digest(), pick: *pick }
            }
            InputSource::Random { count, seed } => InputOrigin::Random { random: *count, seed: *seed },
        };
        let labels_file = settings.labels.as_ref().zip(labels.as_ref());
        let labels_file =
            labels_file.map(|(path, labels)| FileId::new(path, labels.digest(), Wanted::Labels));
        Ok(Self {
            model: network.file.clone(),
            input: InputId {
                origin,
                samples: samples.count(),
                sha256: samples.digest(),
                clipped: samples.clipped(),
                doubts: samples.doubts().to_vec(),
            },
            labels_file: labels_file.transpose()?,
            graph,
            lowering,
            samples,
            labels,
            outputs,
        })
    }

    /// Returns a key of the samples. Samples of other networks from one file have equal keys, whatever their
    /// codes.
    pub fn samples_key(&self) -> String {
        let origin = match &self.input.origin {
            InputOrigin::File { file_sha256, pick, .. } => (*file_sha256, pick.describe()),
            InputOrigin::Random { .. } => (self.input.sha256, None),
        };
        let labels = self.labels_file.as_ref().map(|file| file.sha256);
        Digest::of_json(&(origin, self.input.samples, labels)).to_string()
    }

    /// Returns what is scored.
    pub fn scoring(&self, mode: Mode) -> Scoring<'_> {
        let (graph, outputs, labels) = (&self.graph, &self.outputs, self.labels.as_ref());
        Scoring { graph, outputs, labels, mode, samples: self.samples.count() }
    }

    /// Lowers the network onto an accelerator, which may run none of its operations.
    pub fn lower_any(&self, accelerator: &Accelerator) -> Result<Program, StudyError> {
        Ok(self.lowering.lower(accelerator)?)
    }

    /// Lowers the network onto an accelerator that runs at least one of its operations.
    pub fn lower(&self, accelerator: &Accelerator) -> Result<Program, StudyError> {
        let program = self.lower_any(accelerator)?;
        if program.timed_layers().next().is_none() {
            let (hw, model) = (accelerator.name.clone(), self.model.file.clone());
            let host = CoverageRecord::new(&program).host_sentences();
            return Err(StudyError::NothingOffloaded { hw, model, host });
        }
        Ok(program)
    }

    /// Lowers the network onto an accelerator that runs at least one of its operations on integer codes.
    pub fn lower_codes(&self, accelerator: &Accelerator) -> Result<Program, StudyError> {
        let program = self.lower(accelerator)?;
        if program.mac_layers().next().is_none() {
            let (hw, model) = (accelerator.name.clone(), self.model.file.clone());
            return Err(StudyError::OnlyFloat { hw, model });
        }
        Ok(program)
    }

    /// Returns what a result of this subject on `accelerator` depends on.
    pub fn depends_on<S: Serialize>(&self, accelerator: &Accelerator, settings: S) -> DependsOn<S> {
        let sources = Sources {
            model: self.model.sha256,
            accelerator: identity::of_accelerator(accelerator),
            input: self.input.sha256,
            labels: self.labels_file.as_ref().map(|file| file.sha256),
        };
        DependsOn::new(sources, settings)
    }

    /// Returns the settings that decide the figures of a sweep's point. Other results add their own settings.
    pub fn settings(&self, settings: &Settings) -> CommonSettings {
        CommonSettings {
            mode: settings.mode.name(),
            stats: settings.stats.name(),
            outputs: self.outputs.names(&self.graph),
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl InputId {
    /// Notes the number of clipped real values, if any, and other doubts about them.
    pub fn note_doubts(&self, progress: &dyn Progress) {
        let InputOrigin::File { file, .. } = &self.origin else { return };
        self.doubts.iter().for_each(|doubt| progress.note(&format!("{file}: {doubt}")));
        if self.clipped > 0 {
            progress.note(&format!(
                "{file}: {} real values lie outside the range of the input's codes and were clipped",
                self.clipped
            ));
        }
    }

    /// Returns a description in words.
    pub fn describe(&self) -> String {
        match &self.origin {
            InputOrigin::File { file, pick, .. } => {
                let which = pick.describe().map_or(String::new(), |which| format!(", {which}"));
                let clipped = match self.clipped {
                    0 => String::new(),
                    clipped => format!(", {} clipped", counted(clipped, "value")),
                };
                format!("{file} ({}{which}{clipped})", counted(self.samples as u64, "sample"))
            }
            InputOrigin::Random { random, seed } => {
                format!("{}, seed {seed}", counted(*random as u64, "random sample"))
            }
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn file_digest(path: &Path, wanted: Wanted) -> Result<Digest, StudyError> {
    Digest::of_file(path).map_err(|source| StudyError::read(path, wanted, source))
}
