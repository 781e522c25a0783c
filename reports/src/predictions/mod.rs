//! What a network said of every sample.

mod outcomes;

pub use outcomes::{OutcomeKind, Outcomes};

use std::io::Cursor;

use guardbit_graph::{DType, word_of};

use crate::tables::arrays::{self, NpzKey};
use crate::{NpzWriter, ReportError, Score, batch_shape};

/// What the exact network and the narrow hardware said of every sample, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Predictions {
    /// The class that each sample has, or for a detector whether it is an anomaly; `None` without labels.
    pub labels: Option<Vec<i32>>,
    /// Top-1 classes; `None` where no output holds one score per class.
    pub classes: Option<PerSample<i32>>,
    /// Scores of a detector: the greater, the less usual. `None` where nothing is detected.
    pub scores: Option<PerSample<f32>>,
    /// Outputs that are small.
    pub outputs: Vec<PredictedOutput>,
}

/// What came out of the samples of a run or a point.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdict {
    /// Counts over them.
    pub score: Score,
    /// Each of them.
    pub predictions: Predictions,
    /// Number of classes; 0 where nothing is classified.
    pub classes: usize,
}

/// One value per sample.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PerSample<T> {
    /// Of the exact network.
    pub exact: Vec<T>,
    /// Of the narrow hardware; `None` in isolated mode.
    pub simulated: Option<Vec<T>>,
}

/// The codes of an output over all samples.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedOutput {
    /// The tensor's name.
    pub name: String,
    /// Type of its codes.
    pub dtype: DType,
    /// Shape in the network.
    pub shape: Vec<usize>,
    /// Codes, sample after sample.
    pub codes: PerSample<i32>,
}

impl<T> PerSample<T> {
    /// Nothing yet, of both runs or of the exact one alone.
    pub fn new(both: bool) -> Self {
        Self { exact: Vec::new(), simulated: both.then(Vec::new) }
    }

    /// Adds the next values.
    pub fn extend(&mut self, exact: impl IntoIterator<Item = T>, simulated: impl IntoIterator<Item = T>) {
        self.exact.extend(exact);
        if let Some(mine) = &mut self.simulated {
            mine.extend(simulated);
        }
    }

    /// The runs that there are, as [`arrays`] names them.
    fn runs(&self) -> impl Iterator<Item = &Vec<T>> {
        std::iter::once(&self.exact).chain(&self.simulated)
    }
}

impl Predictions {
    /// Which samples the narrow hardware classifies as labelled, or without labels as the exact network does. `None` where
    /// it classifies nothing.
    pub fn outcomes(&self) -> Option<Outcomes> {
        let classes = self.classes.as_ref()?;
        let simulated = classes.simulated.as_ref()?;
        let (kind, wanted) = match &self.labels {
            Some(labels) => (OutcomeKind::Accuracy, labels),
            None => (OutcomeKind::Agreement, &classes.exact),
        };
        Some(Outcomes::new(kind, simulated.iter().zip(wanted).map(|(class, wanted)| class == wanted)))
    }

    /// `predictions.npz`.
    ///
    /// # Errors
    /// [`ReportError::Npz`].
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
