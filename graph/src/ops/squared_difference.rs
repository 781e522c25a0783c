//! Squared difference.

use guardbit_num::{Multiplier, Requantizer, Scheme};

use super::{Operands, Operator, elementwise};
use crate::effort::{CENTRE, CLAMP, Effort, REQUANTIZE};
use crate::{DType, GraphError};

/// `(a - b)^2` with NumPy's broadcasting, on int8.
///
/// `A` and `B` are computed as in [`Add`](super::Add) with `L = 7`; then `y = round((A - B)^2 * t^2 / (2^14 * sy)) +
/// zy`, clamped. Source: TensorFlow Lite `SQUARED_DIFFERENCE`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SquaredDifference {
    /// Rounding scheme of each of the three products.
    #[serde(serialize_with = "crate::canonical::scheme")]
    pub scheme: Scheme,
}

impl Operator for SquaredDifference {
    const NAME: &'static str = "squared_difference";
    /// Counts an addition and a square.
    const EFFORT: Effort = Effort::per_output(2 * (CENTRE + 3) + 2 + REQUANTIZE + CLAMP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        let shape = elementwise::output_shape(operands)?;
        operands.expect_output_dtype(&[DType::Int8])?;
        self.requantizers(operands)?;
        Ok(shape)
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let (Ok([a, b, y]), Ok(qa), Ok(qb), Ok(qy)) = (
            self.requantizers(operands),
            operands.activation(0),
            operands.activation(1),
            operands.output_activation(),
        ) else {
            return Vec::new();
        };
        let [za, zb, zy] = [qa, qb, qy].map(|q| i128::from(q.zero_point(0)));
        elementwise::zip(operands, inputs, |left, right| {
            let difference = a.scale((i128::from(left) - za) << 7) - b.scale((i128::from(right) - zb) << 7);
            operands.output_dtype.saturate(y.requantize(difference * difference, zy))
        })
    }
}

impl SquaredDifference {
    fn requantizers(&self, operands: &Operands<'_>) -> Result<[Requantizer; 3], GraphError> {
        let (a, b, y) = (operands.activation(0)?, operands.activation(1)?, operands.output_activation()?);
        let [a, b, y] = [a, b, y].map(|q| f64::from(q.scale(0)));
        let twice_max = 2.0 * a.max(b);
        let requantizer = |real: f64| {
            let multiplier = Multiplier::new(real).map_err(|e| operands.multiplier_error(e))?;
            Ok(Requantizer::new(self.scheme, multiplier))
        };
        let output = twice_max * twice_max / (f64::from(1 << 14) * y);
        if output >= 1.0 {
            let problem =
                "has a scale that is too small: the runtime only supports multipliers below 1".into();
            return Err(operands.operand_error(operands.output_name, problem));
        }
        Ok([requantizer(a / twice_max)?, requantizer(b / twice_max)?, requantizer(output)?])
    }
}
