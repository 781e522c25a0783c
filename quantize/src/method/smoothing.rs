//! What the searches for the least divergence share.

/// What an empty bin is given of the others.
const EPSILON: f64 = 1e-4;

/// `KL(p || q) = sum p_i ln(p_i / q_i)` of two histograms, each scaled to a sum of 1, after every empty bin was given
/// 0.0001, taken off the others in equal parts; `None` where one of them has nothing to give.
///
/// Han, Kamber, Pei, "Data Mining", chapter 2; MXNet, TVM and ONNX Runtime smooth in this way.
pub(super) fn divergence(p: &mut [f64], q: &mut [f64]) -> Option<f64> {
    smooth(p)?;
    smooth(q)?;
    let (sum_p, sum_q) = (p.iter().sum::<f64>(), q.iter().sum::<f64>());
    Some(p.iter().zip(q.iter()).map(|(p, q)| p / sum_p * (p / sum_p / (q / sum_q)).ln()).sum())
}

fn smooth(bins: &mut [f64]) -> Option<()> {
    let empty = bins.iter().filter(|&&count| count == 0.0).count();
    let share = EPSILON * empty as f64 / (bins.len() - empty) as f64;
    // Counts are 1 or more, shares of counts may be less.
    if share >= 1.0 || bins.iter().any(|&count| count > 0.0 && count <= share) {
        return None;
    }
    for count in bins {
        *count = if *count == 0.0 { EPSILON } else { *count - share };
    }
    Some(())
}
