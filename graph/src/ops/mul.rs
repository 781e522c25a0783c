//! Multiplication.

use guardbit_num::Requantizer;

use super::{Monotonicity, Operands, Operator, elementwise};
use crate::effort::{CENTRE, CLAMP, Effort, REQUANTIZE};
use crate::{Activation, GraphError, Requantize};

/// `a * b` with NumPy's broadcasting: `y = round((a - za) * (b - zb) * sa*sb/sy) + zy`, clamped.
///
/// Source: TensorFlow Lite `reference_integer_ops::Mul`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Mul {
    /// The fused activation.
    pub activation: Activation,
    /// Requantization from products to codes.
    pub requantize: Requantize,
}

impl Operator for Mul {
    const NAME: &'static str = "mul";
    const EFFORT: Effort = Effort::per_output(2 * CENTRE + 1 + REQUANTIZE + CLAMP);
    const MONOTONICITY: Monotonicity = Monotonicity::Bilinear;

    super::requantized!();

    fn requantizers(&self, operands: &Operands<'_>) -> Vec<Requantizer> {
        self.requantizer(operands).into_iter().collect()
    }

    super::activated!();

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        let shape = elementwise::output_shape(operands)?;
        self.requantizer(operands)?;
        Ok(shape)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Ok(requantizer), Ok(a), Ok(b), Ok(y)) = (
            self.requantizer(operands),
            operands.activation(0),
            operands.activation(1),
            operands.output_activation(),
        ) else {
            return Vec::new();
        };
        let [za, zb, zy] = [a, b, y].map(|q| i128::from(q.zero_point(0)));
        let (low, high) = self.activation.clamp(operands.output_dtype, y);
        elementwise::zip(operands, inputs, |a, b| {
            let product = (i128::from(a) - za) * (i128::from(b) - zb);
            requantizer.requantize(product, zy).clamp(low.into(), high.into()) as i32
        })
    }
}

impl Mul {
    fn requantizer(&self, operands: &Operands<'_>) -> Result<Requantizer, GraphError> {
        let (a, b, y) = (operands.activation(0)?, operands.activation(1)?, operands.output_activation()?);
        operands.requantizer(self.requantize, a.scale(0), b.scale(0), y.scale(0))
    }
}
