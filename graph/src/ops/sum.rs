//! Sum over axes.

use super::reduce::Reduction;
use super::{Operands, Operator};
use crate::{DotProducts, GraphError, Requantize};

/// `y = round(sum of (x - zx) * sx/sy) + zy` over some axes, clamped.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Sum {
    /// The axes that are summed over, each once.
    pub axes: Vec<usize>,
    /// Whether those axes stay, with size 1.
    pub keep_dims: bool,
    /// From sums to codes. The multiplier is that of `s_x * 1 / s_y`.
    pub requantize: Requantize,
}

impl Operator for Sum {
    const NAME: &'static str = "sum";

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

impl Sum {
    fn reduction<'a>(&self, operands: &Operands<'a>) -> Result<Reduction<'a>, GraphError> {
        Reduction::new(operands, &self.axes, self.requantize, |scaled, _| scaled)
    }
}
