//! Transposed 2-D convolution.

use super::operands::Operands;
use super::weighted::{self, Geometry};
use super::window::Sliding;
use super::{Mac, Operator, window};
use crate::dot::{DotProducts, WeightCodes};
use crate::effort::Effort;
use crate::{Activation, GraphError, Padding, Requantize};

/// A transposed convolution on an image that its stride has already spread ([`Dilate`](super::Dilate)).
///
/// `y[n,h,w,o] = sum over kh, kw, i of (x[n, h+kh-p, w+kw-q, i] - zx) * (w[o, KH-1-kh, KW-1-kw, i] - zw)`, plus bias,
/// requantized. Every input pixel adds its product with the whole kernel to the output around it. Seen from an output
/// element, this is a window of stride 1 with mirrored weights.
///
/// Inputs: activations `[n, h, w, c]`, constant weights `[o, kh, kw, c]` (scales per tensor or along axis 0),
/// optional bias `[o]`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct TransposeConv2d {
    /// Padding of the spread image.
    pub padding: Padding,
    /// The fused activation.
    pub activation: Activation,
    /// Requantization from sums to codes.
    pub requantize: Requantize,
}

impl Operator for TransposeConv2d {
    const NAME: &'static str = "transpose_conv2d";
    const EFFORT: Effort = Effort::PRODUCTS;
    const MAC: Option<Mac> = Some(Mac::Weighted);

    super::activated!();

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        Ok(window::output_shape(&self.parts(operands)?.window))
    }

    fn dot_products(&self, operands: &Operands<'_>) -> Option<DotProducts> {
        self.parts(operands).ok()
    }
}

impl TransposeConv2d {
    fn parts(&self, operands: &Operands<'_>) -> Result<DotProducts, GraphError> {
        let mut dots =
            weighted::dot_products(operands, self.requantize, self.activation, || self.geometry(operands))?;
        if let Some(weights) = &mut dots.weights {
            let [_, rows, cols, depth] = operands.shape(1)?;
            // Reverses the cells of a kernel, and keeps the order of the channels of each.
            let cells = rows * cols;
            let mirrored = |cell: usize| cell / cells * cells + (cells - 1 - cell % cells);
            if let WeightCodes::Constant(codes) = &mut weights.codes {
                let all = 0..codes.len() / depth.max(1);
                let places = all.flat_map(|cell| mirrored(cell) * depth..(mirrored(cell) + 1) * depth);
                *codes = codes.at_all(places);
            }
        }
        Ok(dots)
    }

    fn geometry(&self, operands: &Operands<'_>) -> Result<Geometry, GraphError> {
        let input @ [_, _, _, channels] = operands.shape(0)?;
        let [out_channels, rows, cols, depth] = operands.shape(1)?;
        if depth != channels || out_channels == 0 {
            return Err(operands.shape_error(operands.input(1), format!("[o, kh, kw, {channels}]")));
        }
        let sliding =
            Sliding { kernel: [rows, cols], stride: [1, 1], dilation: [1, 1], padding: self.padding };
        let window = sliding.over(operands, input, out_channels, depth, 1)?;
        Ok(Geometry { window, axis: 0, strides: [rows * cols * depth, cols * depth, depth, 1] })
    }
}
