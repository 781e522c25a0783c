//! Sample-by-sample comparison of two networks.

/// Maximum probability of a difference by chance that counts as significant.
const LEVEL: f64 = 0.05;

/// Returns whether a difference between two networks is significant, given `better` samples for one network
/// and `worse` samples for the other. This is the one-sided sign test at 5 % (McNemar's test in its exact
/// form): `P(X >= better) <= 0.05` for X of the binomial distribution of `better + worse` fair draws. Samples
/// with equal results for both networks do not count. Fewer than 5 samples are never enough.
///
/// ```
/// use guardbit_quantize::search::is_significant;
///
/// assert!(is_significant(5, 0) && !is_significant(4, 0));
/// ```
pub fn is_significant(better: u64, worse: u64) -> bool {
    let draws = (better + worse) as f64;
    // P(X >= better) = P(X <= worse). In logarithms, since the first terms may be below what a float64 holds.
    let mut term = -draws * 2f64.ln();
    let mut sum = term.exp();
    for drawn in 0..worse {
        term += ((draws - drawn as f64) / (drawn as f64 + 1.0)).ln();
        sum += term.exp();
    }
    sum <= LEVEL
}

#[cfg(test)]
mod tests {
    use super::is_significant;

    /// Thresholds on both sides of 5 % from SciPy 1.14,
    /// `binomtest(better, better + worse, 0.5, alternative="greater")`: the first of each pair is above.
    #[test]
    fn thresholds_are_those_of_scipy() {
        for (below, above) in [
            ((4, 0), (5, 0)),
            ((6, 1), (7, 1)),
            ((8, 2), (9, 2)),
            ((9, 3), (10, 3)),
            ((135, 109), (136, 109)),
            ((701, 640), (702, 640)),
        ] {
            assert!(!is_significant(below.0, below.1) && is_significant(above.0, above.1), "{below:?}");
        }
        assert!(!is_significant(0, 0) && !is_significant(0, 5) && !is_significant(50_000, 50_000));
        assert!(is_significant(52_000, 48_000));
    }
}
