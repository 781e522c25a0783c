//! Exponential function.

use super::lut::{Table, in_float64};
use super::{Monotonicity, Operands, Operator};
use crate::effort::{Effort, INTERPOLATE, LOOKUP};
use crate::{DType, GraphError};

/// `exp(x)` by a float32 table: of all codes of 8 bits, or of 513 codes of 16 bits with linear interpolation.
///
/// Source: TensorFlow Lite `EXP`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Exp;

impl Operator for Exp {
    const NAME: &'static str = "exp";
    /// Counts an interpolation in the table for 16 bits.
    const EFFORT: Effort = Effort::per_output(INTERPOLATE);
    const MONOTONICITY: Monotonicity = Monotonicity::Unknown;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        self.table(operands)?;
        Ok(operands.input(0).ty.shape.clone())
    }

    fn effort(&self, operands: &Operands<'_>) -> Effort {
        let is_wide = operands.input(0).ty.dtype == DType::Int16;
        Effort::per_output(if is_wide { INTERPOLATE } else { LOOKUP })
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        self.table(operands).map_or_else(|_| Vec::new(), |table| table.evaluate(inputs[0]))
    }
}

impl Exp {
    fn table(&self, operands: &Operands<'_>) -> Result<Table, GraphError> {
        Table::of(operands, in_float64(libm::exp))
    }
}
