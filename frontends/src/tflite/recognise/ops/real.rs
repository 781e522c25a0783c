//! QUANTIZE, DEQUANTIZE, and operators on the real values between them: SQRT and FLOOR.

use guardbit_graph::ops::{Dequantize, FloatUnary, Quantize, QuantizeFloat, RealFunction};
use guardbit_graph::{DType, Op, TensorType};
use guardbit_num::Rounding;

use crate::tflite::parse::TfliteError;
use crate::tflite::recognise::kit::{NewNode, OperatorReader, Profile};

/// Reads QUANTIZE, from real values or from codes to codes of another type, scale or zero point.
pub(super) fn quantize(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let inputs = reader.one_input()?;
    let input = inputs[0].map(|x| reader.tensor(x).ty.clone());
    let from_real = input.as_ref().is_some_and(|ty| ty.dtype == DType::Float32);
    let scale = |ty: &TensorType| ty.quantization.as_ref().map(|q| q.scale(0));
    let same = input.is_none_or(|ty| scale(&ty) == scale(reader.output));
    if reader.profile() == Profile::Xnnpack && !same {
        return Err(reader.error("the results of profile xnnpack with another scale are unknown".into()));
    }
    let op: Op = match from_real {
        true => QuantizeFloat { rounding: Rounding::HalfAway, zero_point_first: false }.into(),
        false => Quantize { requantize: reader.profile().quantize() }.into(),
    };
    Ok(NewNode { op, inputs })
}

pub(super) fn dequantize(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    Ok(NewNode { op: Dequantize {}.into(), inputs: reader.one_input()? })
}

pub(super) fn sqrt(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    unary(reader, RealFunction::Sqrt)
}

pub(super) fn floor(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    unary(reader, RealFunction::Floor)
}

fn unary(reader: &mut OperatorReader<'_, '_>, function: RealFunction) -> Result<NewNode, TfliteError> {
    let inputs = reader.one_input()?;
    if reader.output.dtype != DType::Float32 {
        return Err(reader.error("only supports float32".into()));
    }
    Ok(NewNode { op: FloatUnary { function, parameters: Vec::new() }.into(), inputs })
}
