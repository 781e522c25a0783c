//! Error budgets.

use std::fmt;
use std::str::FromStr;

use guardbit_reports::Score;

use crate::StudyError;
use crate::subject::Subject;

/// Error budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Fraction of output codes that may differ from the exact run.
    Mismatch(Share),
    /// Fraction of samples by which top-1 accuracy may be lower than that of the exact network.
    Accuracy(Share),
    /// Fraction of samples whose top-1 class may differ from that of the exact network.
    Agreement(Share),
}

/// Results of a network that budgets depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub samples: u64,
    pub agreeing: Option<u64>,
    pub right_exact: Option<u64>,
    pub right: Option<u64>,
    pub mismatch: u64,
}

impl From<&Score> for Counts {
    fn from(score: &Score) -> Self {
        Self {
            samples: score.samples,
            agreeing: score.agreeing,
            right_exact: score.right_exact,
            right: score.right,
            mismatch: score.output_mismatch,
        }
    }
}

/// Fraction from 0 to 1 as written: `parts` of `whole`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    parts: u64,
    whole: u64,
}

/// Text that is not a budget.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// Text of any other form.
    #[error("invalid budget `{0}`: expected mismatch=0.1%, accuracy=1% or agreement=1%, from 0% to 100%")]
    Text(String),
    /// Number that could be a fraction or a percentage.
    #[error("`{kind}={number}` has no unit: write {kind}={number}% for {number} percent")]
    Unit {
        /// Bounded quantity.
        kind: String,
        /// Number as written.
        number: String,
    },
}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || BudgetError::Text(text.into());
        let (kind, number) = text.split_once('=').ok_or_else(error)?;
        let (kind, number) = (kind.trim(), number.trim());
        let budget = match kind {
            "mismatch" => Self::Mismatch,
            "accuracy" => Self::Accuracy,
            "agreement" => Self::Agreement,
            _ => return Err(error()),
        };
        let Some(percent) = number.strip_suffix('%') else {
            let unit = || BudgetError::Unit { kind: kind.into(), number: number.into() };
            return Err(if Share::percent(number).is_some() { unit() } else { error() });
        };
        Share::percent(percent.trim_end()).map(budget).ok_or_else(error)
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch(share) => write!(f, "mismatch={share}"),
            Self::Accuracy(share) => write!(f, "accuracy={share}"),
            Self::Agreement(share) => write!(f, "agreement={share}"),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.parts as f64 * 100.0 / self.whole as f64)
    }
}

impl Share {
    /// Reads a percentage such as `0.1`; decimals are kept exactly.
    fn percent(number: &str) -> Option<Self> {
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{whole}{decimals}");
        let plain = !digits.is_empty() && digits.len() <= 12 && digits.bytes().all(|b| b.is_ascii_digit());
        let share = Self {
            parts: plain.then(|| digits.parse().ok())??,
            whole: 100 * 10u64.checked_pow(u32::try_from(decimals.len()).ok()?)?,
        };
        (share.parts <= share.whole).then_some(share)
    }

    /// Returns whether `count` of `total` is at most this fraction.
    pub(super) fn allows(self, count: u64, total: u64) -> bool {
        u128::from(count) * u128::from(self.whole) <= u128::from(self.parts) * u128::from(total)
    }

    /// Returns whether the fraction is above 0, but less than one of `total`.
    fn is_finer_than_one(self, total: u64) -> bool {
        self.parts > 0 && !self.allows(1, total)
    }
}

impl Budget {
    /// Fails if the budget cannot be evaluated.
    pub(crate) fn check(self, subject: &Subject) -> Result<(), StudyError> {
        match self {
            Self::Accuracy(_) if !subject.has_classes() => Err(match &subject.labels {
                Some(labels) => StudyError::BudgetOfTask { task: labels.task().name() },
                None => StudyError::BudgetWithoutLabels,
            }),
            Self::Agreement(_) if subject.outputs.classes().is_none() => {
                Err(StudyError::BudgetWithoutClasses)
            }
            _ => Ok(()),
        }
    }

    /// Returns a remark if the budget allows no error at all, because it is below the smallest error that
    /// these samples can show. `codes` is the number of output codes per sample.
    pub(crate) fn finer_than_one(self, samples: u64, codes: u64) -> Option<String> {
        let (share, total, what) = match self {
            Self::Mismatch(share) => (share, samples * codes, "output codes"),
            Self::Accuracy(share) | Self::Agreement(share) => (share, samples, "samples"),
        };
        let one = 100.0 / total.max(1) as f64;
        share
            .is_finer_than_one(total)
            .then(|| format!("{self} is less than one of {total} {what} ({one:.2}%), so it allows no error"))
    }

    /// Returns whether the network as a whole is within the budget. `codes` is the number of output codes per
    /// sample.
    pub(super) fn allows(self, score: &Score, codes: u64) -> bool {
        self.keeps(&Counts::from(score), codes)
    }

    /// Returns whether counts are within the budget. `codes` is the number of output codes per sample.
    pub(crate) fn keeps(self, counts: &Counts, codes: u64) -> bool {
        let Counts { samples, agreeing, right_exact, right, mismatch } = *counts;
        match self {
            Self::Mismatch(share) => share.allows(mismatch, codes * samples),
            Self::Accuracy(share) => {
                share.allows(right_exact.unwrap_or(0).saturating_sub(right.unwrap_or(0)), samples)
            }
            Self::Agreement(share) => share.allows(samples.saturating_sub(agreeing.unwrap_or(0)), samples),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_exactly() {
        let cases = [
            ("mismatch=0.1%", Some(Budget::Mismatch(Share { parts: 1, whole: 1000 }))),
            ("accuracy=1%", Some(Budget::Accuracy(Share { parts: 1, whole: 100 }))),
            ("agreement=2%", Some(Budget::Agreement(Share { parts: 2, whole: 100 }))),
            ("mismatch=0%", Some(Budget::Mismatch(Share { parts: 0, whole: 100 }))),
            ("accuracy=100%", Some(Budget::Accuracy(Share { parts: 100, whole: 100 }))),
            ("accuracy=101%", None),
            ("accuracy=-1%", None),
            ("mismatch", None),
            ("sqnr=1%", None),
            ("mismatch=%", None),
            ("mismatch=nan%", None),
            // Ambiguous: 1 % or all samples.
            ("accuracy=1", None),
            ("mismatch=0.001", None),
        ];
        for (text, budget) in cases {
            // The texts 01 and 1 are one number.
            assert_eq!(text.parse::<Budget>().ok(), budget, "{text}");
        }
        let unit = "accuracy=1".parse::<Budget>().unwrap_err().to_string();
        assert_eq!(unit, "`accuracy=1` has no unit: write accuracy=1% for 1 percent");
        assert_eq!("mismatch=0.1%".parse::<Budget>().unwrap().to_string(), "mismatch=0.1%");
    }

    #[test]
    fn shares_have_no_rounding() {
        let share = Share::percent("0.1").unwrap();
        assert!(share.allows(1, 1000) && !share.allows(1, 999) && share.allows(0, 0));
    }

    #[test]
    fn budgets_finer_than_a_sample_are_said() {
        let said = |text: &str, samples| text.parse::<Budget>().unwrap().finer_than_one(samples, 10);
        assert_eq!(
            said("accuracy=1%", 40).as_deref(),
            Some("accuracy=1% is less than one of 40 samples (2.50%), so it allows no error")
        );
        assert_eq!(
            [said("accuracy=2.5%", 40), said("accuracy=0%", 40), said("mismatch=1%", 40)],
            [None, None, None]
        );
        assert!(said("mismatch=0.1%", 40).is_some_and(|text| text.contains("400 output codes")));
    }

    /// One sample of ten million is below the six decimals that tables show, but counts.
    #[test]
    fn accuracy_is_counted_not_rounded() {
        let budget: Budget = "accuracy=0.00001%".parse().unwrap();
        let lost = |samples, lost| {
            let (right_exact, right) = (Some(samples), Some(samples - lost));
            let score = Score { samples, right_exact, right, ..Score::default() };
            budget.allows(&score, 0)
        };
        assert!(lost(10_000_000, 1), "one of ten million");
        assert!(!lost(10_000_000, 2), "two of ten million");
        assert!(!lost(1_000_000, 1), "one of a million");
    }
}
