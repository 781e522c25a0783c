//! FULLY_CONNECTED.

use guardbit_graph::ops::FullyConnected;

use crate::tflite::error::TfliteError;
use crate::tflite::flatbuffer::Field;
use crate::tflite::operator::{NewNode, OperatorReader};
use crate::tflite::policy;

pub(super) fn fully_connected(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(8)?;
    reader.expect_inputs(2, 3)?;
    let format = options.scalar::<i8>(Field(1, "FullyConnectedOptions.weights_format"), 0)?;
    if format != 0 {
        return Err(reader.error("shuffled weights are not supported".into()));
    }
    let (x, weights) = (reader.input(0)?, reader.constant(1)?);
    let bias = reader.bias(2, x)?;
    reader.check_bias_scale(x, weights, bias)?;
    let op = FullyConnected {
        keep_num_dims: options.flag(Field(2, "FullyConnectedOptions.keep_num_dims"), false)?,
        activation: options.activation(Field(0, "FullyConnectedOptions.fused_activation_function"))?,
        requantize: policy::FULLY_CONNECTED,
    };
    Ok(NewNode { op: op.into(), inputs: vec![Some(x), Some(weights), bias] })
}
