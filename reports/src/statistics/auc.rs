//! Area under the receiver operating characteristic.

/// Returns the area under the ROC curve: the probability that an anomaly has a greater score than a normal
/// sample, with ties counted half. Returns `None` unless both kinds occur, or if a score is NaN.
///
/// Source: J. A. Hanley and B. J. McNeil, Radiology 143 (1982): the area is the Mann-Whitney statistic.
pub fn auc(scores: &[f32], anomalous: &[bool]) -> Option<f64> {
    if scores.iter().any(|score| score.is_nan()) {
        return None;
    }
    let mut ranked: Vec<(f32, bool)> = scores.iter().copied().zip(anomalous.iter().copied()).collect();
    ranked.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (mut below, mut halves, mut positives) = (0u128, 0u128, 0u128);
    // +0 and -0 compare equal and are adjacent in the ranking.
    for equal in ranked.chunk_by(|(a, _), (b, _)| a == b) {
        let here = equal.iter().filter(|(_, anomalous)| *anomalous).count() as u128;
        let others = equal.len() as u128 - here;
        halves += here * (2 * below + others);
        below += others;
        positives += here;
    }
    let pairs = positives * below;
    (pairs > 0).then(|| halves as f64 / (2 * pairs) as f64)
}
