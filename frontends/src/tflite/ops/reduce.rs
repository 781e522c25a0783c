//! MEAN and SUM.

use guardbit_graph::TensorId;
use guardbit_graph::ops::{Mean, Sum};

use crate::tflite::error::TfliteError;
use crate::tflite::flatbuffer::Field;
use crate::tflite::operator::{NewNode, OperatorReader};
use crate::tflite::policy;

pub(super) fn mean(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let Reduction { x, axes, keep_dims } = reduction(reader)?;
    let op = Mean { axes, keep_dims, requantize: policy::REDUCTION };
    Ok(NewNode { op: op.into(), inputs: vec![Some(x)] })
}

pub(super) fn sum(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let Reduction { x, axes, keep_dims } = reduction(reader)?;
    let op = Sum { axes, keep_dims, requantize: policy::REDUCTION };
    Ok(NewNode { op: op.into(), inputs: vec![Some(x)] })
}

struct Reduction {
    x: TensorId,
    axes: Vec<usize>,
    keep_dims: bool,
}

fn reduction(reader: &mut OperatorReader<'_, '_>) -> Result<Reduction, TfliteError> {
    let keep_dims = reader.options(27)?.flag(Field(0, "ReducerOptions.keep_dims"), false)?;
    reader.expect_inputs(2, 2)?;
    let x = reader.input(0)?;
    let rank = reader.tensor(x).ty.shape.len();
    let axes = reader.integers(1)?;
    let axes = axes.into_iter().map(|axis| reader.axis(axis, rank));
    let mut axes = axes.collect::<Result<Vec<_>, _>>()?;
    axes.sort_unstable();
    axes.dedup();
    Ok(Reduction { x, axes, keep_dims })
}
