//! Divergence of smoothed histograms, shared by the Kullback-Leibler methods.

/// Count added to an empty bin, taken from the others.
const EPSILON: f64 = 1e-4;

/// Returns `KL(p || q) = sum p_i ln(p_i / q_i)` of two histograms, each normalized to a sum of 1. Before
/// that, every empty bin receives 0.0001, taken from the other bins in equal parts. Returns `None` if a
/// histogram cannot give that much.
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
    // Counts are at least 1, but spread counts may be less.
    if share >= 1.0 || bins.iter().any(|&count| count > 0.0 && count <= share) {
        return None;
    }
    for count in bins {
        *count = if *count == 0.0 { EPSILON } else { *count - share };
    }
    Some(())
}
