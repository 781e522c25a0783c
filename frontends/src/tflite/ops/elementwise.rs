//! ADD, MUL, MAXIMUM and MINIMUM.

use guardbit_graph::ops::{Add, Maximum, Minimum, Mul};
use guardbit_graph::{DType, Op};

use crate::tflite::error::TfliteError;
use crate::tflite::flatbuffer::Field;
use crate::tflite::operator::{NewNode, OperatorReader};
use crate::tflite::policy;

pub(super) fn add(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(11)?;
    reader.expect_inputs(2, 2)?;
    let inputs = [reader.input(0)?, reader.input(1)?];
    // The kernel for 16-bit codes takes another way, shifts alone, if all scales are powers of two.
    if reader.output.dtype == DType::Int16 && options.flag(Field(1, "AddOptions.pot_scale_int16"), true)? {
        let mut types = inputs.iter().map(|&id| &reader.tensor(id).ty).chain([reader.output]);
        if types.all(|ty| ty.quantization.as_ref().is_some_and(|q| is_power_of_two(q.scale(0)))) {
            return Err(reader.error("int16 with scales that are powers of two is not supported".into()));
        }
    }
    let op = Add {
        activation: options.activation(Field(0, "AddOptions.fused_activation_function"))?,
        scheme: policy::ADD,
    };
    Ok(NewNode { op: op.into(), inputs: inputs.map(Some).to_vec() })
}

pub(super) fn mul(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(21)?;
    reader.expect_inputs(2, 2)?;
    let inputs = [reader.input(0)?, reader.input(1)?];
    let op = Mul {
        activation: options.activation(Field(0, "MulOptions.fused_activation_function"))?,
        requantize: policy::MUL,
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
