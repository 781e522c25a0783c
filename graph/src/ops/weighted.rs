//! Code shared by operations with weights.
//!
//! Inputs: activations, constant weights (scales per tensor or along the axis of the output channels), optional bias,
//! one per output channel.

use super::operands::{Operands, WEIGHTS};
use crate::dot::{DotProducts, DotWeights, Finish, OutputStage, WeightCodes, Window};
use crate::{Activation, DType, GraphError, Requantize};

const ACTIVATIONS: usize = 0;
const CONSTANTS: usize = 1;
const BIAS: usize = 2;

/// The geometry of an operation's products.
pub(super) struct Geometry {
    /// The window over the activations.
    pub window: Window,
    /// Axis of the output channels in the weights.
    pub axis: usize,
    /// Distance between neighbours of the weights along `[out channel, kernel row, kernel column, kernel channel]`.
    pub strides: [usize; 4],
}

/// Returns the dot products of an operation. `geometry` finds the window from the shapes of activations and weights.
pub(super) fn dot_products(
    operands: &Operands<'_>,
    requantize: Requantize,
    activation: Activation,
    geometry: impl FnOnce() -> Result<Geometry, GraphError>,
) -> Result<DotProducts, GraphError> {
    operands.expect_inputs(CONSTANTS + 1, BIAS + 1)?;
    operands.expect_dtype(CONSTANTS, WEIGHTS)?;
    let Geometry { window, axis, strides } = geometry()?;
    let channels = window.channels();
    let (weight_scales, zero_points) = operands.weight_channels(CONSTANTS, axis, channels)?;
    let stage = output_stage(operands, requantize, activation, weight_scales)?;
    Ok(DotProducts {
        window,
        input_zero_point: operands.activation(ACTIVATIONS)?.zero_point(0),
        weights: Some(DotWeights {
            codes: WeightCodes::Constant(operands.constant(CONSTANTS)?),
            zero_points,
            strides,
        }),
        bias: operands.bias(BIAS, channels)?,
        finish: Finish::Requantize(stage),
    })
}

/// Checks and returns the requantization. An output of 32 bits holds the unchanged sums.
fn output_stage(
    operands: &Operands<'_>,
    requantize: Requantize,
    activation: Activation,
    weight_scales: Vec<f32>,
) -> Result<OutputStage, GraphError> {
    if operands.output_dtype == DType::Int32 {
        return Ok(OutputStage::sums(weight_scales.len()));
    }
    let output = operands.output_activation()?;
    let stage = OutputStage {
        requantize,
        input_scale: operands.activation(ACTIVATIONS)?.scale(0),
        weight_scales,
        output_scale: output.scale(0),
        output_zero_point: output.zero_point(0),
        activation,
        clamp: activation.clamp(operands.output_dtype, output),
    };
    stage.requantizers(None).map_err(|e| operands.multiplier_error(e))?;
    Ok(stage)
}
