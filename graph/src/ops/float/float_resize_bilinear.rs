//! Bilinear resizing of real images.

use super::elements::expect;
use crate::effort::Effort;
use crate::limits::check_extents;
use crate::ops::moved::image;
use crate::ops::{Operands, Operator};
use crate::{GraphError, real_of, word_of};

/// Lists the rules: variant, name, and the position in the input for a pixel of the output.
macro_rules! places {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, |$x:ident, $scale:ident, $input:ident, $output:ident| $value:expr;)*) => {
        /// The position in the input of a pixel of the output, with `s` the scale, in float32 (ONNX `Resize`,
        /// `coordinate_transformation_mode`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
        pub enum Places { $($(#[$doc])* $variant,)* }

        impl Places {
            /// Every rule.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name used in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the position in `input` pixels of pixel `x` of `output`.
            pub fn source(self, x: usize, scale: f32, input: usize, output: usize) -> f32 {
                let place: fn(f32, f32, f32, f32) -> f32 =
                    match self { $(Self::$variant => |$x, $scale, $input, $output| $value,)* };
                place(x as f32, scale, input as f32, output as f32)
            }
        }
    };
}

places! {
    /// `(x + 1/2) / s - 1/2`.
    HalfPixel, "half_pixel", |x, s, _input, _output| (x + 0.5) / s - 0.5;
    /// `(x + 1/2) / s - 1/2`, or 0 if the output has one pixel.
    PytorchHalfPixel, "pytorch_half_pixel", |x, s, _input, output| if output > 1.0 { (x + 0.5) / s - 0.5 } else { 0.0 };
    /// `x * (in - 1) / (out - 1)`, or 0 if the output has one pixel.
    AlignCorners, "align_corners", |x, _s, input, output| {
        if output > 1.0 { x * (input - 1.0) / (output - 1.0) } else { 0.0 }
    };
    /// `x / s`.
    Asymmetric, "asymmetric", |x, s, _input, _output| x / s;
}

/// Resizing in which each output pixel is the weighted mean of the four pixels of the input `[n, h, w, c]` around it.
///
/// It is computed in float32 (ONNX `Resize`, mode `linear`).
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatResizeBilinear {
    /// Rows and columns of the output.
    pub size: [usize; 2],
    /// The rule for positions of pixels.
    pub places: Places,
    /// Scales of rows and columns, or `None` if they follow from the sizes.
    pub scales: Option<[f32; 2]>,
}

impl Operator for FloatResizeBilinear {
    const NAME: &'static str = "float_resize_bilinear";
    /// Counts four weights and four products with additions.
    const EFFORT: Effort = Effort::per_output(4 + 4);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 1, 1)?;
        let [batch, _, _, channels] = image(operands)?;
        check_extents(operands, "size", self.size)?;
        if self.scales.is_some_and(|scales| !scales.iter().all(|scale| scale.is_finite() && *scale > 0.0)) {
            return Err(operands.attribute_error("parameters", "must be finite and above 0".into()));
        }
        Ok(vec![batch, self.size[0], self.size[1], channels])
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let Ok([batch, rows, cols, channels]) = image(operands) else { return Vec::new() };
        let along = |axis: usize, input: usize| -> Vec<Between> {
            (0..self.size[axis]).map(|x| self.between(x, axis, input)).collect()
        };
        let (down, across) = (along(0, rows), along(1, cols));
        let mut output = Vec::with_capacity(batch * down.len() * across.len() * channels);
        for n in 0..batch {
            for y in &down {
                for x in &across {
                    let pixel = |row: usize, col: usize| ((n * rows + row) * cols + col) * channels;
                    let corners = [
                        (pixel(y.low, x.low), x.rest * y.rest),
                        (pixel(y.low, x.high), x.weight * y.rest),
                        (pixel(y.high, x.low), x.rest * y.weight),
                        (pixel(y.high, x.high), x.weight * y.weight),
                    ];
                    output.extend((0..channels).map(|c| {
                        let [first, rest @ ..] =
                            corners.map(|(at, share)| share * real_of(inputs[0][at + c]));
                        word_of(rest.into_iter().fold(first, |sum, part| sum + part))
                    }));
                }
            }
        }
        output
    }
}

/// Two positions in the input and their weights.
struct Between {
    low: usize,
    high: usize,
    weight: f32,
    rest: f32,
}

impl FloatResizeBilinear {
    fn between(&self, x: usize, axis: usize, input: usize) -> Between {
        let output = self.size[axis];
        let scale = self.scales.map_or(output as f32 / input as f32, |scales| scales[axis]);
        let place = self.places.source(x, scale, input, output).clamp(0.0, (input - 1) as f32);
        let low = (place as usize).min(input - 1);
        let high = (low + 1).min(input - 1);
        let (weight, rest) = ((place - low as f32).abs(), (place - high as f32).abs());
        if low == high {
            return Between { low, high, weight: 0.5, rest: 0.5 };
        }
        Between { low, high, weight, rest }
    }
}
