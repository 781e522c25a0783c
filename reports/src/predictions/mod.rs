//! Predictions of a network for every sample.

mod outcomes;

pub use outcomes::{OutcomeKind, Outcomes};

use std::io::Cursor;

use guardbit_graph::{DType, word_of};

use crate::tables::arrays::{self, NpzKey};
use crate::{NpzWriter, ReportError, Score, batch_shape};

/// Predictions of the exact network and of the narrow hardware for every sample, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Predictions {
    /// Label of each sample: its class, or for a detector whether it is an anomaly. `None` without labels.
    pub labels: Option<Vec<i32>>,
    /// Top-1 classes; `None` if no output holds one score per class.
    pub classes: Option<PerSample<i32>>,
    /// Scores of a detector, which are greater the more unusual a sample is. `None` if nothing is detected.
    pub scores: Option<PerSample<f32>>,
    /// Codes of the small outputs.
    pub outputs: Vec<PredictedOutput>,
}

/// Results on the samples of a run or a point.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdict {
    /// Counts over all samples.
    pub score: Score,
    /// Predictions for each sample.
    pub predictions: Predictions,
    /// Number of classes; 0 if nothing is classified.
    pub classes: usize,
}

/// One value per sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PerSample<T> {
    /// Values of the exact network.
    pub exact: Vec<T>,
    /// Values of the narrow hardware; `None` in isolated mode.
    pub simulated: Option<Vec<T>>,
}

/// Codes of an output over all samples.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedOutput {
    /// Name of the tensor.
    pub name: String,
    /// Type of its codes.
    pub dtype: DType,
    /// Shape in the network.
    pub shape: Vec<usize>,
    /// Codes in order of the samples.
    pub codes: PerSample<i32>,
}

impl<T> PerSample<T> {
    /// Creates empty lists: for both runs if `both` is set, otherwise for the exact one alone.
    pub fn new(both: bool) -> Self {
        Self { exact: Vec::new(), simulated: both.then(Vec::new) }
    }

    /// Appends values.
    pub fn extend(&mut self, exact: impl IntoIterator<Item = T>, simulated: impl IntoIterator<Item = T>) {
        self.exact.extend(exact);
        if let Some(mine) = &mut self.simulated {
            mine.extend(simulated);
        }
    }

    /// Returns the available runs, in the order in which [`arrays`] names them.
    fn runs(&self) -> impl Iterator<Item = &Vec<T>> {
        std::iter::once(&self.exact).chain(&self.simulated)
    }
}

impl Predictions {
    /// Returns which samples the narrow hardware classifies as labelled, or without labels as the exact
    /// network does. Returns `None` if it classifies nothing.
    pub fn outcomes(&self) -> Option<Outcomes> {
        let classes = self.classes.as_ref()?;
        let simulated = classes.simulated.as_ref()?;
        let (kind, wanted) = match &self.labels {
            Some(labels) => (OutcomeKind::Accuracy, labels),
            None => (OutcomeKind::Agreement, &classes.exact),
        };
        Some(Outcomes::new(kind, simulated.iter().zip(wanted).map(|(class, wanted)| class == wanted)))
    }

    /// Returns the content of `predictions.npz`.
    ///
    /// # Errors
    /// [`ReportError::Npz`] if the archive cannot be written.
    pub fn npz(&self) -> Result<Vec<u8>, ReportError> {
        let mut npz = NpzWriter::new(Cursor::new(Vec::new()));
        let mut add = |key: &NpzKey, dtype, values: Vec<i32>| {
            let shape = [values.len()];
            npz.add(key.name, dtype, &shape, values)
        };
        if let Some(labels) = &self.labels {
            add(&arrays::LABEL, DType::Int32, labels.clone())?;
        }
        for (key, classes) in arrays::CLASSES.iter().zip(self.classes.iter().flat_map(PerSample::runs)) {
            add(key, DType::Int32, classes.clone())?;
        }
        for (key, scores) in arrays::SCORES.iter().zip(self.scores.iter().flat_map(PerSample::runs)) {
            add(key, DType::Float32, scores.iter().copied().map(word_of).collect())?;
        }
        for output in &self.outputs {
            let len = output.shape.iter().product::<usize>().max(1);
            for (run, codes) in arrays::RUNS.iter().zip(output.codes.runs()) {
                let shape = batch_shape(&output.shape, codes.len() / len);
                npz.add(&format!("{run}/{}", output.name), output.dtype, &shape, codes.iter().copied())?;
            }
        }
        Ok(npz.finish()?.into_inner())
    }
}
