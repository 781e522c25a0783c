//! ADD, SUB, MUL, DIV, FLOOR_DIV, SQUARED_DIFFERENCE, MAXIMUM and MINIMUM.

use guardbit_graph::ops::{
    Add, FloatBinary, IntegerBinary, IntegerPair, Maximum, Minimum, Mul, RealPair, SquaredDifference, Sub,
};
use guardbit_graph::{Activation, DType, Op};

use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{NewNode, OperatorReader};

pub(super) fn add(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(11)?;
    let shifts = options.flag(Field(1, "AddOptions.pot_scale_int16"), true)?;
    let activation = options.activation(Field(0, "AddOptions.fused_activation_function"))?;
    if let Some(node) = plain(reader, activation, RealPair::Add, IntegerPair::Add)? {
        return Ok(node);
    }
    additive(reader, Add { activation, scheme: reader.profile().additive() }.into(), shifts)
}

pub(super) fn sub(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(28)?;
    let shifts = options.flag(Field(1, "SubOptions.pot_scale_int16"), true)?;
    let activation = options.activation(Field(0, "SubOptions.fused_activation_function"))?;
    if let Some(node) = plain(reader, activation, RealPair::Sub, IntegerPair::Sub)? {
        return Ok(node);
    }
    additive(reader, Sub { activation, scheme: reader.profile().additive() }.into(), shifts)
}

/// Reads ADD or SUB. The kernels for 16-bit codes only shift if all scales are powers of two and `shifts` is set.
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
    pair(reader, SquaredDifference { scheme: reader.profile().squared_difference() }.into())
}

pub(super) fn mul(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(21)?;
    let activation = options.activation(Field(0, "MulOptions.fused_activation_function"))?;
    if let Some(node) = plain(reader, activation, RealPair::Mul, IntegerPair::Mul)? {
        return Ok(node);
    }
    pair(reader, Mul { activation, requantize: reader.profile().mul() }.into())
}

pub(super) fn div(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(29)?;
    let activation = options.activation(Field(0, "DivOptions.fused_activation_function"))?;
    if reader.output.dtype != DType::Float32 || activation != Activation::None {
        return Err(reader.error("supports float32 only without a fused activation".into()));
    }
    pair(reader, FloatBinary { function: RealPair::Div }.into())
}

pub(super) fn floor_div(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    pair(reader, IntegerBinary { function: IntegerPair::FloorDiv }.into())
}

/// Returns the operation on real values, or on integers without a scale. Returns `None` for codes.
fn plain(
    reader: &mut OperatorReader<'_, '_>,
    activation: Activation,
    of_reals: RealPair,
    of_integers: IntegerPair,
) -> Result<Option<NewNode>, TfliteError> {
    let op: Op = match (reader.output.dtype, &reader.output.quantization) {
        (DType::Float32, _) => FloatBinary { function: of_reals }.into(),
        (DType::Int32, None) => IntegerBinary { function: of_integers }.into(),
        _ => return Ok(None),
    };
    if activation != Activation::None {
        let problem =
            format!("the fused activation {} is not supported on {}", activation.name(), reader.output.dtype);
        return Err(reader.error(problem));
    }
    pair(reader, op).map(Some)
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
