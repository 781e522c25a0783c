//! Statistics that extend counts over samples to samples that were not run: intervals, tests, and areas under
//! ROC curves.

mod auc;
mod mcnemar;
mod wilson;

pub use auc::auc;
pub use mcnemar::{Discordant, McNemar, McNemarTest};
pub use wilson::{Interval, wilson};

/// Returns a value rounded to six significant digits, as tables hold it.
pub(crate) fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
