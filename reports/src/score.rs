//! Results of a network as a whole.

use guardbit_sim::{Accumulate, SquaredError};
use serde::{Deserialize, Serialize};

use crate::statistics::six_digits;
use crate::{Decibel, Discordant, Fraction, Interval, McNemar, McNemarTest};

/// Interpretation of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Classification: the index of the greatest element is the class.
    Classify,
    /// Regression: the elements are the values.
    Regress,
    /// Anomaly detection: the score is the distance from the network's input, or the only element of the
    /// output.
    Detect,
}

/// Counts of a network's results over some samples, as run by the narrow hardware. `None` stands for an
/// undefined result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Score {
    /// Number of samples run.
    pub samples: u64,
    /// Interpretation of the output; `None` if it is only compared with the exact output.
    pub task: Option<Task>,
    /// Number of samples whose top-1 class is that of the exact network. Undefined in isolated mode, and if
    /// no output holds one score per class.
    pub agreeing: Option<u64>,
    /// Number of samples that the exact network classifies as labelled. Undefined without labels.
    pub right_exact: Option<u64>,
    /// Number of samples that the narrow hardware classifies as labelled. Undefined without labels and in
    /// isolated mode.
    pub right: Option<u64>,
    /// Number of samples that only the exact network, or only the narrow hardware, classifies as labelled.
    /// Undefined under the conditions of [`right`](Self::right).
    pub discordant: Option<Discordant>,
    /// Number of output codes that differ from the exact network; in isolated mode summed over the layers.
    pub output_mismatch: u64,
    /// Error of every compared output. Undefined in isolated mode.
    pub output_errors: Option<Vec<OutputError>>,
    /// Difference of regressed values from their labels. Undefined without such labels.
    pub label_error: Option<LabelError>,
    /// Cross entropy of the scores with the labels. Undefined without labels of classes.
    pub loss: Option<Loss>,
    /// Area under the ROC curve of the exact network's anomaly scores. Undefined unless labels of both kinds
    /// occur.
    pub auc_exact: Option<f64>,
    /// Area under the ROC curve of the narrow hardware's anomaly scores. Undefined under the same conditions,
    /// and in isolated mode.
    pub auc: Option<f64>,
}

/// Difference of one output from that of the exact network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutputError {
    /// Scale of the output.
    pub scale: f32,
    /// Squared error in steps of the scale.
    pub error: SquaredError,
    /// Number of values compared.
    pub values: u64,
}

/// Difference of values from their labels, in real units.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LabelError {
    /// Number of values with a label.
    pub values: u64,
    /// Sum of squared errors of the exact network.
    pub exact: f64,
    /// Sum of squared errors of the narrow hardware. Undefined in isolated mode.
    pub simulated: Option<f64>,
}

/// Cross entropy of scores with labels, in nats, summed over the samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Loss {
    /// Sum of the exact network.
    pub exact: f64,
    /// Sum of the narrow hardware. Undefined in isolated mode.
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

/// Score as files and pages show it. Intervals are 95 % Wilson intervals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreFigures {
    /// Number of samples run.
    pub samples: u64,
    /// Share of the samples whose top-1 class is that of the exact network.
    pub top1_agreement: Option<Fraction>,
    /// Accuracy of the exact network.
    pub accuracy_exact: Option<Fraction>,
    /// Accuracy on the narrow hardware.
    pub accuracy: Option<Fraction>,
    /// Number of output codes that differ from the exact network; in isolated mode summed over the layers.
    pub output_mismatch: u64,
    /// SQNR of the network's output against the exact one. JSON cannot represent infinity and also uses
    /// `null` without noise, in which case `output_mismatch` is 0.
    pub output_sqnr_db: Option<Decibel>,
    /// Interval of [`top1_agreement`](Self::top1_agreement).
    pub agreement_interval: Option<Interval>,
    /// Interval of [`accuracy_exact`](Self::accuracy_exact).
    pub accuracy_exact_interval: Option<Interval>,
    /// Interval of [`accuracy`](Self::accuracy).
    pub accuracy_interval: Option<Interval>,
    /// Number of samples that only the exact network classifies as labelled.
    pub lost: Option<u64>,
    /// Number of samples that only the narrow hardware classifies as labelled.
    pub gained: Option<u64>,
    /// P value of McNemar's test on `lost` and `gained`: the probability of numbers that differ at least as
    /// much if both networks were equally good.
    pub mcnemar_p: Option<f64>,
    /// Variant of McNemar's test that gave `mcnemar_p`.
    pub mcnemar_test: Option<McNemarTest>,
    /// Interpretation of the output.
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
    /// Number of samples whose top-1 class is that of the exact network: `top1_agreement` as a count.
    pub agreeing: Option<u64>,
    /// Number of samples that the exact network classifies as labelled: `accuracy_exact` as a count.
    pub right_exact: Option<u64>,
    /// Number of samples that the narrow hardware classifies as labelled: `accuracy` as a count.
    pub right: Option<u64>,
    /// Number of output codes that are compared, for sentences. Undefined in isolated mode.
    #[serde(skip)]
    pub output_codes: Option<u64>,
    /// Mean cross entropy of the exact network's scores with the labels, in nats.
    pub cross_entropy_exact: Option<f64>,
    /// Mean cross entropy of the narrow hardware's scores with the labels, in nats.
    pub cross_entropy: Option<f64>,
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
            output_codes: score.output_errors.as_deref().map(|all| all.iter().map(|one| one.values).sum()),
            cross_entropy_exact: score.loss.and_then(|loss| mean(loss.exact, score.samples)),
            cross_entropy: score.loss.and_then(|loss| mean(loss.simulated?, score.samples)),
        }
    }
}

/// Returns six digits of a finite value, and `None` otherwise, since JSON has no infinite numbers.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then(|| six_digits(value))
}

/// Returns sums of squares over all outputs, in real units: of the exact values, and of the errors.
fn squares(errors: &[OutputError]) -> [f64; 2] {
    let (mut signal, mut noise) = (0.0, 0.0);
    for &OutputError { scale, error, .. } in errors {
        let scale = f64::from(scale);
        signal += scale * scale * error.signal as f64;
        noise += scale * scale * error.noise as f64;
    }
    [signal, noise]
}

/// Returns the SQNR over all outputs, in real units.
fn sqnr_db(errors: &[OutputError]) -> f64 {
    if let [only] = errors {
        return only.error.sqnr_db();
    }
    let [signal, noise] = squares(errors);
    guardbit_sim::sqnr_db(signal, noise)
}

/// Returns the mean squared error over the values of all outputs.
fn mse(errors: &[OutputError]) -> Option<f64> {
    let values: u64 = errors.iter().map(|error| error.values).sum();
    let [_, noise] = squares(errors);
    (values > 0).then_some(noise / values as f64).and_then(finite)
}

impl Task {
    /// All tasks.
    pub const ALL: [Self; 3] = [Self::Classify, Self::Regress, Self::Detect];

    /// Returns the name on the command line and in files.
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
        found.ok_or_else(|| format!("unknown task `{text}`; expected classify, regress or detect"))
    }
}
