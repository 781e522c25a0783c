//! Change of shape.

use super::{Monotonicity, Operands, Operator};
use crate::effort::Effort;
use crate::{Brief, GraphError};

/// The codes of the input in unchanged order, with another shape.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Reshape {
    /// The sizes. One of them may be -1 and is then computed from the number of elements.
    pub shape: Vec<i64>,
}

impl Operator for Reshape {
    const NAME: &'static str = "reshape";
    const EFFORT: Effort = Effort::NOTHING;
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_output_like(0)?;
        self.resolved(operands.input(0).ty.len()).ok_or_else(|| {
            let problem =
                format!("{} does not fit the input's {:?}", Brief(&self.shape), operands.input(0).ty.shape);
            operands.attribute_error("shape", problem)
        })
    }

    fn evaluate(&self, _operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        inputs[0].to_vec()
    }
}

impl Reshape {
    fn resolved(&self, elements: usize) -> Option<Vec<usize>> {
        let known = self.shape.iter().filter(|&&size| size != -1);
        let known = known.map(|&size| usize::try_from(size).ok());
        let product = known.clone().try_fold(1usize, |n, size| n.checked_mul(size?))?;
        match self.shape.len() - known.count() {
            0 if product == elements => {}
            1 if product > 0 && elements.is_multiple_of(product) => {}
            _ => return None,
        }
        Some(
            self.shape
                .iter()
                .map(|&size| usize::try_from(size).unwrap_or_else(|_| elements / product))
                .collect(),
        )
    }
}
