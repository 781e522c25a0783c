//! Scales of blocks of real values, chosen from the values: microscaling of activations.

use guardbit_num::FloatFormat;

use super::elements::expect;
use crate::block_scales::{formats, nearest, value};
use crate::effort::Effort;
use crate::ops::{Operands, Operator};
use crate::{DType, GraphError, real_of, word_of};

/// The scale of each element's block, from the largest magnitude of the block. Blocks of `block_size` elements follow each
/// other along an axis; the last one may have fewer.
///
/// A scale of float8_e8m0 is `2^(floor(log2(largest)) - exponent of the largest code of elements)`, at least `2^-127`
/// (OCP Microscaling Formats 1.0, section 6.3). A scale of float8_e4m3fn is `largest / largest value of elements`, as the
/// nearest value of that dtype, ties to even, saturated, and at least `2^-9` (NVFP4). The scale of a block with a value
/// that is not finite is NaN.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatBlockScale {
    /// The axis along which the tensor is divided into blocks.
    pub axis: usize,
    /// Elements of a block, at least 1.
    pub block_size: usize,
    /// Dtype of the scales: float8_e8m0, or float8_e4m3fn for the values of NVFP4's scales.
    pub scale_dtype: DType,
    /// Dtype of the elements that will be divided by the scales.
    pub element_dtype: DType,
}

impl FloatBlockScale {
    /// Returns the format of the scales, or `None` if their dtype is not one of scales.
    pub fn format(&self) -> Option<FloatFormat> {
        let [powers, small] = formats()?;
        match self.scale_dtype {
            DType::Float8E8M0 => Some(powers),
            DType::Float8E4M3Fn => Some(small),
            _ => None,
        }
    }

    /// Returns a number per element of a tensor that is equal for the elements of a block.
    pub(crate) fn places(&self, shape: &[usize]) -> Vec<i32> {
        let (size, inner) = (shape[self.axis], shape[self.axis + 1..].iter().product::<usize>());
        let count = shape.iter().product::<usize>();
        let place = |at: usize| {
            let along = at / inner % size;
            (at / inner / size * size.div_ceil(self.block_size) + along / self.block_size) * inner
                + at % inner
        };
        (0..count).map(|at| place(at) as i32).collect()
    }

    /// Returns the scale of each element's block.
    pub fn scales(&self, shape: &[usize], values: &[f32]) -> Vec<f32> {
        let (size, inner) = (shape[self.axis], shape[self.axis + 1..].iter().product::<usize>());
        let mut scales = vec![0.0; values.len()];
        for first in (0..values.len()).filter(|at| at / inner % size % self.block_size == 0) {
            let along = first / inner % size;
            let places = (0..self.block_size.min(size - along)).map(|i| first + i * inner);
            let finite = places.clone().all(|at| values[at].is_finite());
            let largest = places.clone().map(|at| values[at].abs()).fold(0.0, f32::max);
            let scale = self.scale(if finite { largest } else { f32::NAN });
            places.for_each(|at| scales[at] = scale);
        }
        scales
    }

    /// Returns the scale of a block with this largest magnitude.
    pub fn scale(&self, largest: f32) -> f32 {
        let (Some(format), Some(elements)) = (self.format(), self.element_dtype.float_format()) else {
            return f32::NAN;
        };
        if !largest.is_finite() {
            return f32::NAN;
        }
        let most = value(elements, elements.largest());
        if self.scale_dtype == DType::Float8E8M0 {
            // The exponent of a subnormal is below those of scales.
            let exponent = (largest.to_bits() >> 23) as i32 - most.to_bits() as i32 / (1 << 23);
            return value(format, exponent.clamp(-127, 127).wrapping_add(127) as u32);
        }
        value(format, nearest(format, largest / most).unwrap_or(0).max(1))
    }
}

impl Operator for FloatBlockScale {
    const NAME: &'static str = "float_block_scale";
    /// Counts the magnitude, the maximum and the scale.
    const EFFORT: Effort = Effort::per_output(3);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 1, 1)?;
        let shape = &operands.input(0).ty.shape;
        if self.axis >= shape.len() {
            let problem = format!("{} is outside the rank of {shape:?}", self.axis);
            return Err(operands.attribute_error("axis", problem));
        }
        if self.block_size == 0 {
            return Err(operands.attribute_error("block_size", "0; expected at least 1 element".into()));
        }
        if self.format().is_none() {
            let problem = format!("{}; expected float8_e8m0 or float8_e4m3fn", self.scale_dtype);
            return Err(operands.attribute_error("scale_dtype", problem));
        }
        if !self.element_dtype.is_short_float() || self.element_dtype == DType::Float8E8M0 {
            let problem = format!("{}; expected floating-point codes of at most 16 bits", self.element_dtype);
            return Err(operands.attribute_error("element_dtype", problem));
        }
        Ok(shape.clone())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let values: Vec<f32> = inputs[0].iter().map(|&word| real_of(word)).collect();
        self.scales(&operands.input(0).ty.shape, &values).into_iter().map(word_of).collect()
    }
}
