//! Progress of a search for a quantized network, and the results that it stores for the next search.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use guardbit_files::{Digest, Hasher, Store, is_sealed, read_text};
use guardbit_graph::{CodeRange, Graph};
use guardbit_hwmodels::Accelerator;
use guardbit_quantize::search::mixed::{Choices, NetworkChoices, Point, Precision};
use guardbit_quantize::{
    Config, LayerInput, LayerParameters, LayerProblem, Parameters, QuantizeError, Sample, Watch, WeightCodes,
};
use guardbit_sim::ARITHMETIC_VERSION;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Progress, StudyError, TOOL, Tool, identity};

/// Maximum bytes of a file.
const LIMIT: u64 = 1 << 30;

/// Finished layers and networks in a folder, named by what they depend on, and the progress of a search.
pub(super) struct Searched<'a> {
    store: Option<Store>,
    progress: &'a dyn Progress,
    /// Current unit, in words.
    unit: Mutex<String>,
    /// Number of candidates evaluated for this unit.
    candidates: AtomicUsize,
    /// Number of layers and networks taken from the folder.
    taken: AtomicUsize,
}

/// File of the folder, as written.
#[derive(Serialize)]
struct Kept<T> {
    tool: Tool,
    value: T,
}

/// File of the folder, as read.
#[derive(Deserialize)]
struct Found<T> {
    value: T,
}

impl<'a> Searched<'a> {
    /// Opens the folder and creates it if needed. Each version of guardbit has its own subfolder.
    pub fn new(folder: Option<&Path>, progress: &'a dyn Progress) -> Result<Self, StudyError> {
        let name = format!("guardbit-searches-{}-{ARITHMETIC_VERSION}", TOOL.version);
        let store = folder.map(|folder| Store::open(&folder.join(name))).transpose()?;
        let (unit, candidates, taken) = (Mutex::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        Ok(Self { store, progress, unit, candidates, taken })
    }

    /// Notes what was taken from the folder.
    pub fn end(&self) {
        let taken = self.taken.load(Ordering::Relaxed);
        if taken > 0 {
            self.progress.note(&format!("{taken} finished parts of the search are from the cache"));
        }
    }

    fn value<T: DeserializeOwned>(&self, key: Digest) -> Option<T> {
        let path = self.store.as_ref()?.path(&key.to_string());
        let text = read_text(&path, LIMIT).ok()?;
        let found = serde_json::from_str::<Found<T>>(&text).ok().filter(|_| is_sealed(&text));
        match found {
            Some(Found { value }) => {
                self.taken.fetch_add(1, Ordering::Relaxed);
                Some(value)
            }
            None => {
                self.progress.note(&format!("{}: is damaged and ignored; remove it", path.display()));
                None
            }
        }
    }

    /// Stores a value. If the folder accepts no more files, only the next search is slower.
    fn keep<T: Serialize>(&self, key: Digest, value: T) {
        let Some(store) = &self.store else { return };
        if let Err(error) = store.add(&key.to_string(), &crate::sealed(&Kept { tool: TOOL, value })) {
            self.progress.note(&format!("cannot cache a finished part of the search: {error}"));
        }
    }
}

/// Parameters of a layer; real values are stored as bits.
#[derive(Serialize, Deserialize)]
struct StoredLayer {
    input: (u32, i32),
    input_codes: (i32, i32),
    scales: Vec<u32>,
    zero_points: Vec<i32>,
    codes: Vec<i32>,
    bias: Option<Vec<i32>>,
    output: (u32, i32),
}

impl StoredLayer {
    fn of(layer: &LayerParameters) -> Self {
        let pair = |parameters: Parameters| (parameters.scale.to_bits(), parameters.zero_point);
        let LayerParameters { input, input_codes, weights, bias, output } = layer;
        Self {
            input: pair(*input),
            input_codes: input_codes.ends(),
            scales: weights.scales.iter().map(|scale| scale.to_bits()).collect(),
            zero_points: weights.zero_points.clone(),
            codes: weights.codes.clone(),
            bias: bias.clone(),
            output: pair(*output),
        }
    }

    fn layer(self) -> Option<LayerParameters> {
        let parameters = |(scale, zero_point)| Parameters { scale: f32::from_bits(scale), zero_point };
        let scales = self.scales.into_iter().map(f32::from_bits).collect();
        Some(LayerParameters {
            input: parameters(self.input),
            input_codes: CodeRange::new(self.input_codes.0, self.input_codes.1)?,
            weights: WeightCodes { scales, zero_points: self.zero_points, codes: self.codes },
            bias: self.bias,
            output: parameters(self.output),
        })
    }
}

/// Returns the SHA-256 of real values.
fn of_reals<'r>(values: impl IntoIterator<Item = &'r [f32]>) -> Digest {
    let mut hasher = Hasher::default();
    for values in values {
        hasher.update(&(values.len() as u64).to_le_bytes());
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_bits().to_le_bytes()).collect();
        hasher.update(&bytes);
    }
    hasher.finish()
}

/// Returns the digest of everything that a method's choice for a layer depends on; `None` for a layer whose
/// plain parameters give no valid network.
fn of_layer(method: &str, layer: &LayerProblem<'_>) -> Option<Digest> {
    let graph = layer.plain_graph().ok()?;
    let reals = [layer.weights, layer.bias.unwrap_or_default()];
    let own = (
        (method, identity::of_graph(&graph), identity::of_accelerator(layer.accelerator)),
        (format!("{:?} {:?}", layer.class, layer.targets), layer.bias.is_some()),
        (matches!(layer.input, LayerInput::Free(_)), of_reals(reals)),
        of_reals(layer.samples.iter().map(Vec::as_slice)),
        of_reals(layer.outputs.iter().map(Vec::as_slice)),
        Digest::of_json(&StoredLayer::of(&layer.plain)),
    );
    Some(Digest::of_json(&own))
}

impl Watch for Searched<'_> {
    fn unit(&self, index: usize, count: usize, name: &str) {
        let text = format!("part {} of {count}, {name}", index + 1);
        self.progress.step(&text);
        *self.unit.lock().unwrap_or_else(PoisonError::into_inner) = text;
        self.candidates.store(0, Ordering::Relaxed);
    }

    fn candidate(&self, method: &str) {
        let number = self.candidates.fetch_add(1, Ordering::Relaxed) + 1;
        let unit = self.unit.lock().unwrap_or_else(PoisonError::into_inner);
        self.progress.step(&format!("{method}: {unit}, candidate {number}"));
    }

    fn found(&self, method: &str, layer: &LayerProblem<'_>) -> Option<LayerParameters> {
        self.store.as_ref()?;
        self.value::<StoredLayer>(of_layer(method, layer)?)?.layer()
    }

    fn chosen(&self, method: &str, layer: &LayerProblem<'_>, parameters: &LayerParameters) {
        if self.store.is_some()
            && let Some(key) = of_layer(method, layer)
        {
            self.keep(key, StoredLayer::of(parameters));
        }
    }
}

/// Result of a network with mixed widths; real values are stored as bits.
#[derive(Serialize, Deserialize)]
struct StoredPoint {
    error: u64,
    accuracy: u64,
    bytes: u64,
    layer_bits: Vec<u32>,
}

/// Networks of mixed widths, each evaluated once.
pub(super) struct SearchedChoices<'c, 'a> {
    choices: &'c NetworkChoices<'c>,
    searched: &'c Searched<'a>,
    /// Digest of everything that points depend on, except their steps.
    origin: Digest,
    looked_at: AtomicUsize,
}

impl<'c, 'a> SearchedChoices<'c, 'a> {
    /// Creates the choices for a float network, samples, a configuration and an accelerator, with these
    /// widths.
    pub fn new(
        choices: &'c NetworkChoices<'c>,
        searched: &'c Searched<'a>,
        float: &Graph,
        samples: &[Sample],
        config: &Config,
        accelerator: &Accelerator,
        widths: &[Precision],
    ) -> Self {
        let samples = of_reals(samples.iter().flatten().map(Vec::as_slice));
        let settings = format!("{config:?} {widths:?}");
        let origin = (identity::of_graph(float), identity::of_accelerator(accelerator), samples, settings);
        Self { choices, searched, origin: Digest::of_json(&origin), looked_at: AtomicUsize::new(0) }
    }
}

impl Choices for SearchedChoices<'_, '_> {
    fn steps(&self) -> Vec<usize> {
        self.choices.steps()
    }

    fn point(&self, steps: &[usize]) -> Result<Point, QuantizeError> {
        let number = self.looked_at.fetch_add(1, Ordering::Relaxed) + 1;
        self.searched.progress.step(&format!("mixed widths: network {number}"));
        let key = Digest::of_json(&(self.origin, steps));
        if let Some(StoredPoint { error, accuracy, bytes, layer_bits }) = self.searched.value(key) {
            let (error, accuracy) = (f64::from_bits(error), f64::from_bits(accuracy));
            return Ok(Point { steps: steps.to_vec(), error, accuracy, bytes, layer_bits });
        }
        let point = self.choices.point(steps)?;
        let (error, accuracy) = (point.error.to_bits(), point.accuracy.to_bits());
        let layer_bits = point.layer_bits.clone();
        self.searched.keep(key, StoredPoint { error, accuracy, bytes: point.bytes, layer_bits });
        Ok(point)
    }
}
