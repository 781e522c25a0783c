//! Real values of output codes.

use guardbit_graph::{Graph, RealCodes, STEPS_PER_UNIT, Tensor, TensorId, order_of, real_steps, word_of};
use guardbit_sim::Codes;

use super::outputs::detector_input;

/// Returns how unusual a sample is: the mean squared difference of output and input in real units, or the
/// only value of its output.
pub(super) fn anomaly(graph: &Graph, output: TensorId, inputs: &[Codes], codes: &[i32]) -> f32 {
    let found = reals(graph.tensor(output), codes);
    let read = detector_input(graph, output)
        .and_then(|place| Some((inputs.get(place)?, graph.inputs().get(place)?)));
    let Some((input, &id)) = read.filter(|_| found.len() > 1) else {
        return found.first().map_or(f32::NAN, |&value| value as f32);
    };
    let wanted = reals(graph.tensor(id), &input.to_vec());
    let squares: f64 = found.iter().zip(&wanted).map(|(found, wanted)| (found - wanted).powi(2)).sum();
    (squares / found.len() as f64) as f32
}

/// Returns the real values of codes.
pub(super) fn reals(tensor: &Tensor, codes: &[i32]) -> Vec<f64> {
    if let Some(reals) = RealCodes::of(tensor.ty.dtype) {
        return codes.iter().map(|&code| f64::from(reals.real(code))).collect();
    }
    let scale = f64::from(step(tensor));
    codes.iter().map(|&code| scale * steps(tensor, code) as f64).collect()
}

/// Returns the cross entropy of the scores of an output with a label, in nats: `-ln(softmax(scores)[label])`. Outputs of
/// a softmax are probabilities already, and count at least half a step of their codes. NaN without a score of the label.
pub(super) fn cross_entropy(graph: &Graph, output: TensorId, codes: &[i32], label: usize) -> f64 {
    let tensor = graph.tensor(output);
    let scores = reals(tensor, codes);
    let Some(&score) = scores.get(label) else { return f64::NAN };
    if holds_probabilities(graph, output) {
        return -score.max(f64::from(step(tensor)) / 2.0).ln();
    }
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
    most + sum.ln() - score
}

/// Returns whether an output comes from a softmax, through conversions and changes of shape.
fn holds_probabilities(graph: &Graph, output: TensorId) -> bool {
    let Some(node) = graph.producer(output).map(|id| graph.node(id)) else { return false };
    match (node.op.name(), &node.inputs[..]) {
        (name, _) if name.ends_with("softmax") => true,
        ("quantize_float" | "dequantize" | "cast" | "float_cast" | "reshape", &[Some(input), ..]) => {
            holds_probabilities(graph, input)
        }
        _ => false,
    }
}

/// Returns the unit in which errors of an output are counted: its scale.
pub(super) fn step(tensor: &Tensor) -> f32 {
    if tensor.ty.dtype.is_float() {
        return 1.0 / STEPS_PER_UNIT;
    }
    tensor.ty.quantization.as_ref().map_or(1.0, |q| q.scale(0))
}

/// Returns a code's distance from real 0 in units of [`step`].
pub(super) fn steps(tensor: &Tensor, code: i32) -> i64 {
    if let Some(reals) = RealCodes::of(tensor.ty.dtype) {
        return real_steps(word_of(reals.real(code)));
    }
    i64::from(code) - i64::from(tensor.ty.quantization.as_ref().map_or(0, |q| q.zero_point(0)))
}

/// Returns the index of the largest value; a tie goes to the lowest index.
pub(super) fn top1(tensor: &Tensor, codes: &[i32]) -> Option<usize> {
    let reals = RealCodes::of(tensor.ty.dtype);
    let order = |code: i32| reals.map_or(code, |reals| order_of(word_of(reals.real(code))));
    codes.iter().enumerate().rev().max_by_key(|(_, code)| order(**code)).map(|(index, _)| index)
}

pub(super) fn codes(tensors: &[Option<Codes>], id: TensorId) -> Vec<i32> {
    tensors[id.index()].as_ref().map_or(Vec::new(), Codes::to_vec)
}
