//! Softmax of real values.

use super::elements::expect;
use crate::effort::{Effort, real};
use crate::ops::{Operands, Operator};
use crate::{GraphError, real_of, word_of};

/// `exp(x) / sum of exp(x)` along an axis, computed in float64.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatSoftmax {
    /// The axis.
    pub axis: usize,
}

impl Operator for FloatSoftmax {
    const NAME: &'static str = "float_softmax";
    /// Counts the maximum, the difference, the exponential, the sum and the quotient.
    const EFFORT: Effort = Effort::per_output(3 + real::EXP + real::DIVIDE);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 1, 1)?;
        let shape = &operands.input(0).ty.shape;
        if self.axis >= shape.len() {
            let problem = format!("{} is outside the rank of {shape:?}", self.axis);
            return Err(operands.attribute_error("axis", problem));
        }
        Ok(shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let shape = &operands.input(0).ty.shape;
        let (size, inner) = (shape[self.axis], shape[self.axis + 1..].iter().product::<usize>());
        let mut output = vec![0; inputs[0].len()];
        for first in (0..output.len()).filter(|at| at / inner % size == 0) {
            let at = |i: usize| first + i * inner;
            let value = |i: usize| f64::from(real_of(inputs[0][at(i)]));
            let greatest = (0..size).map(value).fold(f64::NEG_INFINITY, f64::max);
            let powers: Vec<f64> = (0..size).map(|i| libm::exp(value(i) - greatest)).collect();
            let sum: f64 = powers.iter().sum();
            powers.iter().enumerate().for_each(|(i, power)| output[at(i)] = word_of((power / sum) as f32));
        }
        output
    }
}
