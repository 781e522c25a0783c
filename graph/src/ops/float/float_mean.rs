//! Mean of real values over axes.

use super::elements::expect;
use crate::ops::strides::{offsets, row_major};
use crate::ops::{Operands, Operator};
use crate::{Brief, GraphError, real_of, word_of};

/// The mean over some axes, computed in float64.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatMean {
    /// The axes.
    pub axes: Vec<usize>,
    /// Whether they stay, with size 1.
    pub keep_dims: bool,
}

impl Operator for FloatMean {
    const NAME: &'static str = "float_mean";

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 1, 1)?;
        let shape = &operands.input(0).ty.shape;
        let twice = |(at, axis): (usize, &usize)| self.axes[..at].contains(axis);
        if self.axes.iter().any(|&axis| axis >= shape.len()) || self.axes.iter().enumerate().any(twice) {
            let problem = format!("{} must name different axes of {shape:?}", Brief(&self.axes));
            return Err(operands.attribute_error("axes", problem));
        }
        let kept = self.kept(shape).into_iter().enumerate();
        let kept = kept.filter(|(axis, _)| self.keep_dims || !self.axes.contains(axis));
        Ok(kept.map(|(_, size)| size).collect())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let shape = &operands.input(0).ty.shape;
        let kept = self.kept(shape);
        let mut strides = row_major(&kept);
        self.axes.iter().for_each(|&axis| strides[axis] = 0);
        let mut sums = vec![0.0f64; kept.iter().product()];
        for (&word, at) in inputs[0].iter().zip(offsets(shape, &strides)) {
            sums[at] += f64::from(real_of(word));
        }
        let count = inputs[0].len() / sums.len().max(1);
        sums.into_iter().map(|sum| word_of((sum / count as f64) as f32)).collect()
    }
}

impl FloatMean {
    /// The shape with size 1 along the axes.
    fn kept(&self, shape: &[usize]) -> Vec<usize> {
        let size = |(axis, &size)| if self.axes.contains(&axis) { 1 } else { size };
        shape.iter().enumerate().map(size).collect()
    }
}
