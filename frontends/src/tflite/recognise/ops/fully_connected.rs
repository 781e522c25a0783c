//! FULLY_CONNECTED and BATCH_MATMUL.

use guardbit_graph::ops::{BatchMatmul, FullyConnected};

use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{Accumulator, NewNode, OperatorReader};

pub(super) fn fully_connected(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(8)?;
    reader.expect_inputs(2, 3)?;
    let format = options.scalar::<i8>(Field(1, "FullyConnectedOptions.weights_format"), 0)?;
    if format != 0 {
        return Err(reader.error("shuffled weights are not supported".into()));
    }
    let (x, weights) = (reader.input(0)?, reader.weights(1)?);
    let bias = reader.bias(2, x)?;
    reader.check_bias_scale(x, weights, bias)?;
    let declared = options.scalar::<i8>(Field(4, "FullyConnectedOptions.quantized_bias_type"), 0)?;
    let accumulator = match bias {
        Some(bias) => Accumulator::of_bias(&reader.tensor(bias).ty),
        None => Accumulator::declared(declared),
    };
    let op = FullyConnected {
        keep_num_dims: options.flag(Field(2, "FullyConnectedOptions.keep_num_dims"), false)?,
        activation: options.activation(Field(0, "FullyConnectedOptions.fused_activation_function"))?,
        requantize: reader.profile().fully_connected(&reader.tensor(x).ty, accumulator),
    };
    Ok(NewNode { op: op.into(), inputs: vec![Some(x), Some(weights), bias] })
}

pub(super) fn batch_matmul(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(101)?;
    reader.expect_inputs(2, 2)?;
    let inputs = vec![Some(reader.input(0)?), Some(reader.input(1)?)];
    let op = BatchMatmul {
        adj_x: options.flag(Field(0, "BatchMatMulOptions.adj_x"), false)?,
        adj_y: options.flag(Field(1, "BatchMatMulOptions.adj_y"), false)?,
        requantize: reader.profile().batch_matmul(reader.output),
    };
    Ok(NewNode { op: op.into(), inputs })
}
