//! Resizing by the nearest pixel.

use super::Operands;
use super::moved::{Moved, image, moved};
use crate::GraphError;
use crate::limits::check_extents;

/// Resizing in which each output pixel is the nearest pixel of the input `[n, h, w, c]`.
///
/// In float32, `i = (o + offset) * scale` with `scale = in/out`, or `(in-1)/(out-1)` between the centres of the
/// corners, and offset 1/2 with centres of pixels. `i` is rounded half away from zero between corners, otherwise
/// down, and clamped. The output has the dtype, scale and zero point of the input. Source: TensorFlow Lite
/// `reference_ops::ResizeNearestNeighbor`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ResizeNearest {
    /// Rows and columns of the output.
    pub size: [usize; 2],
    /// Whether the centres of the corner pixels of input and output coincide.
    pub align_corners: bool,
    /// Whether the position of a pixel is its centre instead of its corner.
    pub half_pixel_centers: bool,
}

moved!(ResizeNearest, "resize_nearest");

impl Moved for ResizeNearest {
    fn shape(&self, operands: &Operands<'_>, _input: &[usize]) -> Result<Vec<usize>, GraphError> {
        let [batch, _, _, channels] = image(operands)?;
        check_extents(operands, "size", self.size)?;
        Ok(vec![batch, self.size[0], self.size[1], channels])
    }

    fn source(&self, input: &[usize], output: &[usize], source: &mut [usize]) -> Option<()> {
        source.copy_from_slice(output);
        for axis in 0..2 {
            source[axis + 1] = self.place(output[axis + 1], input[axis + 1], axis);
        }
        Some(())
    }
}

impl ResizeNearest {
    /// Returns the row (axis 0) or column (axis 1), of `input` ones, for the output position `place`.
    pub fn place(&self, place: usize, input: usize, axis: usize) -> usize {
        let output = self.size[axis];
        let scale = if self.align_corners && output > 1 {
            (input - 1) as f32 / (output - 1) as f32
        } else {
            input as f32 / output as f32
        };
        let exact = (place as f32 + if self.half_pixel_centers { 0.5 } else { 0.0 }) * scale;
        let found = if self.align_corners { exact.round() } else { exact.floor() };
        (found as usize).min(input - 1)
    }
}
