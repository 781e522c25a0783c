//! Scales, zero points and code ranges.

use crate::{CodeRange, DType};

/// The quantization of a tensor: one scale and zero point, or one of each per index of an axis.
///
/// `real = scale * (code - zero_point)`. Codes may have a range that is narrower than their dtype.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Quantization {
    scales: Vec<f32>,
    zero_points: Vec<i32>,
    axis: Option<usize>,
    range: Option<CodeRange>,
}

/// A set of scales and zero points that makes no quantization.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum QuantizationError {
    /// A scale that is not a positive number, nor the 0 of one channel of several.
    #[error("scale {scale} at index {index} is not a finite number above 0")]
    Scale {
        /// The scale.
        scale: f32,
        /// Where it stands.
        index: usize,
    },
    /// Counts that do not belong together.
    #[error("{scales} scales and {zero_points} zero points do not belong together")]
    Counts {
        /// Number of scales.
        scales: usize,
        /// Number of zero points.
        zero_points: usize,
    },
}

impl Quantization {
    /// One scale and zero point for the whole tensor.
    ///
    /// # Errors
    /// [`QuantizationError::Scale`] unless `scale` is finite and above 0.
    pub fn per_tensor(scale: f32, zero_point: i32) -> Result<Self, QuantizationError> {
        Self::checked(vec![scale], vec![zero_point], None)
    }

    /// One scale and zero point per index of `axis`. A scale of 0 is that of a pruned channel, whose codes all stand for 0.
    ///
    /// # Errors
    /// [`QuantizationError`] unless every scale is finite and at least 0 and both lists have the same length.
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

    /// The same for codes of that range alone. A graph keeps it where it is narrower than the dtype.
    pub fn with_range(self, range: CodeRange) -> Self {
        Self { range: Some(range), ..self }
    }

    /// The range of the codes, where it is narrower than the dtype.
    pub fn range(&self) -> Option<CodeRange> {
        self.range
    }

    /// The codes that a tensor of that dtype may hold.
    pub fn codes_of(&self, dtype: DType) -> CodeRange {
        self.range.unwrap_or(CodeRange::of(dtype))
    }

    /// The same without a range that says no more than the dtype.
    pub(crate) fn canonical(self, dtype: DType) -> Self {
        Self { range: self.range.filter(|&range| range != CodeRange::of(dtype)), ..self }
    }

    /// The axis along which scales differ; `None` for a single scale.
    pub fn axis(&self) -> Option<usize> {
        self.axis
    }

    /// Whether a channel has the scale 0. Only weights can have one, and what layers make of them.
    pub fn has_pruned_channels(&self) -> bool {
        self.scales.contains(&0.0)
    }

    /// All scales.
    pub fn scales(&self) -> &[f32] {
        &self.scales
    }

    /// All zero points.
    pub fn zero_points(&self) -> &[i32] {
        &self.zero_points
    }

    /// Scale of channel `index` (any index if there is one scale only).
    pub fn scale(&self, index: usize) -> f32 {
        self.scales[if self.axis.is_some() { index } else { 0 }]
    }

    /// Zero point of channel `index` (any index if there is one only).
    pub fn zero_point(&self, index: usize) -> i32 {
        self.zero_points[if self.axis.is_some() { index } else { 0 }]
    }
}
