//! Distance of a quantized network's outputs from those of the float network.

use std::sync::Arc;

use guardbit_graph::{DType, Graph, Tensor, real_of, word_of};
use guardbit_hwmodels::{Accelerator, load, lower};
use guardbit_sim::{Codes, Options, Simulation, StatsLevel};
use rayon::prelude::*;

use crate::{Parameters, QuantizeError, Sample};

/// Float network's outputs on samples, for comparison.
#[derive(Debug)]
pub struct Judge<'a> {
    samples: Vec<&'a Sample>,
    /// Outputs by sample and output.
    outputs: Vec<Vec<Vec<f32>>>,
    accelerator: Accelerator,
}

/// Score of a quantized network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Sum of the squared outputs of the float network.
    pub signal: f64,
    /// Sum of the squared differences of the quantized network's outputs on the accelerator.
    pub noise: f64,
    /// Number of samples for which the greatest element of the first output is that of the float network.
    pub right: u64,
    /// Number of samples.
    pub samples: u64,
}

/// Score of a quantized network on one sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleScore {
    /// Sum of the squared outputs of the float network.
    pub signal: f64,
    /// Sum of the squared differences of the quantized network's outputs on the accelerator.
    pub noise: f64,
    /// Whether the greatest element of the first output is that of the float network.
    pub right: bool,
    /// Whether the error of the first output is too small to make another value the greatest, whatever its
    /// direction. It must be less than `(first - second) / sqrt(2)` of the float network's two greatest
    /// values, which is the distance to the nearest outputs of another class. `None` if there are fewer than
    /// two values.
    pub safe: Option<bool>,
}

impl Score {
    fn of(samples: &[SampleScore]) -> Self {
        let sum = |of: fn(&SampleScore) -> f64| samples.iter().map(of).sum();
        Self {
            signal: sum(|sample| sample.signal),
            noise: sum(|sample| sample.noise),
            right: samples.iter().filter(|sample| sample.right).count() as u64,
            samples: samples.len() as u64,
        }
    }

    /// Returns the signal-to-noise ratio in dB; infinite if nothing differs.
    pub fn sqnr_db(&self) -> f64 {
        guardbit_sim::sqnr_db(self.signal, self.noise)
    }

    /// Returns the share of samples that are right.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.samples.max(1) as f64
    }
}

/// Number of samples that run in parallel.
const BATCH: usize = 64;

impl<'a> Judge<'a> {
    /// Runs the float network on at most `most` evenly spaced samples. Without an accelerator nothing
    /// overflows.
    ///
    /// # Errors
    /// [`QuantizeError`] if a sample does not match the network.
    pub fn new(
        float: &Graph,
        samples: &'a [Sample],
        most: usize,
        accelerator: Option<&Accelerator>,
    ) -> Result<Self, QuantizeError> {
        let step = samples.len().div_ceil(most.max(1)).max(1);
        let samples: Vec<&Sample> = samples.iter().step_by(step).collect();
        let accelerator = match accelerator {
            Some(accelerator) => accelerator.clone(),
            None => load("exact-int32-os", &["accumulation.acc.bits=auto".into()]).map_err(|error| {
                QuantizeError::Impossible { layer: float.name().into(), problem: error.to_string() }
            })?,
        };
        let outputs: Result<Vec<_>, _> =
            samples.par_iter().map(|sample| float_outputs(float, sample)).collect();
        Ok(Self { samples, outputs: outputs?, accelerator })
    }

    /// Returns the score of a quantized network, with overflows propagated from layer to layer.
    ///
    /// # Errors
    /// [`QuantizeError`] if the accelerator cannot run it, or traps an overflow.
    pub fn score(&self, quantized: &Graph) -> Result<Score, QuantizeError> {
        Ok(Score::of(&self.samples(quantized)?))
    }

    /// Returns the scores of a quantized network, sample by sample.
    ///
    /// # Errors
    /// Under the conditions of [`score`](Self::score).
    pub fn samples(&self, quantized: &Graph) -> Result<Vec<SampleScore>, QuantizeError> {
        let name = || quantized.name().to_owned();
        let program = lower(Arc::new(quantized.clone()), &self.accelerator)
            .map_err(|source| QuantizeError::Lower { layer: name(), source: Box::new(source) })?;
        let options = Options { stats: StatsLevel::None, events_per_layer: 0, ..Options::default() };
        let mut simulation = Simulation::new(&program, options);
        let mut scores = Vec::with_capacity(self.samples.len());
        let inputs: Vec<&Tensor> = quantized.inputs().iter().map(|&id| quantized.tensor(id)).collect();
        for (start, samples) in self.samples.chunks(BATCH).enumerate() {
            let batch: Vec<Vec<Codes>> = samples
                .iter()
                .map(|sample| {
                    inputs.iter().zip(*sample).map(|(tensor, reals)| input_codes(tensor, reals)).collect()
                })
                .collect();
            let made = simulation
                .run_batch(&batch)
                .map_err(|source| QuantizeError::Run { layer: name(), source: Box::new(source) })?;
            for (index, tensors) in made.iter().enumerate() {
                let outputs = quantized.outputs().iter().map(|&id| {
                    let codes = tensors.simulated[id.index()].as_ref().map(Codes::to_vec).unwrap_or_default();
                    real_values(quantized.tensor(id), &codes)
                });
                scores.push(self.sample(start * BATCH + index, &outputs.collect::<Vec<_>>()));
            }
        }
        Ok(scores)
    }

    fn sample(&self, index: usize, outputs: &[Vec<f32>]) -> SampleScore {
        let real = &self.outputs[index];
        let [class, made] =
            [real.as_slice(), outputs].map(|outputs| outputs.first().and_then(|one| greatest(one)));
        let right = class.is_some() && made == class;
        let first = real.first().zip(outputs.first());
        let safe = first.and_then(|(real, made)| is_safe(real, made));
        SampleScore {
            signal: real.iter().flatten().map(|&real| f64::from(real).powi(2)).sum(),
            noise: real.iter().zip(outputs).map(|(real, made)| noise(real, made)).sum(),
            right,
            safe,
        }
    }
}

/// Returns whether a sample is safe: see [`SampleScore::safe`].
fn is_safe(real: &[f32], made: &[f32]) -> Option<bool> {
    Some(noise(real, made) < margin(real)?.powi(2) / 2.0)
}

/// Returns the sum of the squared differences.
fn noise(real: &[f32], made: &[f32]) -> f64 {
    real.iter().zip(made).map(|(&real, &made)| (f64::from(real) - f64::from(made)).powi(2)).sum()
}

/// Returns the difference of the greatest value and the next one.
fn margin(values: &[f32]) -> Option<f64> {
    let first = greatest(values)?;
    let others = values.iter().enumerate().filter(|&(index, _)| index != first);
    let second = others.map(|(_, &value)| f64::from(value)).max_by(f64::total_cmp)?;
    Some(f64::from(values[first]) - second)
}

/// Returns the index of the greatest value, the first of several.
fn greatest(values: &[f32]) -> Option<usize> {
    let better = |best: usize, next: usize| if values[next] > values[best] { next } else { best };
    (0..values.len()).reduce(better)
}

fn float_outputs(float: &Graph, sample: &Sample) -> Result<Vec<Vec<f32>>, QuantizeError> {
    let words: Vec<Vec<i32>> =
        sample.iter().map(|values| values.iter().map(|&value| word_of(value)).collect()).collect();
    let inputs: Vec<&[i32]> = words.iter().map(Vec::as_slice).collect();
    let tensors = float.interpret(&inputs)?;
    let output =
        |&id: &guardbit_graph::TensorId| tensors[id.index()].iter().map(|&word| real_of(word)).collect();
    Ok(float.outputs().iter().map(output).collect())
}

fn parameters(tensor: &Tensor) -> Option<Parameters> {
    let quantization = tensor.ty.quantization.as_ref()?;
    Some(Parameters { scale: quantization.scale(0), zero_point: quantization.zero_point(0) })
}

fn input_codes(tensor: &Tensor, reals: &[f32]) -> Codes {
    let range = tensor.ty.code_range();
    let codes: Vec<i32> = match parameters(tensor).filter(|_| tensor.ty.dtype != DType::Float32) {
        Some(parameters) => reals.iter().map(|&real| parameters.code(real, range)).collect(),
        None => reals.iter().map(|&real| word_of(real)).collect(),
    };
    Codes::new(tensor.ty.dtype, &codes).expect("codes are clamped to the range of their type")
}

fn real_values(tensor: &Tensor, codes: &[i32]) -> Vec<f32> {
    match parameters(tensor).filter(|_| tensor.ty.dtype != DType::Float32) {
        Some(parameters) => codes.iter().map(|&code| parameters.real(code) as f32).collect(),
        None => codes.iter().map(|&word| real_of(word)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::is_safe;

    /// The nearest outputs of another class are those in which the two greatest values meet in the middle.
    #[test]
    fn safe_is_nearer_than_any_other_class() {
        let float = [0.0, 3.0, 1.0];
        assert_eq!(is_safe(&float, &[0.0, 2.01, 1.99]), Some(true));
        assert_eq!(is_safe(&float, &[0.0, 2.0, 2.0]), Some(false));
        assert_eq!(is_safe(&float, &[-1.4, 3.0, 1.0]), Some(true));
        assert_eq!(is_safe(&float, &[-1.5, 3.0, 1.0]), Some(false));
        assert_eq!(is_safe(&[3.0, 3.0], &[3.0, 3.0]), Some(false));
        assert_eq!(is_safe(&[3.0], &[3.0]), None);
        assert_eq!(is_safe(&[], &[]), None);
    }
}
