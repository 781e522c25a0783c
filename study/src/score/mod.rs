//! Scores of a network: classes, values or anomalies, and output codes against the exact network.

mod outputs;
mod values;

pub(crate) use outputs::{ScoredNames, ScoredOutputs};

use guardbit_graph::{Graph, TensorId, TensorType};
use guardbit_reports::{
    Discordant, LabelError, Loss, OutputError, PerSample, PredictedOutput, Predictions, Score, Task, Verdict,
    auc,
};
use guardbit_sim::{Codes, FloatStats, LayerStats, Mode, SquaredError};

use crate::labels::Labels;
use values::{anomaly, codes, cross_entropy, reals, step, steps, top1};

/// Maximum elements of an output that is stored for every sample.
const SMALL_OUTPUT: usize = 64;
/// Maximum number of all of its codes.
const SMALL_CODES: usize = 1 << 22;

/// Definition of what is scored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scoring<'a> {
    pub graph: &'a Graph,
    pub outputs: &'a ScoredOutputs,
    pub labels: Option<&'a Labels>,
    pub mode: Mode,
    pub samples: usize,
}

/// Counts over samples.
#[derive(Debug)]
pub(crate) struct Scorer<'a> {
    scoring: Scoring<'a>,
    verdict: Verdict,
    /// Outputs that are stored.
    kept: Vec<TensorId>,
}

impl<'a> Scorer<'a> {
    pub fn new(scoring: Scoring<'a>) -> Self {
        let Scoring { graph, outputs, labels, mode, samples } = scoring;
        // In isolated mode, only per-layer figures and figures of the exact network are defined.
        let propagated = mode == Mode::Propagated;
        let error = |&id: &TensorId| {
            let scale = step(graph.tensor(id));
            OutputError { scale, error: SquaredError::default(), values: 0 }
        };
        let classes = outputs.classes();
        let classified = labels.and_then(Labels::classes).is_some();
        let regressed = matches!(labels, Some(Labels::Values(_)));
        let score = Score {
            task: outputs.task(),
            agreeing: classes.filter(|_| propagated).map(|_| 0),
            right_exact: classified.then_some(0),
            right: (classified && propagated).then_some(0),
            discordant: (classified && propagated).then(Discordant::default),
            output_errors: propagated.then(|| outputs.compared.iter().map(error).collect()),
            label_error: regressed
                .then(|| LabelError { simulated: propagated.then_some(0.0), ..LabelError::default() }),
            loss: classified.then(|| Loss { simulated: propagated.then_some(0.0), ..Loss::default() }),
            ..Score::default()
        };
        let is_small = |id: &&TensorId| {
            let TensorType { dtype, .. } = graph.tensor(**id).ty;
            let len = graph.tensor(**id).ty.len();
            let bytes = dtype.file_bytes();
            len <= SMALL_OUTPUT && len.saturating_mul(samples).saturating_mul(bytes) <= SMALL_CODES
        };
        let kept: Vec<TensorId> = outputs.compared.iter().filter(is_small).copied().collect();
        let output = |&id: &TensorId| {
            let tensor = graph.tensor(id);
            let (name, shape) = (tensor.name.clone(), tensor.ty.shape.clone());
            PredictedOutput { name, dtype: tensor.ty.dtype, shape, codes: PerSample::new(propagated) }
        };
        let detects = outputs.task() == Some(Task::Detect);
        let predictions = Predictions {
            labels: labels.and_then(label_column),
            classes: classes.map(|_| PerSample::new(propagated)),
            scores: detects.then(|| PerSample::new(propagated)),
            outputs: kept.iter().map(output).collect(),
        };
        let classes = classes.map_or(0, |id| graph.tensor(id).ty.len());
        Self { scoring, verdict: Verdict { score, predictions, classes }, kept }
    }

    /// Counts the next sample, which reads `inputs`.
    pub fn add(&mut self, inputs: &[Codes], exact: &[Option<Codes>], simulated: &[Option<Codes>]) {
        let graph = self.scoring.graph;
        let sample = self.verdict.score.samples as usize;
        self.compare(exact, simulated);
        match self.scoring.outputs.judged {
            Some((Task::Classify, id)) => {
                let class = |tensors| top1(graph.tensor(id), &codes(tensors, id));
                self.classify(sample, class(exact), class(simulated));
                let label = self.scoring.labels.and_then(Labels::classes).and_then(|all| all.get(sample));
                if let Some((loss, &label)) = self.verdict.score.loss.as_mut().zip(label) {
                    let of = |tensors| cross_entropy(graph, id, &codes(tensors, id), label);
                    loss.exact += of(exact);
                    if let Some(sum) = &mut loss.simulated {
                        *sum += of(simulated);
                    }
                }
            }
            Some((Task::Regress, id)) => {
                let values = |tensors| reals(graph.tensor(id), &codes(tensors, id));
                self.regress(sample, &values(exact), &values(simulated));
            }
            Some((Task::Detect, id)) => {
                let score = |tensors| anomaly(graph, id, inputs, &codes(tensors, id));
                let (exact, simulated) = (score(exact), score(simulated));
                if let Some(scores) = &mut self.verdict.predictions.scores {
                    scores.extend([exact], [simulated]);
                }
            }
            None => {}
        }
        for (&id, output) in self.kept.iter().zip(&mut self.verdict.predictions.outputs) {
            output.codes.extend(codes(exact, id), codes(simulated, id));
        }
        self.verdict.score.samples += 1;
    }

    /// Compares the outputs code by code.
    fn compare(&mut self, exact: &[Option<Codes>], simulated: &[Option<Codes>]) {
        let Scoring { graph, outputs, .. } = self.scoring;
        let score = &mut self.verdict.score;
        let Some(errors) = &mut score.output_errors else { return };
        for (&id, OutputError { error, values, .. }) in outputs.compared.iter().zip(errors) {
            let tensor = graph.tensor(id);
            for (exact, simulated) in codes(exact, id).into_iter().zip(codes(simulated, id)) {
                score.output_mismatch += u64::from(exact != simulated);
                error.add(steps(tensor, exact), steps(tensor, simulated));
                *values += 1;
            }
        }
    }

    /// Counts the classes of a sample.
    fn classify(&mut self, sample: usize, exact: Option<usize>, simulated: Option<usize>) {
        let Verdict { score, predictions, .. } = &mut self.verdict;
        if let Some(classes) = &mut predictions.classes {
            // An output without elements has no class, which is stored as -1.
            let class =
                |class: Option<usize>| class.and_then(|class| i32::try_from(class).ok()).unwrap_or(-1);
            classes.extend([class(exact)], [class(simulated)]);
        }
        let count = |counter: &mut Option<u64>, counts: bool| {
            if let Some(counter) = counter {
                *counter += u64::from(counts);
            }
        };
        count(&mut score.agreeing, exact == simulated);
        let Some(labels) = self.scoring.labels.and_then(Labels::classes) else { return };
        let label = labels.get(sample).copied();
        let (right_exact, right) = (exact == label, simulated == label);
        count(&mut score.right_exact, right_exact);
        count(&mut score.right, right);
        if let Some(pairs) = &mut score.discordant {
            pairs.first += u64::from(right_exact && !right);
            pairs.second += u64::from(right && !right_exact);
        }
    }

    /// Counts the errors of a sample's values against their labels.
    fn regress(&mut self, sample: usize, exact: &[f64], simulated: &[f64]) {
        let Some(Labels::Values(labels)) = self.scoring.labels else { return };
        let Some(error) = &mut self.verdict.score.label_error else { return };
        let labels = labels.iter().skip(sample * exact.len()).take(exact.len());
        let squares = |values: &[f64]| -> f64 {
            values.iter().zip(labels.clone()).map(|(value, &label)| (value - f64::from(label)).powi(2)).sum()
        };
        error.values += exact.len() as u64;
        error.exact += squares(exact);
        if let Some(sum) = &mut error.simulated {
            *sum += squares(simulated);
        }
    }

    /// Returns the verdict. `layers` and `floats` are the statistics per node, of integer and of floating-point codes.
    pub fn finish(self, layers: &[Option<LayerStats>], floats: &[Option<FloatStats>]) -> Verdict {
        let mut verdict = self.verdict;
        if self.scoring.mode == Mode::Isolated {
            let mismatch = |layer: &LayerStats| layer.total().output_mismatch;
            let of_floats = floats.iter().flatten().map(|layer| layer.output_mismatch);
            verdict.score.output_mismatch = layers.iter().flatten().map(mismatch).chain(of_floats).sum();
        }
        if let (Some(Labels::Anomalies(flags)), Some(scores)) =
            (self.scoring.labels, &verdict.predictions.scores)
        {
            verdict.score.auc_exact = auc(&scores.exact, flags);
            verdict.score.auc = scores.simulated.as_ref().and_then(|scores| auc(scores, flags));
        }
        verdict
    }
}

/// Returns labels as a column of `predictions.npz`.
fn label_column(labels: &Labels) -> Option<Vec<i32>> {
    match labels {
        Labels::Classes(classes) => Some(classes.iter().map(|&class| class as i32).collect()),
        Labels::Anomalies(flags) => Some(flags.iter().map(|&flag| i32::from(flag)).collect()),
        Labels::Values(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use guardbit_frontends::read_yaml;

    use super::*;
    use crate::labels::LabelFile;

    /// Returns whether an output of shape `shape` is taken for class scores, in a network that reads `input`
    /// codes.
    fn check(input: usize, shape: &str, name: Option<&str>, labelled: bool) -> bool {
        let text = format!(
            "schema: 1\n\
             inputs:\n  - {{name: x, shape: [1, {input}], dtype: int8, scale: 0.1}}\n\
             constants:\n  - {{name: w, shape: [12, {input}], dtype: int8, scale: 0.1, random: {{seed: 1}}}}\n\
             nodes:\n  - {{op: fully_connected, inputs: [x, w], output: {{name: h, dtype: int8, scale: 0.1}}}}\n  \
             - {{op: reshape, inputs: [h], shape: {shape}, output: {{name: y, dtype: int8, scale: 0.1}}}}\n\
             outputs: [y]\n"
        );
        let graph = read_yaml(&text, std::path::Path::new(""), "net").unwrap();
        let labels = LabelFile::of_integers(&[5]);
        let outputs = ScoredOutputs::choose(&graph, name, labelled.then_some(&labels), None).unwrap();
        outputs.classes().is_some()
    }

    /// Real values are counted in steps independent of the order of samples, and the largest value is the
    /// class.
    #[test]
    fn outputs_in_float_are_scored() {
        let text = "schema: 1\ninputs:\n  - {name: x, shape: [1, 3], dtype: int8, scale: 0.5}\nnodes:\n  \
            - {op: dequantize, inputs: [x], output: {name: y, dtype: float32}}\noutputs: [y]\n";
        let graph = read_yaml(text, std::path::Path::new(""), "net").unwrap();
        let labels = Labels::Classes(vec![1]);
        let outputs = ScoredOutputs::choose(&graph, Some("y"), None, Some(Task::Classify)).unwrap();
        let (labels, mode) = (Some(&labels), Mode::Propagated);
        let mut scorer = Scorer::new(Scoring { graph: &graph, outputs: &outputs, labels, mode, samples: 1 });
        let run = |values: [f32; 3]| {
            let words = values.map(guardbit_graph::word_of);
            vec![None, Codes::new(guardbit_graph::DType::Float32, &words).ok()]
        };
        scorer.add(&[], &run([-3.0, -1.0, -2.0]), &run([-1.0, -1.0, -2.0]));
        let Verdict { score, predictions, .. } = scorer.finish(&[], &[]);
        let classes = predictions.classes.unwrap();
        assert_eq!(
            (classes.exact, classes.simulated),
            (vec![1], Some(vec![0])),
            "the first of two that are equal"
        );
        assert_eq!((score.right_exact, score.right, score.output_mismatch), (Some(1), Some(0), 1));
        let error = score.output_errors.unwrap()[0];
        let sqnr = 10.0 * (14.0f64 / 4.0).log10();
        assert!((error.error.sqnr_db() - sqnr).abs() < 1e-9, "{error:?}");
        assert_eq!(error.scale * error.scale * error.error.noise as f32, 4.0);
    }

    /// Scores are inputs of a softmax, unless the network ends with one.
    #[test]
    fn cross_entropy_is_that_of_the_labels() {
        let head = "schema: 1\ninputs:\n  - {name: x, shape: [1, 3], dtype: int8, scale: 0.5}\nnodes:\n  \
            - {op: dequantize, inputs: [x], output: {name: h, dtype: float32}}\n";
        let softmax = "  - {op: float_softmax, axis: 1, inputs: [h], output: {name: y, dtype: float32}}\n  \
            - {op: reshape, shape: [3], inputs: [y], output: {name: z, dtype: float32}}\n";
        let entropy = |nodes: &str, output: &str, values: [f32; 3], label| {
            let text = format!("{head}{nodes}outputs: [{output}]\n");
            let graph = read_yaml(&text, std::path::Path::new(""), "net").unwrap();
            let words = values.map(guardbit_graph::word_of);
            cross_entropy(&graph, graph.outputs()[0], &words, label)
        };
        let scores = [1000.0, 999.0, 998.0];
        let sum: f64 = [0.0f64, -1.0, -2.0].map(f64::exp).iter().sum();
        for (label, score) in [0.0, -1.0, -2.0].into_iter().enumerate() {
            let found = entropy("", "h", scores, label);
            assert!((found - (sum.ln() - score)).abs() < 1e-12, "{found}");
        }
        assert_eq!(entropy(softmax, "z", [0.25, 0.75, 0.0], 0), 4.0f64.ln());
        let least = f64::from(guardbit_graph::STEPS_PER_UNIT);
        assert_eq!(entropy(softmax, "z", [0.25, 0.75, 0.0], 2), (2.0 * least).ln(), "half a step");
        assert!(entropy("", "h", [f32::NAN, 0.0, 0.0], 1).is_nan());
        assert!(entropy("", "h", scores, 3).is_nan(), "no such score");
    }

    #[test]
    fn classes_are_scored_where_there_are_some() {
        for shape in ["[1, 12]", "[12]", "[1, 1, 1, 12]"] {
            assert!(check(8, shape, None, false), "{shape}: a vector");
            assert!(!check(12, shape, None, false), "{shape}: as long as the input");
            assert!(check(12, shape, Some("y"), false), "{shape}: named");
        }
        for shape in ["[1, 2, 6]", "[1, 3, 2, 2]"] {
            assert!(!check(8, shape, None, false), "{shape}: no vector");
            assert!(!check(8, shape, Some("y"), false), "{shape}: no vector, though named");
            assert!(check(8, shape, None, true), "{shape}: labels say so");
        }
    }
}
