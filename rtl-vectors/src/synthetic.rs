//! Builds a layer from its parameters alone, without a network.

use std::fmt::Display;
use std::sync::Arc;

use guardbit_graph::{DType, Graph, Operand, OutputSpec, TensorType, ops::Conv2d};
use guardbit_hwmodels::{Program, from_yaml, load, lower};

use crate::GoldenError;
use crate::sizes::MAX_TERMS;

/// Parameters of a layer that a MAC unit depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerParameters {
    /// Products per dot product.
    pub terms: usize,
    /// Type of the activations' codes.
    pub activation: DType,
    /// Zero point of the activations.
    pub activation_zero_point: i32,
    /// Type of the weights' codes.
    pub weight: DType,
    /// Zero point of the weights.
    pub weight_zero_point: i32,
}

impl LayerParameters {
    /// Returns a program with a layer of these parameters, lowered onto an accelerator. `hw` is the name of a
    /// preset, the path of a file, or the text of a file.
    ///
    /// # Errors
    /// [`GoldenError`] if there is no such accelerator, or it cannot run the layer.
    pub fn program(&self, hw: &str) -> Result<Program, GoldenError> {
        if !(1..=MAX_TERMS).contains(&self.terms) {
            let problem = format!("{} terms; expected 1 to {MAX_TERMS}", self.terms);
            return Err(GoldenError::Parameters(problem));
        }
        let loaded = match hw.contains('\n') {
            true => from_yaml(hw, "accelerator.yaml", &[]),
            false => load(hw, &[]),
        };
        let accelerator = loaded.map_err(Box::new)?;
        let graph = self.graph(vec![self.weight_zero_point; self.terms], vec![0])?;
        Ok(lower(Arc::new(graph), &accelerator)?)
    }

    /// Returns a convolution over `terms` channels. It has an output channel, and an input pixel, for each of the
    /// `biases`. `weights` holds the codes of one output channel after the other.
    pub(crate) fn graph(&self, weights: Vec<i32>, biases: Vec<i32>) -> Result<Graph, GoldenError> {
        let channels = biases.len();
        let tensor = |shape: &[usize], dtype, zero_point| {
            TensorType::quantized(shape, dtype, 1.0, zero_point).map_err(problem)
        };
        let pixels = tensor(&[1, 1, channels, self.terms], self.activation, self.activation_zero_point)?;
        let filters = tensor(&[channels, 1, 1, self.terms], self.weight, self.weight_zero_point)?;
        let operands = [
            Operand::input("x", pixels),
            Operand::constant("w", filters, weights),
            Operand::constant("b", tensor(&[channels], DType::Int32, 0)?, biases),
        ];
        let output = OutputSpec::quantized("y", self.activation, 1.0, 0).map_err(problem)?;
        Graph::of_op("unit", Conv2d::default(), operands, output).map_err(problem)
    }
}

fn problem(error: impl Display) -> GoldenError {
    GoldenError::Parameters(error.to_string())
}
