//! McNemar's test of two classifiers on the same samples.

use serde::{Deserialize, Serialize};

use super::six_digits;

/// So many discordant pairs are enough for the approximation by chi-squared.
const MANY: u64 = 25;

/// Samples on which exactly one of two is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Discordant {
    /// Only the first one.
    pub first: u64,
    /// Only the second one.
    pub second: u64,
}

/// How the p value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McNemarTest {
    /// Binomial, two-sided: of fewer than 25 discordant pairs.
    Exact,
    /// Chi-squared of one degree of freedom, with Edwards' continuity correction.
    Chi2,
}

/// Whether two classifiers are equally often right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct McNemar {
    /// How the p value was found.
    pub test: McNemarTest,
    /// Probability of pairs that differ at least as much if both are equally good.
    pub p: f64,
}

impl Discordant {
    /// How many there are.
    pub fn count(self) -> u64 {
        self.first + self.second
    }

    /// McNemar's test. Exact: `2 sum(C(n, k), k <= min(b, c)) / 2^n`, at most 1. Otherwise the upper tail of chi-squared at
    /// `(|b - c| - 1)² / (b + c)`.
    ///
    /// Sources: Q. McNemar, Psychometrika 12 (1947); A. L. Edwards, Psychometrika 13 (1948).
    pub fn mcnemar(self) -> McNemar {
        let (n, fewer) = (self.count(), self.first.min(self.second));
        if n < MANY {
            return McNemar { test: McNemarTest::Exact, p: six_digits(binomial(n, fewer)) };
        }
        let corrected = self.first.abs_diff(self.second) as f64 - 1.0;
        let statistic = corrected * corrected / n as f64;
        // The upper tail of one degree of freedom is that of the normal distribution, both sides.
        McNemar { test: McNemarTest::Chi2, p: six_digits(libm::erfc((statistic / 2.0).sqrt())) }
    }
}

/// Twice the probability of at most `fewer` of `n` fair coins, which are fewer than 25.
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
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Chi2 => "chi2",
        }
    }
}
