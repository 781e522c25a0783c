//! How well a network did: top-1 and output codes against the exact network.

use guardbit_graph::{Graph, STEPS_PER_UNIT, Tensor, TensorId, order_of, real_steps};
use guardbit_reports::{OutputError, Score};
use guardbit_sim::{Accumulate, Codes, LayerStats, Mode, SquaredError};
use serde::Serialize;

use crate::StudyError;

/// The outputs that are compared, and the one whose top-1 class counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScoredOutputs {
    /// Compared code by code.
    pub compared: Vec<TensorId>,
    /// Scored by its top-1 class, if it is one of class scores: see [`holds_scores`].
    pub classes: Option<TensorId>,
}

/// The same by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ScoredNames {
    compared: Vec<String>,
    classes: Option<String>,
}

impl ScoredOutputs {
    /// The named output, or all of them; the named or only output gives the class, where it holds class scores.
    pub fn choose(graph: &Graph, name: Option<&str>, labelled: bool) -> Result<Self, StudyError> {
        let outputs = graph.outputs();
        let names = || outputs.iter().map(|&id| graph.tensor(id).name.clone()).collect::<Vec<_>>();
        if let Some(name) = name {
            let found = outputs.iter().copied().find(|&id| graph.tensor(id).name == name);
            let id =
                found.ok_or_else(|| StudyError::UnknownOutput { name: name.into(), outputs: names() })?;
            let scores = labelled || holds_scores(graph, id, true);
            return Ok(Self { compared: vec![id], classes: Some(id).filter(|_| scores) });
        }
        match outputs {
            &[only] => {
                let scores = labelled || holds_scores(graph, only, false);
                Ok(Self { compared: vec![only], classes: Some(only).filter(|_| scores) })
            }
            _ if labelled => Err(StudyError::AmbiguousOutput { outputs: names() }),
            _ => Ok(Self { compared: outputs.to_vec(), classes: None }),
        }
    }

    /// By name.
    pub fn names(&self, graph: &Graph) -> ScoredNames {
        let name = |&id: &TensorId| graph.tensor(id).name.clone();
        let classes = self.classes.as_ref().map(name);
        ScoredNames { compared: self.compared.iter().map(name).collect(), classes }
    }
}

/// Whether an output without labels is taken for one score per class: a vector (a single axis of more than one
/// element) that is as long as no input, unless it was `named`. As long as an input is what an autoencoder or a filter
/// gives back.
fn holds_scores(graph: &Graph, output: TensorId, named: bool) -> bool {
    let len = |id: &TensorId| graph.tensor(*id).ty.len();
    let axes = graph.tensor(output).ty.shape.iter().filter(|&&size| size != 1).count();
    let like_an_input = graph.inputs().iter().any(|input| len(input) == len(&output));
    axes == 1 && len(&output) > 1 && (named || !like_an_input)
}

/// Counts over samples.
#[derive(Debug)]
pub(crate) struct Scorer<'a> {
    graph: &'a Graph,
    outputs: &'a ScoredOutputs,
    labels: Option<&'a [usize]>,
    mode: Mode,
    score: Score,
}

impl<'a> Scorer<'a> {
    pub fn new(
        graph: &'a Graph,
        outputs: &'a ScoredOutputs,
        labels: Option<&'a [usize]>,
        mode: Mode,
    ) -> Self {
        // In isolated mode only per-layer figures are defined, and those of the exact network.
        let propagated = mode == Mode::Propagated;
        let error =
            |&id: &TensorId| OutputError { scale: step(graph.tensor(id)), error: SquaredError::default() };
        let score = Score {
            samples: 0,
            agreeing: outputs.classes.filter(|_| propagated).map(|_| 0),
            right_exact: labels.map(|_| 0),
            right: labels.filter(|_| propagated).map(|_| 0),
            output_mismatch: 0,
            output_errors: propagated.then(|| outputs.compared.iter().map(error).collect()),
        };
        Self { graph, outputs, labels, mode, score }
    }

    /// Counts the next sample.
    pub fn add(&mut self, exact: &[Option<Codes>], simulated: &[Option<Codes>]) {
        let mut sample = self.score.empty();
        let errors = sample.output_errors.iter_mut().flatten();
        for (&id, OutputError { error, .. }) in self.outputs.compared.iter().zip(errors) {
            let tensor = self.graph.tensor(id);
            for (exact, simulated) in codes(exact, id).into_iter().zip(codes(simulated, id)) {
                sample.output_mismatch += u64::from(exact != simulated);
                error.add(steps(tensor, exact), steps(tensor, simulated));
            }
        }
        let class =
            |tensors| self.outputs.classes.and_then(|id| top1(self.graph.tensor(id), &codes(tensors, id)));
        let (exact, simulated) = (class(exact), class(simulated));
        let label = self.labels.map(|labels| labels[self.score.samples as usize]);
        sample.samples = 1;
        sample.agreeing = sample.agreeing.map(|_| u64::from(exact == simulated));
        sample.right_exact = sample.right_exact.map(|_| u64::from(exact == label));
        sample.right = sample.right.map(|_| u64::from(simulated == label));
        self.score.merge(sample);
    }

    /// The score. `layers` are the statistics per node.
    pub fn finish(mut self, layers: &[Option<LayerStats>]) -> Score {
        if self.mode == Mode::Isolated {
            let mismatch = |layer: &LayerStats| layer.total().output_mismatch;
            self.score.output_mismatch = layers.iter().flatten().map(mismatch).sum();
        }
        self.score
    }
}

/// The real value of a step in which errors of an output are counted: its scale.
fn step(tensor: &Tensor) -> f32 {
    if tensor.ty.dtype.is_float() {
        return 1.0 / STEPS_PER_UNIT;
    }
    tensor.ty.quantization.as_ref().map_or(1.0, |q| q.scale(0))
}

/// A code's distance from real 0 in these steps.
fn steps(tensor: &Tensor, code: i32) -> i64 {
    if tensor.ty.dtype.is_float() {
        return real_steps(code);
    }
    i64::from(code) - i64::from(tensor.ty.quantization.as_ref().map_or(0, |q| q.zero_point(0)))
}

/// Index of the greatest value; ties go to the lowest index.
fn top1(tensor: &Tensor, codes: &[i32]) -> Option<usize> {
    let order = |code: i32| if tensor.ty.dtype.is_float() { order_of(code) } else { code };
    codes.iter().enumerate().rev().max_by_key(|(_, code)| order(**code)).map(|(index, _)| index)
}

fn codes(tensors: &[Option<Codes>], id: TensorId) -> Vec<i32> {
    tensors[id.index()].as_ref().map_or(Vec::new(), Codes::to_vec)
}

#[cfg(test)]
mod tests {
    use guardbit_frontends::read_yaml;

    use super::*;

    /// Which output of a network that reads `input` codes and makes a tensor of `shape` holds class scores.
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
        ScoredOutputs::choose(&graph, name, labelled).unwrap().classes.is_some()
    }

    /// Real values are counted in steps that do not depend on the order of samples, and the greatest is the class.
    #[test]
    fn outputs_in_float_are_scored() {
        let text = "schema: 1\ninputs:\n  - {name: x, shape: [1, 3], dtype: int8, scale: 0.5}\nnodes:\n  \
            - {op: dequantize, inputs: [x], output: {name: y, dtype: float32}}\noutputs: [y]\n";
        let graph = read_yaml(text, std::path::Path::new(""), "net").unwrap();
        let outputs = ScoredOutputs::choose(&graph, Some("y"), true).unwrap();
        let mut scorer = Scorer::new(&graph, &outputs, Some(&[1]), Mode::Propagated);
        let run = |values: [f32; 3]| {
            let words = values.map(guardbit_graph::word_of);
            vec![None, Codes::new(guardbit_graph::DType::Float32, &words).ok()]
        };
        scorer.add(&run([-3.0, -1.0, -2.0]), &run([-1.0, -1.0, -2.0]));
        let score = scorer.finish(&[]);
        assert_eq!((score.right_exact, score.right, score.output_mismatch), (Some(1), Some(0), 1));
        let error = score.output_errors.unwrap()[0];
        let sqnr = 10.0 * (14.0f64 / 4.0).log10();
        assert!((error.error.sqnr_db() - sqnr).abs() < 1e-9, "{error:?}");
        assert_eq!(error.scale * error.scale * error.error.noise as f32, 4.0);
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
