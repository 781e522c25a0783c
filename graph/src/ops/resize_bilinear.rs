//! Bilinear resizing.

use super::moved::image;
use super::{Monotonicity, Operands, Operator};
use crate::GraphError;
use crate::effort::{Effort, REQUANTIZE};
use crate::limits::check_extents;

/// Resizing in which each output pixel is the weighted mean of the four pixels of the input `[n, h, w, c]` around it.
///
/// Positions and weights have 10 fraction bits. The scale is `(1024*in + out/2)/out`, or `(1024*(in-1) +
/// (out-1)/2)/(out-1)` between the centres of the corners. The position is `o*scale`, plus `scale/2 - 512` with
/// centres of pixels. The sum of 20 fraction bits is rounded half away from zero. Source: TensorFlow Lite
/// `reference_ops::ResizeBilinearInteger`.
///
/// `reference_ops::ResizeBilinear`, which runs uint8, has positions and weights in float32, adds 1/2 and truncates.
/// The output has the dtype, scale and zero point of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ResizeBilinear {
    /// Rows and columns of the output.
    pub size: [usize; 2],
    /// Whether the centres of the corner pixels of input and output coincide.
    pub align_corners: bool,
    /// Whether the position of a pixel is its centre instead of its corner.
    pub half_pixel_centers: bool,
    /// Whether positions and weights are in float32.
    pub in_float32: bool,
}

const ONE: i64 = 1 << 10;

impl Operator for ResizeBilinear {
    const NAME: &'static str = "resize_bilinear";
    /// Counts four weights and four products with additions.
    const EFFORT: Effort = Effort::per_output(4 + 4 + REQUANTIZE);
    const MONOTONICITY: Monotonicity = Monotonicity::Increasing;

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        operands.expect_inputs(1, 1)?;
        operands.expect_output_like(0)?;
        operands.activation(0)?;
        let [batch, rows, cols, channels] = image(operands)?;
        check_extents(operands, "size", self.size)?;
        if self.align_corners && self.half_pixel_centers {
            return Err(operands.attribute_error("align_corners", "excludes half_pixel_centers".into()));
        }
        for (input, output) in [(rows, self.size[0]), (cols, self.size[1])] {
            // The scale is rounded, so the last of very many positions can lie outside. The runtime reads it anyway.
            if self.between(output - 1, input, output).low >= input {
                let problem = format!("{output} reads outside of the {input} pixels of the input");
                return Err(operands.attribute_error("size", problem));
            }
        }
        Ok(vec![batch, self.size[0], self.size[1], channels])
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok([batch, rows, cols, channels]) = image(operands) else { return Vec::new() };
        let pixel = |n: usize, row: usize, col: usize| {
            &inputs[0][((n * rows + row) * cols + col) * channels..][..channels]
        };
        let mut output = Vec::with_capacity(batch * self.size[0] * self.size[1] * channels);
        for (n, y, x) in places(batch, self.size) {
            if self.in_float32 {
                let (y, x) = (self.between_in_float32(y, rows, 0), self.between_in_float32(x, cols, 1));
                output.extend((0..channels).map(|c| y.mean_in_float32(&x, |row, col| pixel(n, row, col)[c])));
            } else {
                let (y, x) = (self.between(y, rows, self.size[0]), self.between(x, cols, self.size[1]));
                output.extend((0..channels).map(|c| y.mean(&x, |row, col| pixel(n, row, col)[c])));
            }
        }
        output
    }
}

/// Returns image, row and column of every pixel.
fn places(batch: usize, [rows, cols]: [usize; 2]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..batch).flat_map(move |n| (0..rows).flat_map(move |y| (0..cols).map(move |x| (n, y, x))))
}

/// Two positions along an axis of the input, and the weight of the second one.
struct Between<T> {
    low: usize,
    high: usize,
    weight: T,
}

impl Between<i64> {
    /// Returns the mean of four pixels.
    fn mean(&self, across: &Self, pixel: impl Fn(usize, usize) -> i32) -> i32 {
        let mut sum = 0;
        for (row, down) in [(self.low, ONE - self.weight), (self.high, self.weight)] {
            for (col, along) in [(across.low, ONE - across.weight), (across.high, across.weight)] {
                sum += i64::from(pixel(row, col)) * down * along;
            }
        }
        let half = if sum > 0 { 1 << 19 } else { -(1 << 19) };
        ((sum + half) / (1 << 20)) as i32
    }
}

impl Between<f32> {
    /// Returns the mean of four pixels, with products and sums in the runtime's order.
    fn mean_in_float32(&self, across: &Self, pixel: impl Fn(usize, usize) -> i32) -> i32 {
        let (y, x) = (self.weight, across.weight);
        let at = |row, col| pixel(row, col) as f32;
        let sum = at(self.low, across.low) * (1.0 - y) * (1.0 - x)
            + at(self.high, across.low) * y * (1.0 - x)
            + at(self.low, across.high) * (1.0 - y) * x
            + at(self.high, across.high) * y * x
            + 0.5;
        sum as i32
    }
}

impl ResizeBilinear {
    fn between(&self, place: usize, input: usize, output: usize) -> Between<i64> {
        let (place, size, count) = (place as i64, input as i64, output as i64);
        let scale = if self.align_corners && count > 1 {
            (ONE * (size - 1) + (count - 1) / 2) / (count - 1)
        } else {
            (ONE * size + count / 2) / count
        };
        let exact = place * scale + if self.half_pixel_centers { scale / 2 - ONE / 2 } else { 0 };
        let low = (exact / ONE).max(0);
        let high = ((exact + ONE - 1) / ONE).min(size - 1);
        Between { low: low as usize, high: high as usize, weight: exact - ONE * low }
    }

    fn between_in_float32(&self, place: usize, input: usize, axis: usize) -> Between<f32> {
        let output = self.size[axis];
        let scale = if self.align_corners && output > 1 {
            (input - 1) as f32 / (output - 1) as f32
        } else {
            input as f32 / output as f32
        };
        let exact =
            if self.half_pixel_centers { (place as f32 + 0.5) * scale - 0.5 } else { place as f32 * scale };
        let low = exact.floor().max(0.0) as usize;
        let high = (exact.ceil().max(0.0) as usize).min(input - 1);
        // Rounding may move the first position one pixel too far. Its weight is almost 0 then.
        Between { low: low.min(input - 1), high, weight: exact - low as f32 }
    }
}
