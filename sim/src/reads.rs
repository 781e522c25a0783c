//! Inputs of a layer.

use guardbit_graph::TensorId;
use guardbit_hwmodels::{MacLayer, Program};

use crate::codes::Codes;

/// Codes that a layer reads of one sample, in the order of their tensors. Conversion from the activations
/// alone is meant for layers with constant weights and layers without weights.
#[derive(Debug)]
pub struct Reads<'a, C: ?Sized> {
    /// Codes of the node's first input.
    pub activations: &'a C,
    /// Codes of the node's second input if the weights are activations, otherwise `None`.
    pub weights: Option<&'a C>,
}

impl<C: ?Sized> Clone for Reads<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: ?Sized> Copy for Reads<'_, C> {}

impl<'a, C: ?Sized> From<&'a C> for Reads<'a, C> {
    fn from(activations: &'a C) -> Self {
        Self { activations, weights: None }
    }
}

impl<'a> From<&'a Vec<i32>> for Reads<'a, [i32]> {
    fn from(activations: &'a Vec<i32>) -> Self {
        Self { activations, weights: None }
    }
}

impl<'a, const N: usize> From<&'a [i32; N]> for Reads<'a, [i32]> {
    fn from(activations: &'a [i32; N]) -> Self {
        Self { activations, weights: None }
    }
}

impl<'a> Reads<'a, Codes> {
    /// Returns what a layer reads of `tensors`, the codes of one sample by tensor index; `None` if they were
    /// not kept.
    pub fn of(program: &Program, layer: &MacLayer, tensors: &'a [Option<Codes>]) -> Option<Self> {
        let [activations, weights] = program.reads(layer);
        let held = |id: TensorId| tensors[id.index()].as_ref();
        let weights = match weights {
            Some(id) => Some(held(id)?),
            None => None,
        };
        Some(Self { activations: held(activations?)?, weights })
    }
}

/// Unpacked codes that a layer reads of one sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerCodes {
    activations: Vec<i32>,
    weights: Option<Vec<i32>>,
}

impl LayerCodes {
    /// Returns the codes.
    pub fn reads(&self) -> Reads<'_, [i32]> {
        Reads { activations: &self.activations, weights: self.weights.as_deref() }
    }
}

impl From<Reads<'_, Codes>> for LayerCodes {
    fn from(reads: Reads<'_, Codes>) -> Self {
        Self { activations: reads.activations.to_vec(), weights: reads.weights.map(Codes::to_vec) }
    }
}
