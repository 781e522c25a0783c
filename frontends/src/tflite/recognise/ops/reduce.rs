//! MEAN, SUM, REDUCE_MAX, REDUCE_MIN, ARG_MAX and ARG_MIN.

use guardbit_graph::TensorId;
use guardbit_graph::ops::{ArgMax, ArgMin, Mean, ReduceMax, ReduceMin, Sum};

use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{NewNode, OperatorReader};

pub(super) fn mean(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let Reduction { x, axes, keep_dims } = reduction(reader)?;
    let op = Mean { axes, keep_dims, requantize: reader.profile().reduction() };
    Ok(NewNode { op: op.into(), inputs: vec![Some(x)] })
}

pub(super) fn sum(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let Reduction { x, axes, keep_dims } = reduction(reader)?;
    let op = Sum { axes, keep_dims, requantize: reader.profile().reduction() };
    Ok(NewNode { op: op.into(), inputs: vec![Some(x)] })
}

pub(super) fn max(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let Reduction { x, axes, keep_dims } = reduction(reader)?;
    Ok(NewNode::on(x, ReduceMax { axes, keep_dims }))
}

pub(super) fn min(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let Reduction { x, axes, keep_dims } = reduction(reader)?;
    Ok(NewNode::on(x, ReduceMin { axes, keep_dims }))
}

pub(super) fn arg_max(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let (x, axis) = along(reader)?;
    Ok(NewNode::on(x, ArgMax { axis, keep_dims: false }))
}

pub(super) fn arg_min(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let (x, axis) = along(reader)?;
    Ok(NewNode::on(x, ArgMin { axis, keep_dims: false }))
}

/// Returns an input and one of its axes.
fn along(reader: &mut OperatorReader<'_, '_>) -> Result<(TensorId, usize), TfliteError> {
    reader.expect_inputs(2, 2)?;
    let (x, axis) = (reader.input(0)?, reader.integer(1)?);
    Ok((x, reader.axis(axis, reader.shape(x).len())?))
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
    let axes = reader.axes(1, rank)?;
    Ok(Reduction { x, axes, keep_dims })
}
