//! Values of a sample in the float and the simulated network.

use std::sync::Arc;

use guardbit_graph::{Graph, TensorId, real_of, word_of};
use guardbit_sim::Codes;

use super::Sample;
use crate::{QuantizeError, TensorCodes};

/// Values of a sample that are held for each tensor, by index.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    /// Words of the float network.
    pub float: Vec<Option<Arc<[i32]>>>,
    /// Words of the simulated network, of tensors that are computed in float.
    pub real: Vec<Option<Arc<[i32]>>>,
    /// Codes of the simulated network.
    pub codes: Vec<Option<Codes>>,
}

/// Network from which values are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    Float,
    Simulated,
}

impl State {
    /// Returns the states of samples, the first of which has the index `first`.
    pub fn of_samples(graph: &Graph, samples: &[Sample], first: usize) -> Result<Vec<Self>, QuantizeError> {
        let of = |(index, sample)| Self::of_sample(graph, sample, first + index);
        samples.iter().enumerate().map(of).collect()
    }

    fn of_sample(graph: &Graph, values: &Sample, sample: usize) -> Result<Self, QuantizeError> {
        if values.len() != graph.inputs().len() {
            let (found, expected) = (values.len(), graph.inputs().len());
            return Err(QuantizeError::SampleInputs { sample, found, expected });
        }
        let tensors = graph.tensors().len();
        let mut state =
            Self { float: vec![None; tensors], real: vec![None; tensors], codes: vec![None; tensors] };
        for (&id, values) in graph.inputs().iter().zip(values) {
            let tensor = graph.tensor(id);
            let (found, expected) = (values.len(), tensor.ty.len());
            if found != expected {
                let input = tensor.name.clone();
                return Err(QuantizeError::Sample { sample, input, found, expected });
            }
            if let Some(&value) = values.iter().find(|value| !value.is_finite()) {
                return Err(QuantizeError::NotFinite { tensor: tensor.name.clone(), value, sample });
            }
            let words: Arc<[i32]> = values.iter().map(|&value| word_of(value)).collect();
            state.float[id.index()] = Some(Arc::clone(&words));
            state.real[id.index()] = Some(words);
        }
        Ok(state)
    }

    /// Returns the words of a tensor in one of the networks; codes are dequantized.
    pub fn words(&self, id: TensorId, reading: Reading, codes: Option<TensorCodes>) -> Arc<[i32]> {
        let at = id.index();
        let held = match reading {
            Reading::Float => &self.float[at],
            Reading::Simulated => &self.real[at],
        };
        match (reading, codes, &self.codes[at]) {
            (Reading::Simulated, Some(codes), Some(own)) => {
                own.to_vec().into_iter().map(|code| word_of(codes.real(code))).collect()
            }
            _ => held.clone().unwrap_or_default(),
        }
    }

    /// Returns the real values of a tensor in one of the networks.
    pub fn reals(&self, id: TensorId, reading: Reading, codes: Option<TensorCodes>) -> Vec<f32> {
        self.words(id, reading, codes).iter().map(|&word| real_of(word)).collect()
    }

    /// Releases a tensor.
    pub fn forget(&mut self, id: TensorId) {
        self.float[id.index()] = None;
        self.real[id.index()] = None;
        self.codes[id.index()] = None;
    }
}
