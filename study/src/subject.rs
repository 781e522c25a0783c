//! What is simulated: a network on samples, loaded and checked before anything is run or written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use guardbit_files::Digest;
use guardbit_frontends::{Cut, Dims};
use guardbit_graph::Graph;
use guardbit_hwmodels::{Accelerator, Program, lower};
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

/// A network with its samples and labels.
#[derive(Debug)]
pub(crate) struct Subject {
    pub graph: Arc<Graph>,
    pub model: FileId,
    pub samples: Samples,
    pub input: InputId,
    pub labels: Option<Labels>,
    pub labels_file: Option<FileId>,
    pub outputs: ScoredOutputs,
}

/// A file by name and content; its folder makes no difference to results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FileId {
    pub file: String,
    /// Of what was read from it, and from the files that it names: see [`crate::identity`].
    pub sha256: Digest,
    /// Of its bytes.
    pub file_sha256: Digest,
    /// Of a part of a network: tensors that are its inputs, and its outputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Lengths that axes were given which the file leaves open.
    #[serde(skip_serializing_if = "Dims::is_empty")]
    pub dim: Dims,
}

/// The samples by origin and content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct InputId {
    #[serde(flatten)]
    pub origin: InputOrigin,
    pub samples: usize,
    /// Of the codes: see [`crate::identity`].
    pub sha256: Digest,
    /// Real values outside what the input's codes stand for.
    #[serde(skip_serializing_if = "is_zero")]
    pub clipped: u64,
    /// What is doubtful about real values.
    #[serde(skip)]
    pub doubts: Vec<String>,
}

/// Where samples came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum InputOrigin {
    File { file: String, file_sha256: Digest, pick: Pick },
    Random { random: usize, seed: u64 },
}

/// An accelerator by name and content.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct HwId {
    pub name: String,
    /// Of what it resolves to: see [`crate::identity`].
    pub sha256: Digest,
    pub resolved: Value,
}

/// A network and what it is known by. Subjects that differ in samples share it.
#[derive(Debug)]
pub(crate) struct Network {
    graph: Arc<Graph>,
    file: FileId,
}

impl Network {
    pub fn load(model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        Self::of_graph(settings.network(model)?, model, settings)
    }

    fn of_graph(graph: Graph, model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        let Cut { from, to, dims } = settings.cut.clone();
        let file = FileId::new(model, identity::of_graph(&graph), Wanted::Model)?;
        Ok(Self { graph: Arc::new(graph), file: FileId { from, to, dim: dims, ..file } })
    }
}

/// The settings that decide figures, whatever else a command has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CommonSettings {
    mode: &'static str,
    stats: &'static str,
    outputs: ScoredNames,
}

impl FileId {
    /// A file with the content that was read from it.
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
    /// Whether labels say the class of every sample.
    pub fn has_classes(&self) -> bool {
        self.labels.as_ref().and_then(Labels::classes).is_some()
    }

    pub fn load(model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        Self::of_graph(settings.network(model)?, model, settings)
    }

    /// One layer of a network alone, with the accelerator that it has there; the samples are what the layer reads.
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

    /// A network that is at hand; `model` is the file that it is from.
    pub fn of_graph(graph: Graph, model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        Self::of_network(&Network::of_graph(graph, model, settings)?, model, settings)
    }

    /// A network that several subjects share.
    pub fn of_network(network: &Network, model: &Path, settings: &Settings) -> Result<Self, StudyError> {
        let graph = Arc::clone(&network.graph);
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
            samples,
            labels,
            outputs,
        })
    }

    /// What the samples are known by: those of other networks from the same file are the same, whatever their codes.
    pub fn samples_key(&self) -> String {
        let origin = match &self.input.origin {
            InputOrigin::File { file_sha256, pick, .. } => (*file_sha256, pick.describe()),
            InputOrigin::Random { .. } => (self.input.sha256, None),
        };
        let labels = self.labels_file.as_ref().map(|file| file.sha256);
        Digest::of_json(&(origin, self.input.samples, labels)).to_string()
    }

    /// What there is to score.
    pub fn scoring(&self, mode: Mode) -> Scoring<'_> {
        let (graph, outputs, labels) = (&self.graph, &self.outputs, self.labels.as_ref());
        Scoring { graph, outputs, labels, mode, samples: self.samples.count() }
    }

    /// The network on an accelerator, which may run none of its operations.
    pub fn lower_any(&self, accelerator: &Accelerator) -> Result<Program, StudyError> {
        Ok(lower(Arc::clone(&self.graph), accelerator)?)
    }

    /// The network on an accelerator that runs at least one of its operations.
    pub fn lower(&self, accelerator: &Accelerator) -> Result<Program, StudyError> {
        let program = self.lower_any(accelerator)?;
        if program.mac_layers().next().is_none() {
            let (hw, model) = (accelerator.name.clone(), self.model.file.clone());
            let host = CoverageRecord::new(&program).host_sentences();
            return Err(StudyError::NothingOffloaded { hw, model, host });
        }
        Ok(program)
    }

    /// What a result of this on `accelerator` depends on.
    pub fn depends_on<S: Serialize>(&self, accelerator: &Accelerator, settings: S) -> DependsOn<S> {
        let sources = Sources {
            model: self.model.sha256,
            accelerator: identity::of_accelerator(accelerator),
            input: self.input.sha256,
            labels: self.labels_file.as_ref().map(|file| file.sha256),
        };
        DependsOn::new(sources, settings)
    }

    /// The settings that decide the figures of a point of a sweep, and those of anything else beside its own.
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
    /// Says how many real values were clipped, if any were, and what else is doubtful about them.
    pub fn note_doubts(&self, progress: &dyn Progress) {
        let InputOrigin::File { file, .. } = &self.origin else { return };
        self.doubts.iter().for_each(|doubt| progress.note(&format!("{file}: {doubt}")));
        if self.clipped > 0 {
            progress.note(&format!(
                "{file}: {} real values lie outside what the input's codes stand for and were clipped",
                self.clipped
            ));
        }
    }

    /// In words.
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
