//! PReLU: a rectifier whose slopes below 0 are a tensor.

use guardbit_num::Requantizer;

use super::{Operands, Operator, elementwise};
use crate::effort::{CENTRE, CLAMP, Effort, REQUANTIZE};
use crate::{DType, GraphError, Requantize};

/// `x` if it is not negative, otherwise `x * alpha`, with NumPy's broadcasting.
///
/// `y = round((x - zx) * sx/sy) + zy`, or `round((x - zx) * (alpha - za) * sx*sa/sy) + zy`. Slopes have the dtype of
/// the activations, or int8. Source: TensorFlow Lite `reference_ops::Prelu`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Prelu {
    /// Requantization from products to codes.
    pub requantize: Requantize,
}

impl Operator for Prelu {
    const NAME: &'static str = "prelu";
    /// Counts a leaky rectifier with a slope per element.
    const EFFORT: Effort = Effort::per_output(2 * CENTRE + 1 + 2 + 2 + REQUANTIZE + CLAMP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(2, 2)?;
        let dtype = operands.input(0).ty.dtype;
        operands.expect_dtype(1, &[dtype, DType::Int8])?;
        operands.expect_output_dtype(&[dtype])?;
        self.slopes(operands)?;
        elementwise::shape(operands)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Ok([above, below]), Ok(x), Ok(alpha), Ok(y)) = (
            self.slopes(operands),
            operands.activation(0),
            operands.activation(1),
            operands.output_activation(),
        ) else {
            return Vec::new();
        };
        let [zx, za, zy] = [x, alpha, y].map(|q| i128::from(q.zero_point(0)));
        elementwise::zip(operands, inputs, |x, alpha| {
            let centred = i128::from(x) - zx;
            let scaled = match centred >= 0 {
                true => above.scale(centred),
                false => below.scale(centred * (i128::from(alpha) - za)),
            };
            operands.output_dtype.saturate(scaled + zy)
        })
    }
}

impl Prelu {
    fn slopes(&self, operands: &Operands<'_>) -> Result<[Requantizer; 2], GraphError> {
        let (x, alpha) = (operands.activation(0)?.scale(0), operands.activation(1)?.scale(0));
        let y = operands.output_activation()?.scale(0);
        Ok([
            operands.requantizer(self.requantize, x, 1.0, y)?,
            operands.requantizer(self.requantize, x, alpha, y)?,
        ])
    }
}
