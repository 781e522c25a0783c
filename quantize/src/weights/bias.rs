//! Bias correction.

use super::matrix::dot;

/// What a channel's bias has to be raised by, so that the sums of weights `v` over the values that are seen have the mean of
/// those of weights `w` over the real ones: `w . E[x] - v . E[x seen]`. `weights` are w and v, `means` the two means, cell
/// by cell. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction" (ICCV 2019), 4.2.
pub fn mean_error(weights: [&[f64]; 2], means: [&[f64]; 2]) -> f64 {
    dot(weights[0], means[0]) - dot(weights[1], means[1])
}
