//! Layer normalization.

use super::elements::expect;
use crate::effort::Effort;
use crate::ops::{Operands, Operator};
use crate::{GraphError, real_of, word_of};

/// `(x - mean) / sqrt(variance + epsilon) * scale + bias` over all axes from `axis` on, computed in float64.
///
/// Inputs: x, a scale with the shape of these axes, and an optional bias of equal shape.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatLayerNorm {
    /// The first of the axes over which values are normalized.
    pub axis: usize,
    /// A constant added to the variance.
    pub epsilon: f32,
}

impl Operator for FloatLayerNorm {
    const NAME: &'static str = "float_layer_norm";
    /// Counts the mean (1), the variance (3), and centring, two products and an addition (4).
    const EFFORT: Effort = Effort::per_output(8);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 2, 3)?;
        let shape = &operands.input(0).ty.shape;
        if self.axis >= shape.len() {
            let problem = format!("{} is outside the rank of {shape:?}", self.axis);
            return Err(operands.attribute_error("axis", problem));
        }
        let normalized = &shape[self.axis..];
        for tensor in [operands.optional(1), operands.optional(2)].into_iter().flatten() {
            if tensor.ty.shape != normalized {
                return Err(operands.shape_error(tensor, format!("{normalized:?}")));
            }
        }
        Ok(shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let size = operands.input(0).ty.shape[self.axis..].iter().product::<usize>();
        let bias = inputs.get(2).copied().unwrap_or_default();
        let real = |word: &i32| f64::from(real_of(*word));
        let row = |row: &[i32]| {
            let mean = row.iter().map(real).sum::<f64>() / size as f64;
            let variance = row.iter().map(|word| (real(word) - mean).powi(2)).sum::<f64>() / size as f64;
            let deviation = (variance + f64::from(self.epsilon)).sqrt();
            let value = |(i, word): (usize, &i32)| {
                let value = (real(word) - mean) / deviation * real(&inputs[1][i]);
                word_of((value + bias.get(i).map_or(0.0, real)) as f32)
            };
            row.iter().enumerate().map(value).collect::<Vec<_>>()
        };
        inputs[0].chunks(size).flat_map(row).collect()
    }
}
