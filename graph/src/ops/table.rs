//! Lookup tables of codes.

use super::{Operands, Operator};
use crate::effort::{Effort, LOOKUP};
use crate::{DType, GraphError};

/// `y = table[x - least code]`: any function of single codes.
///
/// Inputs: x, codes of at most 16 bits, and a constant with one code per code of x, from the least one on. The
/// constant has the dtype, scale and zero point of the output.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct Table {}

impl Operator for Table {
    const NAME: &'static str = "table";
    const EFFORT: Effort = Effort::per_output(LOOKUP);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(2, 2)?;
        let input = operands.input(0);
        operands.expect_dtype(0, CODES)?;
        operands.expect_dtype(1, &[operands.output_dtype])?;
        operands.constant(1)?;
        let (table, codes) = (operands.input(1), 1usize << input.ty.dtype.bits());
        if table.ty.shape != [codes] {
            return Err(operands.shape_error(table, format!("[{codes}], one code per {}", input.ty.dtype)));
        }
        if table.ty.quantization.as_ref() != operands.output_quantization {
            let problem = "must have the scale and zero point of the output".into();
            return Err(operands.operand_error(&table.name, problem));
        }
        Ok(input.ty.shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let least = operands.input(0).ty.dtype.min();
        inputs[0].iter().map(|&code| inputs[1][(code - least) as usize]).collect()
    }
}

/// The dtypes for which a table is possible.
const CODES: &[DType] = &[DType::Int4, DType::UInt4, DType::Int8, DType::UInt8, DType::Int16, DType::UInt16];
