//! RESHAPE, SQUEEZE, EXPAND_DIMS, CONCATENATION, PAD, PADV2, MIRROR_PAD, TRANSPOSE, TILE, REVERSE_V2 and CAST.

use std::collections::HashMap;

use guardbit_graph::ops::{Cast, Concat, MirrorPad, Pad, Reshape, Reverse, Tile, Transpose};
use guardbit_graph::{Activation, DType, TensorId, TensorType};

use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{MICRO_MOVES_NOTHING, NewNode, OperatorReader};

pub(super) fn reshape(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(1, 2)?;
    let shape = if reader.inputs.len() == 2 {
        reader.integers(1)?
    } else {
        let shape = reader.options(17)?.integers(Field(0, "ReshapeOptions.new_shape"))?;
        shape.ok_or_else(|| reader.error("has no target shape".into()))?
    };
    Ok(NewNode { op: Reshape { shape }.into(), inputs: vec![Some(reader.input(0)?)] })
}

/// Reads a variable that was assigned or read before in this step. The operand already holds its value.
pub(super) fn read_variable(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(1, 1)?;
    let x = reader.input(0)?;
    let (held, read) = (reader.tensor(x).ty.shape.clone(), reader.output.shape.clone());
    if held != read {
        return Err(reader.error(format!("reads shape {read:?} of a variable that holds {held:?}")));
    }
    let shape = read.iter().map(|&size| size as i64).collect();
    Ok(NewNode::on(x, Reshape { shape }))
}

pub(super) fn squeeze(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let axes = reader.options(30)?.integers(Field(0, "SqueezeOptions.squeeze_dims"))?.unwrap_or_default();
    reader.expect_inputs(1, 1)?;
    let x = reader.input(0)?;
    let sizes = reader.tensor(x).ty.shape.clone();
    let axes = axes.into_iter().map(|axis| reader.axis(axis, sizes.len()));
    let axes = axes.collect::<Result<Vec<_>, _>>()?;
    if let Some(&axis) = axes.iter().find(|&&axis| sizes[axis] != 1) {
        return Err(reader.error(format!("axis {axis} of {sizes:?} does not have size 1")));
    }
    let leaves = |axis: usize| if axes.is_empty() { sizes[axis] == 1 } else { axes.contains(&axis) };
    let kept = (0..sizes.len()).filter(|&axis| !leaves(axis));
    let shape = kept.map(|axis| sizes[axis] as i64).collect();
    Ok(NewNode { op: Reshape { shape }.into(), inputs: vec![Some(x)] })
}

pub(super) fn concatenation(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(10)?;
    let activation = options.activation(Field(1, "ConcatenationOptions.fused_activation_function"))?;
    if activation != Activation::None {
        return Err(reader.error(format!("the fused activation {} is not supported", activation.name())));
    }
    let axis: i32 = options.scalar(Field(0, "ConcatenationOptions.axis"), 0)?;
    let axis = reader.axis(axis.into(), reader.output.shape.len())?;
    let inputs = (0..reader.inputs.len()).map(|index| reader.input(index).map(Some));
    let mut inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let mut known = HashMap::new();
    for input in inputs.iter_mut().flatten() {
        let x = *input;
        if reader.tensor(x).ty.quantization != reader.output.quantization {
            *input = match known.get(&x) {
                Some(&moved) => moved,
                None => moved(reader, x)?,
            };
            known.insert(x, *input);
        }
    }
    Ok(NewNode { op: Concat { axis, requantize: reader.profile().concatenation() }.into(), inputs })
}

/// Returns the codes of `x` with the scale and zero point of the output.
///
/// LiteRT converts uint8 codes in float32 (`ConcatenationWithScaling`) and rejects all others.
fn moved(reader: &mut OperatorReader<'_, '_>, x: TensorId) -> Result<TensorId, TfliteError> {
    let single = |ty: &TensorType| {
        let quantization = ty.quantization.clone().filter(|_| ty.dtype == DType::UInt8)?;
        quantization.axis().is_none().then_some((quantization.scale(0), quantization.zero_point(0)))
    };
    let tensor = reader.tensor(x);
    let (Some((from, from_zero)), Some((to, to_zero))) = (single(&tensor.ty), single(reader.output)) else {
        let problem = format!("tensor `{}` must have the scale and zero point of the output", tensor.name);
        return Err(reader.error(problem));
    };
    if reader.profile().is_micro() {
        return Err(reader.error(MICRO_MOVES_NOTHING.into()));
    }
    let scale = from * (1.0 / to);
    let bias = -(from_zero as f32) * scale;
    let code = |code: u8| {
        let rounded = (f32::from(code) * scale + bias).round() as i32;
        rounded.saturating_add(to_zero).clamp(0, u8::MAX.into())
    };
    reader.table(x, (0..=u8::MAX).map(code).collect())
}

pub(super) fn pad(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(2, 2)?;
    let op = Pad { paddings: reader.pairs(1)?, value: None };
    Ok(NewNode { op: op.into(), inputs: vec![Some(reader.input(0)?)] })
}

pub(super) fn padv2(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(3, 3)?;
    let value = reader.constant(2)?;
    let value = reader.tensor(value);
    let Some(code) = value.codes().filter(|codes| codes.len() == 1).map(|codes| codes.at(0)) else {
        return Err(reader.error(format!("tensor `{}` must be a single value", value.name)));
    };
    // The kernel uses the code unchanged.
    if value.ty.quantization != reader.output.quantization {
        return Err(
            reader.error(format!("tensor `{}` must have the scale and zero point of the output", value.name))
        );
    }
    let op = Pad { paddings: reader.pairs(1)?, value: Some(code) };
    Ok(NewNode { op: op.into(), inputs: vec![Some(reader.input(0)?)] })
}

pub(super) fn transpose(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(2, 2)?;
    let x = reader.input(0)?;
    let rank = reader.tensor(x).ty.shape.len();
    let permutation = reader.integers(1)?;
    let permutation = permutation.into_iter().map(|axis| reader.axis(axis, rank));
    let permutation = permutation.collect::<Result<Vec<_>, _>>()?;
    Ok(NewNode { op: Transpose { permutation }.into(), inputs: vec![Some(x)] })
}

pub(super) fn mirror_pad(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let symmetric = match reader.options(77)?.scalar::<i8>(Field(0, "MirrorPadOptions.mode"), 0)? {
        0 => false,
        1 => true,
        other => return Err(reader.error(format!("mode is {other}, expected 0 (REFLECT) or 1 (SYMMETRIC)"))),
    };
    reader.expect_inputs(2, 2)?;
    let op = MirrorPad { paddings: reader.pairs(1)?, symmetric };
    Ok(NewNode::on(reader.input(0)?, op))
}

pub(super) fn expand_dims(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(2, 2)?;
    let (x, axis) = (reader.input(0)?, reader.integer(1)?);
    let axis = reader.axis(axis, reader.shape(x).len() + 1)?;
    let mut shape: Vec<_> = reader.shape(x).iter().map(|&size| size as i64).collect();
    shape.insert(axis, 1);
    Ok(NewNode::on(x, Reshape { shape }))
}

pub(super) fn tile(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(2, 2)?;
    let op = Tile { repeats: reader.sizes(1)? };
    Ok(NewNode::on(reader.input(0)?, op))
}

pub(super) fn reverse(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(2, 2)?;
    let x = reader.input(0)?;
    let axes = reader.axes(1, reader.shape(x).len())?;
    Ok(NewNode::on(x, Reverse { axes }))
}

pub(super) fn cast(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    Ok(NewNode { op: Cast.into(), inputs: reader.one_input()? })
}
