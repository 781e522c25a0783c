//! Mean over axes.

use super::reduce::Reduction;
use super::{Operands, Operator};
use crate::{DotProducts, GraphError, Requantize};

/// `y = round(sum of (x - zx) * (sx/sy) / n) + zy` over the `n` elements of some axes, clamped.
///
/// The integer multiplier of `sx/sy` is divided by `n` as TensorFlow Lite does it:
/// [`Multiplier::divided_by`](guardbit_num::Multiplier::divided_by).
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Mean {
    /// The axes that are summed over, each once.
    pub axes: Vec<usize>,
    /// Whether those axes stay, with size 1.
    pub keep_dims: bool,
    /// From sums to codes. The multiplier is that of `s_x * 1 / s_y`.
    pub requantize: Requantize,
}

impl Operator for Mean {
    const NAME: &'static str = "mean";

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        self.reduction(operands).map(|reduction| reduction.output_shape(self.keep_dims))
    }

    fn dot_products(&self, operands: &Operands<'_>) -> Option<DotProducts> {
        self.reduction(operands).ok()?.dot_products()
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        self.reduction(operands).map_or_else(|_| Vec::new(), |reduction| reduction.evaluate(inputs[0]))
    }
}

impl Mean {
    fn reduction<'a>(&self, operands: &Operands<'a>) -> Result<Reduction<'a>, GraphError> {
        Reduction::new(operands, &self.axes, self.requantize, |scaled, count| scaled.divided_by(count as u64))
    }
}
