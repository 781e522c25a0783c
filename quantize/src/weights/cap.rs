//! Weights within a cap on their l1 norm, so that their sums cannot overflow an accumulator.
//!
//! These are post-training projections of what A2Q and A2Q+ learn. Rounding is toward zero, so it cannot
//! exceed a cap.

/// Returns a channel's codes with an l1 norm of at most `cap`: the real weights, in steps of `scale`,
/// projected onto the l1 ball and rounded toward zero. A2Q's cap for P bits and activations of N bits is
/// `(2^(P-1) - 1) / 2^(N-s)`, where s is 1 if activations are signed.
///
/// Colbert et al., "A2Q: Accumulator-Aware Quantization with Guaranteed Overflow Avoidance" (2023).
pub fn a2q(weights: &[f64], scale: f64, cap: i64) -> Vec<i32> {
    let mut steps: Vec<f64> = weights.iter().map(|weight| weight / scale).collect();
    project_l1(&mut steps, cap as f64);
    toward_zero(&steps)
}

/// Codes of zero-centred weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Centred {
    /// Codes. Positive codes add up to at most half of the cap, and so do the magnitudes of negative codes.
    pub codes: Vec<i32>,
    /// Mean subtracted from the weights. It changes an output by `mean * sum of its inputs`, whose mean a
    /// bias can restore.
    pub mean: f64,
}

/// Returns a channel's codes for A2Q+'s cap, `(2^P - 2) / (2^N - 1)`: the mean is subtracted, then positive
/// and negative weights are each projected onto half of the cap and rounded toward zero.
///
/// Weights of both signs have equal sums before the projection, and therefore also after it. Rounding leaves
/// each sum at most `cap / 2`, on which the bound relies: a sum is at most `(x_high - x_low) * cap / 2`.
///
/// Colbert et al., "A2Q+: Improving Accumulator-Aware Weight Quantization" (2024).
pub fn a2q_plus(weights: &[f64], scale: f64, cap: i64) -> Centred {
    let mean = weights.iter().sum::<f64>() / weights.len().max(1) as f64;
    let steps: Vec<f64> = weights.iter().map(|weight| (weight - mean) / scale).collect();
    let side = |sign: f64| {
        let mut own: Vec<f64> = steps.iter().map(|step| (step * sign).max(0.0)).collect();
        project_l1(&mut own, cap as f64 / 2.0);
        own
    };
    let both = side(1.0).into_iter().zip(side(-1.0)).map(|(above, below)| above - below);
    Centred { codes: toward_zero(&both.collect::<Vec<_>>()), mean }
}

/// Projects `values` onto the nearest vector with an l1 norm of at most `radius`: all magnitudes decrease by
/// one threshold, but not below 0.
///
/// Duchi et al., "Efficient Projections onto the l1-Ball for Learning in High Dimensions" (ICML 2008).
pub fn project_l1(values: &mut [f64], radius: f64) {
    let threshold = l1_threshold(values, radius);
    values.iter_mut().for_each(|value| *value = soft(*value, threshold));
}

/// Returns `sign(x) max(|x| - threshold, 0)`.
pub(crate) fn soft(value: f64, threshold: f64) -> f64 {
    (value.abs() - threshold).max(0.0).copysign(value)
}

fn l1_threshold(values: &[f64], radius: f64) -> f64 {
    let mut sorted: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    if sorted.iter().sum::<f64>() <= radius {
        return 0.0;
    }
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut threshold) = (0.0, 0.0);
    for (index, magnitude) in sorted.into_iter().enumerate() {
        sum += magnitude;
        let candidate = (sum - radius) / (index + 1) as f64;
        if magnitude >= candidate {
            threshold = candidate;
        }
    }
    threshold
}

fn toward_zero(steps: &[f64]) -> Vec<i32> {
    // The projection is exact except for rounding errors: a step that should be whole may lie slightly below.
    steps.iter().map(|step| step.trunc() as i32).collect()
}
