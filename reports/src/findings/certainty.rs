//! Describes how certain a result on a limited number of samples is.

use crate::numbers::{counted, grouped, percentage, probability};
use crate::{Fraction, Interval};

/// Significance level: a difference with a p value below it is reported as more than chance.
const LEVEL: f64 = 0.05;

/// Returns an interval in brackets, or an empty string without one.
pub(super) fn within(interval: Option<Interval>) -> String {
    interval.map_or(String::new(), |Interval { low, high }| {
        format!(" ({} to {})", percentage(low), percentage(high))
    })
}

/// Describes, for `samples` samples without an error, how large the error rate may still be. A single sample says
/// nothing about others.
pub(super) fn left_open(samples: u64) -> String {
    if samples <= 1 {
        return format!("on {}", counted(samples, "sample"));
    }
    let most = crate::wilson(0, samples).map_or(String::new(), |[_, high]| percentage(Fraction::new(high)));
    format!(
        "on {}, which still allows a difference in up to {most} of all inputs (95 % interval)",
        counted(samples, "sample")
    )
}

/// Returns, in brackets, whether a difference is more than chance.
pub(super) fn told_apart(samples: u64, p: Option<f64>) -> String {
    match p {
        Some(p) if p < LEVEL => format!(" (McNemar's p = {})", probability(p)),
        Some(p) => {
            format!(
                " (McNemar's p = {}: {} are too few to exclude chance)",
                probability(p),
                counted(samples, "sample")
            )
        }
        None => String::new(),
    }
}

/// Returns, in brackets, that a difference may be chance; nothing if it is more than that.
pub(super) fn by_chance(samples: u64, p: Option<f64>) -> String {
    told_apart(samples, p.filter(|&p| p >= LEVEL))
}

/// Describes whether `samples` samples distinguish two accuracies. `pairs` holds the samples lost and gained,
/// `p` the p value of McNemar's test on them.
pub(super) fn difference_text(
    samples: u64,
    pairs: Option<(u64, u64)>,
    p: Option<f64>,
    interval: Option<Interval>,
) -> Option<String> {
    let ((lost, gained), p, interval) = (pairs?, p?, interval?);
    if lost + gained == 0 {
        return Some(format!("No correct class is lost or gained {}.", left_open(samples)));
    }
    let pairs = format!(
        "{} lost, {} gained, McNemar's p = {}",
        counted(lost, "correct class"),
        grouped(gained),
        probability(p)
    );
    Some(if p < LEVEL {
        format!("The accuracies differ by more than chance: {pairs}.")
    } else {
        format!(
            "The samples are too few to distinguish the accuracies: {pairs}; the 95 % interval of {} is {} \
             wide.",
            counted(samples, "sample"),
            percentage(Fraction::new(interval.width()))
        )
    })
}
