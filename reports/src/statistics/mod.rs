//! What counts over samples say of samples that were not run: intervals, tests, and how well a score tells anomalies.

mod auc;
mod mcnemar;
mod wilson;

pub use auc::auc;
pub use mcnemar::{Discordant, McNemar, McNemarTest};
pub use wilson::{Interval, wilson};

/// A number as tables hold it: six significant digits.
pub(crate) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
