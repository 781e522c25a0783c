//! AVERAGE_POOL_2D and MAX_POOL_2D.

use guardbit_graph::ops::{AvgPool2d, MaxPool2d};
use guardbit_graph::{Activation, Padding};

use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{NewNode, OperatorReader};

pub(super) fn average(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let Pool { kernel, stride, padding, activation } = pool(reader)?;
    let op = AvgPool2d { kernel, stride, padding, activation };
    Ok(NewNode { op: op.into(), inputs: reader.one_input()? })
}

pub(super) fn max(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let Pool { kernel, stride, padding, activation } = pool(reader)?;
    let op = MaxPool2d { kernel, stride, padding, activation };
    Ok(NewNode { op: op.into(), inputs: reader.one_input()? })
}

struct Pool {
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: Padding,
    activation: Activation,
}

fn pool(reader: &OperatorReader<'_, '_>) -> Result<Pool, TfliteError> {
    let options = reader.options(5)?;
    Ok(Pool {
        padding: options.padding(Field(0, "Pool2DOptions.padding"))?,
        stride: [
            options.size(Field(2, "Pool2DOptions.stride_h"), 0)?,
            options.size(Field(1, "Pool2DOptions.stride_w"), 0)?,
        ],
        kernel: [
            options.size(Field(4, "Pool2DOptions.filter_height"), 0)?,
            options.size(Field(3, "Pool2DOptions.filter_width"), 0)?,
        ],
        activation: options.activation(Field(5, "Pool2DOptions.fused_activation_function"))?,
    })
}
