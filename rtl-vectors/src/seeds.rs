//! Seeds of tests over random designs.

use std::ops::Range;

/// Returns the seeds that an environment variable names by the first and the last one, e.g. `0-99`; otherwise `default`.
pub(crate) fn seeds(variable: &str, default: Range<u64>) -> Range<u64> {
    let given = std::env::var(variable).ok();
    let range = given.as_deref().and_then(|text| text.split_once('-'));
    let range = range.and_then(|(first, last)| Some(first.parse().ok()?..last.parse::<u64>().ok()? + 1));
    range.unwrap_or(default)
}
