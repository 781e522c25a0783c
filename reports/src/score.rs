//! What a network as a whole did.

use guardbit_sim::{Accumulate, SquaredError};
use serde::{Deserialize, Serialize};

use crate::statistics::six_digits;
use crate::{Decibel, Discordant, Fraction, Interval, McNemar, McNemarTest};

/// What an output is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Its greatest element is the class.
    Classify,
    /// Its elements are the values.
    Regress,
    /// It tells anomalies: by how far it is from the network's input, or by its only element.
    Detect,
}

/// What a network did over some samples, as the narrow hardware ran it: counts. `None` stands for what is undefined.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Score {
    /// Samples run.
    pub samples: u64,
    /// What the output is judged by; `None` if it is only compared with the exact one.
    pub task: Option<Task>,
    /// Samples whose top-1 class is that of the exact network. Undefined in isolated mode, and where no output holds one
    /// score per class.
    pub agreeing: Option<u64>,
    /// Samples that the exact network classifies as labelled. Undefined without labels.
    pub right_exact: Option<u64>,
    /// Samples that the narrow hardware classifies as labelled. Undefined without labels and in isolated mode.
    pub right: Option<u64>,
    /// Samples that only the exact network classifies as labelled, and those that only the narrow hardware does. Undefined
    /// as [`right`](Self::right) is.
    pub discordant: Option<Discordant>,
    /// Output codes that differ from the exact network; in isolated mode summed over the layers.
    pub output_mismatch: u64,
    /// Per output that is compared. Undefined in isolated mode.
    pub output_errors: Option<Vec<OutputError>>,
    /// How far regressed values are from their labels. Undefined without such labels.
    pub label_error: Option<LabelError>,
    /// How well the exact network's scores tell anomalies. Undefined without labels of both kinds.
    pub auc_exact: Option<f64>,
    /// How well those of the narrow hardware do. Undefined in isolated mode too.
    pub auc: Option<f64>,
}

/// How one output differs from that of the exact network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputError {
    /// The output's scale.
    pub scale: f32,
    /// In steps of it.
    pub error: SquaredError,
    /// Values compared.
    pub values: u64,
}

/// How far values are from their labels, in real units.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LabelError {
    /// Values with a label.
    pub values: u64,
    /// Sum of squares of the exact network's errors.
    pub exact: f64,
    /// The same of the narrow hardware. Undefined in isolated mode.
    pub simulated: Option<f64>,
}

impl Accumulate for OutputError {
    fn empty(&self) -> Self {
        Self { error: self.error.empty(), values: 0, ..*self }
    }

    fn merge(&mut self, other: Self) {
        self.error.merge(other.error);
        self.values += other.values;
    }
}

/// A score as files and pages show it. Intervals are Wilson's, of 95 %.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreFigures {
    /// Samples run.
    pub samples: u64,
    /// Share of the samples whose top-1 class is that of the exact network.
    pub top1_agreement: Option<Fraction>,
    /// Accuracy of the exact network.
    pub accuracy_exact: Option<Fraction>,
    /// Accuracy on the narrow hardware.
    pub accuracy: Option<Fraction>,
    /// Output codes that differ from the exact network; in isolated mode summed over the layers.
    pub output_mismatch: u64,
    /// Of the network's output against the exact one. In JSON, where no number is infinite, also `null` without noise:
    /// then `output_mismatch` is 0.
    pub output_sqnr_db: Option<Decibel>,
    /// Of [`top1_agreement`](Self::top1_agreement).
    pub agreement_interval: Option<Interval>,
    /// Of [`accuracy_exact`](Self::accuracy_exact).
    pub accuracy_exact_interval: Option<Interval>,
    /// Of [`accuracy`](Self::accuracy).
    pub accuracy_interval: Option<Interval>,
    /// Samples that only the exact network classifies as labelled.
    pub lost: Option<u64>,
    /// Samples that only the narrow hardware classifies as labelled.
    pub gained: Option<u64>,
    /// McNemar's test of the two: the probability of such numbers if both were equally good.
    pub mcnemar_p: Option<f64>,
    /// How that was found.
    pub mcnemar_test: Option<McNemarTest>,
    /// What the output is judged by.
    pub task: Option<Task>,
    /// Mean squared error of the output's real values against the exact network's.
    pub output_mse: Option<f64>,
    /// Mean squared error of the exact network's values against their labels.
    pub mse_exact: Option<f64>,
    /// Mean squared error of the narrow hardware's values against their labels.
    pub mse: Option<f64>,
    /// Area under the ROC curve of the exact network's scores.
    pub auc_exact: Option<Fraction>,
    /// Area under the ROC curve of the narrow hardware's scores.
    pub auc: Option<Fraction>,
    /// Samples whose top-1 class is that of the exact network: `top1_agreement` as a count.
    pub agreeing: Option<u64>,
    /// Samples that the exact network classifies as labelled: `accuracy_exact` as a count.
    pub right_exact: Option<u64>,
    /// Samples that the narrow hardware classifies as labelled: `accuracy` as a count.
    pub right: Option<u64>,
}

impl From<&Score> for ScoreFigures {
    fn from(score: &Score) -> Self {
        let share = |count: Option<u64>| count.and_then(|count| Fraction::of(count, score.samples));
        let interval = |count: Option<u64>| count.and_then(|count| Interval::of(count, score.samples));
        let test: Option<McNemar> = score.discordant.map(Discordant::mcnemar);
        let error = score.label_error;
        let mean = |sum: f64, values: u64| finite(sum / values as f64);
        Self {
            samples: score.samples,
            top1_agreement: share(score.agreeing),
            accuracy_exact: share(score.right_exact),
            accuracy: share(score.right),
            output_mismatch: score.output_mismatch,
            output_sqnr_db: score.output_errors.as_deref().map(|errors| Decibel::new(sqnr_db(errors))),
            agreement_interval: interval(score.agreeing),
            accuracy_exact_interval: interval(score.right_exact),
            accuracy_interval: interval(score.right),
            lost: score.discordant.map(|pairs| pairs.first),
            gained: score.discordant.map(|pairs| pairs.second),
            mcnemar_p: test.map(|test| test.p),
            mcnemar_test: test.map(|test| test.test),
            task: score.task,
            output_mse: score.output_errors.as_deref().and_then(mse),
            mse_exact: error.and_then(|error| mean(error.exact, error.values)),
            mse: error.and_then(|error| mean(error.simulated?, error.values)),
            auc_exact: score.auc_exact.map(Fraction::new),
            auc: score.auc.map(Fraction::new),
            agreeing: score.agreeing,
            right_exact: score.right_exact,
            right: score.right,
        }
    }
}

/// Six digits of a number; JSON has no other.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then(|| six_digits(value))
}

/// Sums of squares over all outputs, in real units: of the exact values, and of the errors.
fn squares(errors: &[OutputError]) -> [f64; 2] {
    let (mut signal, mut noise) = (0.0, 0.0);
    for &OutputError { scale, error, .. } in errors {
        let scale = f64::from(scale);
        signal += scale * scale * error.signal as f64;
        noise += scale * scale * error.noise as f64;
    }
    [signal, noise]
}

/// Over all outputs, in real units.
fn sqnr_db(errors: &[OutputError]) -> f64 {
    if let [only] = errors {
        return only.error.sqnr_db();
    }
    let [signal, noise] = squares(errors);
    guardbit_sim::sqnr_db(signal, noise)
}

/// Mean squared error over the values of all outputs.
fn mse(errors: &[OutputError]) -> Option<f64> {
    let values: u64 = errors.iter().map(|error| error.values).sum();
    let [_, noise] = squares(errors);
    (values > 0).then_some(noise / values as f64).and_then(finite)
}

impl Task {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Classify, Self::Regress, Self::Detect];

    /// Its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classify => "classify",
            Self::Regress => "regress",
            Self::Detect => "detect",
        }
    }
}

impl std::str::FromStr for Task {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|task| task.name() == text);
        found.ok_or_else(|| format!("unknown task `{text}`; there are classify, regress and detect"))
    }
}
