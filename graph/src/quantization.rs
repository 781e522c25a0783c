//! Scales, zero points and code ranges.

use crate::{CodeRange, DType};

/// The quantization of a tensor: one scale and zero point, or one of each per index of an axis.
///
/// `real = scale * (code - zero_point)`. The range of the codes may be narrower than the dtype.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Quantization {
    scales: Vec<f32>,
    zero_points: Vec<i32>,
    axis: Option<usize>,
    range: Option<CodeRange>,
}

/// Error for invalid scales and zero points.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantizationError {
    /// A scale is not a positive number, and not the 0 of one channel of several.
    #[error("scale {scale} at index {index} is not a finite number above 0")]
    Scale {
        /// The scale.
        scale: f32,
        /// Its index.
        index: usize,
    },
    /// The numbers of scales and zero points do not match.
    #[error("{scales} scales do not match {zero_points} zero points")]
    Counts {
        /// Number of scales.
        scales: usize,
        /// Number of zero points.
        zero_points: usize,
    },
}

impl Quantization {
    /// Creates a quantization with one scale and zero point for the whole tensor.
    ///
    /// # Errors
    /// [`QuantizationError::Scale`] unless `scale` is finite and above 0.
    pub fn per_tensor(scale: f32, zero_point: i32) -> Result<Self, QuantizationError> {
        Self::checked(vec![scale], vec![zero_point], None)
    }

    /// Creates a quantization with one scale and zero point per index of `axis`.
    ///
    /// A scale of 0 belongs to a pruned channel, whose codes all stand for 0.
    ///
    /// # Errors
    /// [`QuantizationError`] unless every scale is finite and at least 0 and both lists have equal lengths.
    pub fn per_axis(scales: Vec<f32>, zero_points: Vec<i32>, axis: usize) -> Result<Self, QuantizationError> {
        Self::checked(scales, zero_points, Some(axis))
    }

    fn checked(
        scales: Vec<f32>,
        zero_points: Vec<i32>,
        axis: Option<usize>,
    ) -> Result<Self, QuantizationError> {
        if scales.is_empty() || scales.len() != zero_points.len() {
            return Err(QuantizationError::Counts { scales: scales.len(), zero_points: zero_points.len() });
        }
        let wrong = |scale: &f32| !(scale.is_finite() && (*scale > 0.0 || *scale == 0.0 && axis.is_some()));
        match scales.iter().position(wrong) {
            Some(index) => Err(QuantizationError::Scale { scale: scales[index], index }),
            None => Ok(Self { scales, zero_points, axis, range: None }),
        }
    }

    /// Returns this quantization with a restricted range of codes. A graph keeps the range only if it is narrower
    /// than the dtype.
    pub fn with_range(self, range: CodeRange) -> Self {
        Self { range: Some(range), ..self }
    }

    /// Returns the range of the codes if it is narrower than the dtype.
    pub fn range(&self) -> Option<CodeRange> {
        self.range
    }

    /// Returns the codes that a tensor of this dtype may hold.
    pub fn codes_of(&self, dtype: DType) -> CodeRange {
        self.range.unwrap_or(CodeRange::of(dtype))
    }

    /// Returns this quantization without a range that equals that of the dtype.
    pub(crate) fn canonical(self, dtype: DType) -> Self {
        Self { range: self.range.filter(|&range| range != CodeRange::of(dtype)), ..self }
    }

    /// Returns the axis along which scales differ, or `None` for a single scale.
    pub fn axis(&self) -> Option<usize> {
        self.axis
    }

    /// Returns whether a channel has the scale 0. Only weights and the sums of layers can have one.
    pub fn has_pruned_channels(&self) -> bool {
        self.scales.contains(&0.0)
    }

    /// Returns all scales.
    pub fn scales(&self) -> &[f32] {
        &self.scales
    }

    /// Returns all zero points.
    pub fn zero_points(&self) -> &[i32] {
        &self.zero_points
    }

    /// Returns the scale of channel `index`. With a single scale, any index is valid.
    pub fn scale(&self, index: usize) -> f32 {
        self.scales[if self.axis.is_some() { index } else { 0 }]
    }

    /// Returns the zero point of channel `index`. With a single zero point, any index is valid.
    pub fn zero_point(&self, index: usize) -> i32 {
        self.zero_points[if self.axis.is_some() { index } else { 0 }]
    }
}
