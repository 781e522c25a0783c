//! McNemar's test of two classifiers on the same samples.

use serde::{Deserialize, Serialize};

use super::six_digits;

/// Number of discordant pairs from which on the chi-squared approximation is used.
const MANY: u64 = 25;

/// Number of samples on which exactly one of two classifiers is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Discordant {
    /// Samples on which only the first classifier is right.
    pub first: u64,
    /// Samples on which only the second classifier is right.
    pub second: u64,
}

/// Variant of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McNemarTest {
    /// Two-sided binomial test, for fewer than 25 discordant pairs.
    Exact,
    /// Chi-squared test with one degree of freedom and Edwards' continuity correction.
    Chi2,
}

/// Result of a test whether two classifiers are equally often right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct McNemar {
    /// Variant of the test.
    pub test: McNemarTest,
    /// P value: the probability of pairs that differ at least as much if both classifiers are equally good.
    pub p: f64,
}

impl Discordant {
    /// Returns the number of discordant samples.
    pub fn count(self) -> u64 {
        self.first + self.second
    }

    /// Returns the result of McNemar's test. The exact variant is `2 sum(C(n, k), k <= min(b, c)) / 2^n`, at
    /// most 1. The other variant is the upper tail of chi-squared at `(|b - c| - 1)² / (b + c)`.
    ///
    /// Sources: Q. McNemar, Psychometrika 12 (1947); A. L. Edwards, Psychometrika 13 (1948).
    pub fn mcnemar(self) -> McNemar {
        let (n, fewer) = (self.count(), self.first.min(self.second));
        if n < MANY {
            return McNemar { test: McNemarTest::Exact, p: six_digits(binomial(n, fewer)) };
        }
        let corrected = self.first.abs_diff(self.second) as f64 - 1.0;
        let statistic = corrected * corrected / n as f64;
        // The upper tail with one degree of freedom equals both tails of the normal distribution.
        McNemar { test: McNemarTest::Chi2, p: six_digits(libm::erfc((statistic / 2.0).sqrt())) }
    }
}

/// Returns twice the probability of at most `fewer` heads in `n` tosses of a fair coin, at most 1; `n` is
/// below 25.
fn binomial(n: u64, fewer: u64) -> f64 {
    let mut ways: u64 = 1;
    let mut sum: u64 = 0;
    for k in 0..=fewer {
        sum += ways;
        ways = ways * (n - k) / (k + 1);
    }
    ((2 * sum) as f64 / (1u64 << n) as f64).min(1.0)
}

impl McNemarTest {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Chi2 => "chi2",
        }
    }
}
