//! Bias correction.

use super::matrix::dot;

/// Returns the amount by which a channel's bias must increase so that the sums of quantized weights v over
/// the quantized inputs have the mean of the sums of real weights w over the real inputs: `w . E[x] - v . E[x
/// seen]`. `weights` are w and v, and `means` are the two means, per cell. Nagel et al., "Data-Free
/// Quantization Through Weight Equalization and Bias Correction" (ICCV 2019), 4.2.
pub fn mean_error(weights: [&[f64]; 2], means: [&[f64]; 2]) -> f64 {
    dot(weights[0], means[0]) - dot(weights[1], means[1])
}
