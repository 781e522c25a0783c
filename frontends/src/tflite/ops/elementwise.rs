//! ADD, SUB, MUL, SQUARED_DIFFERENCE, MAXIMUM and MINIMUM.

use guardbit_graph::ops::{Add, Maximum, Minimum, Mul, SquaredDifference, Sub};
use guardbit_graph::{DType, Op};
use guardbit_num::Scheme;

use crate::tflite::error::TfliteError;
use crate::tflite::flatbuffer::Field;
use crate::tflite::operator::{NewNode, OperatorReader};

pub(super) fn add(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(11)?;
    let shifts = options.flag(Field(1, "AddOptions.pot_scale_int16"), true)?;
    let activation = options.activation(Field(0, "AddOptions.fused_activation_function"))?;
    additive(reader, Add { activation, scheme: reader.profile().additive() }.into(), shifts)
}

pub(super) fn sub(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(28)?;
    let shifts = options.flag(Field(1, "SubOptions.pot_scale_int16"), true)?;
    let activation = options.activation(Field(0, "SubOptions.fused_activation_function"))?;
    additive(reader, Sub { activation, scheme: reader.profile().additive() }.into(), shifts)
}

/// The kernels for 16-bit codes take another way, shifts alone, if all scales are powers of two and `shifts` is set.
fn additive(reader: &mut OperatorReader<'_, '_>, op: Op, shifts: bool) -> Result<NewNode, TfliteError> {
    let node = pair(reader, op)?;
    if reader.output.dtype == DType::Int16 && shifts {
        let inputs = node.inputs.iter().flatten().map(|&id| &reader.tensor(id).ty);
        let mut types = inputs.chain([reader.output]);
        if types.all(|ty| ty.quantization.as_ref().is_some_and(|q| is_power_of_two(q.scale(0)))) {
            return Err(reader.error("int16 with scales that are powers of two is not supported".into()));
        }
    }
    Ok(node)
}

pub(super) fn squared_difference(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    pair(reader, SquaredDifference { scheme: Scheme::Double }.into())
}

pub(super) fn mul(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(21)?;
    reader.expect_inputs(2, 2)?;
    let inputs = [reader.input(0)?, reader.input(1)?];
    let op = Mul {
        activation: options.activation(Field(0, "MulOptions.fused_activation_function"))?,
        requantize: reader.profile().mul(),
    };
    Ok(NewNode { op: op.into(), inputs: inputs.map(Some).to_vec() })
}

pub(super) fn maximum(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    pair(reader, Maximum.into())
}

pub(super) fn minimum(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    pair(reader, Minimum.into())
}

fn pair(reader: &mut OperatorReader<'_, '_>, op: Op) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(2, 2)?;
    Ok(NewNode { op, inputs: vec![Some(reader.input(0)?), Some(reader.input(1)?)] })
}

fn is_power_of_two(scale: f32) -> bool {
    const FRACTION: u32 = (1 << (f32::MANTISSA_DIGITS - 1)) - 1;
    scale.to_bits() & FRACTION == 0
}
