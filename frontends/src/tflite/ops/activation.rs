//! RELU, RELU6, SOFTMAX and QUANTIZE.

use guardbit_graph::ops::{Quantize, Relu, Relu6, Softmax};

use crate::tflite::error::TfliteError;
use crate::tflite::flatbuffer::Field;
use crate::tflite::operator::{NewNode, OperatorReader};
use crate::tflite::policy;

pub(super) fn relu(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    Ok(NewNode { op: Relu { requantize: policy::RELU }.into(), inputs: reader.one_input()? })
}

pub(super) fn relu6(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    Ok(NewNode { op: Relu6 { requantize: policy::RELU }.into(), inputs: reader.one_input()? })
}

pub(super) fn softmax(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let beta = reader.options(9)?.scalar(Field(0, "SoftmaxOptions.beta"), 0.0)?;
    Ok(NewNode { op: Softmax { beta }.into(), inputs: reader.one_input()? })
}

pub(super) fn quantize(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    Ok(NewNode { op: Quantize { requantize: policy::QUANTIZE }.into(), inputs: reader.one_input()? })
}
