//! Mean of real values over axes.

use super::elements::expect;
use super::float_reduce::{check_axes, kept, reduced};
use crate::effort::Effort;
use crate::ops::{Operands, Operator};
use crate::{GraphError, word_of};

/// The mean over some axes, computed in float64.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatMean {
    /// The axes.
    pub axes: Vec<usize>,
    /// Whether these axes stay, with size 1.
    pub keep_dims: bool,
}

impl Operator for FloatMean {
    const NAME: &'static str = "float_mean";
    const EFFORT: Effort = Effort::per_input(1).and_output(1);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 1, 1)?;
        check_axes(operands, &self.axes)?;
        let kept = kept(&operands.input(0).ty.shape, &self.axes).into_iter().enumerate();
        let kept = kept.filter(|(axis, _)| self.keep_dims || !self.axes.contains(axis));
        Ok(kept.map(|(_, size)| size).collect())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let sums = reduced(operands, inputs[0], &self.axes, 0.0, |sum, value| sum + value);
        let count = inputs[0].len() / sums.len().max(1);
        sums.into_iter().map(|sum| word_of((sum / count as f64) as f32)).collect()
    }
}
