//! CONV_2D and DEPTHWISE_CONV_2D.

use guardbit_graph::DType;
use guardbit_graph::ops::{Conv2d, DepthwiseConv2d};

use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{Accumulator, NewNode, OperatorReader};

pub(super) fn conv2d(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(1)?;
    reader.expect_inputs(2, 3)?;
    let (x, weights) = (reader.input(0)?, reader.weights(1)?);
    let bias = reader.bias(2, x)?;
    if reader.tensor(x).ty.dtype == DType::UInt8 {
        reader.check_bias_scale(x, weights, bias)?;
    }
    let declared = options.scalar::<i8>(Field(6, "Conv2DOptions.quantized_bias_type"), 0)?;
    let accumulator = match bias {
        Some(bias) => Accumulator::of_bias(&reader.tensor(bias).ty),
        None => Accumulator::declared(declared),
    };
    let op = Conv2d {
        padding: options.padding(Field(0, "Conv2DOptions.padding"))?,
        stride: [
            options.size(Field(2, "Conv2DOptions.stride_h"), 0)?,
            options.size(Field(1, "Conv2DOptions.stride_w"), 0)?,
        ],
        activation: options.activation(Field(3, "Conv2DOptions.fused_activation_function"))?,
        dilation: [
            options.size(Field(5, "Conv2DOptions.dilation_h_factor"), 1)?,
            options.size(Field(4, "Conv2DOptions.dilation_w_factor"), 1)?,
        ],
        requantize: reader.profile().convolution(&reader.tensor(x).ty, accumulator),
    };
    Ok(NewNode { op: op.into(), inputs: vec![Some(x), Some(weights), bias] })
}

pub(super) fn depthwise_conv2d(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(2)?;
    reader.expect_inputs(2, 3)?;
    let (x, weights) = (reader.input(0)?, reader.weights(1)?);
    let bias = reader.bias(2, x)?;
    if reader.tensor(x).ty.dtype == DType::UInt8 {
        reader.check_bias_scale(x, weights, bias)?;
    }
    if let Some(bias) = bias.map(|bias| reader.tensor(bias)) {
        let (x, bias_type) = (reader.tensor(x).ty.dtype, bias.ty.dtype);
        if x == DType::Int16 && bias_type != DType::Int64 {
            let problem =
                format!("bias `{}` is {bias_type}; with int16 activations it must be int64", bias.name);
            return Err(reader.error(problem));
        }
    }
    let multiplier = options.size(Field(3, "DepthwiseConv2DOptions.depth_multiplier"), 0)?;
    let channels = |id| reader.tensor(id).ty.shape.last().copied().unwrap_or_default();
    if multiplier != 0 && channels(x).checked_mul(multiplier) != Some(channels(weights)) {
        return Err(reader.error(format!(
            "depth multiplier {multiplier} does not match {} input and {} output channels",
            channels(x),
            channels(weights)
        )));
    }
    let op = DepthwiseConv2d {
        padding: options.padding(Field(0, "DepthwiseConv2DOptions.padding"))?,
        stride: [
            options.size(Field(2, "DepthwiseConv2DOptions.stride_h"), 0)?,
            options.size(Field(1, "DepthwiseConv2DOptions.stride_w"), 0)?,
        ],
        activation: options.activation(Field(4, "DepthwiseConv2DOptions.fused_activation_function"))?,
        dilation: [
            options.size(Field(6, "DepthwiseConv2DOptions.dilation_h_factor"), 1)?,
            options.size(Field(5, "DepthwiseConv2DOptions.dilation_w_factor"), 1)?,
        ],
        requantize: reader.profile().convolution(&reader.tensor(x).ty, Accumulator::Bits64),
    };
    Ok(NewNode { op: op.into(), inputs: vec![Some(x), Some(weights), bias] })
}
