//! Bias correction.

/// The mean of `real - quantized` per channel, over values whose last axis is the channel, in the order of the samples.
///
/// Added to a layer's bias it takes the mean error out of its outputs: `b' = b + E[y_float - y_quantized]`. Nagel et al.,
/// "Data-Free Quantization Through Weight Equalization and Bias Correction" (ICCV 2019), 4.2.
pub fn mean_errors<'a>(pairs: impl IntoIterator<Item = (&'a [f32], &'a [f32])>, channels: usize) -> Vec<f64> {
    let (mut sums, mut count) = (vec![0.0; channels], 0usize);
    for (real, quantized) in pairs {
        for (real, quantized) in
            real.chunks_exact(channels.max(1)).zip(quantized.chunks_exact(channels.max(1)))
        {
            let errors = real.iter().zip(quantized).map(|(&a, &b)| f64::from(a) - f64::from(b));
            sums.iter_mut().zip(errors).for_each(|(sum, error)| *sum += error);
            count += 1;
        }
    }
    sums.iter().map(|sum| sum / count.max(1) as f64).collect()
}
