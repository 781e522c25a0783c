//! Seeds of tests over random designs.

use std::ops::Range;

/// Returns the seeds that an environment variable names by the first and the last one, e.g. `0-99`; `default` if it is not
/// set.
///
/// # Panics
/// If it has another form: a test of other seeds than those asked for would say nothing.
pub(crate) fn seeds(variable: &str, default: Range<u64>) -> Range<u64> {
    let Ok(given) = std::env::var(variable) else { return default };
    let read = |text: &str| {
        let (first, last) = text.split_once('-')?;
        Some(first.parse().ok()?..last.parse::<u64>().ok()?.checked_add(1)?)
    };
    let range = read(&given).filter(|range| !range.is_empty());
    range.unwrap_or_else(|| panic!("{variable}={given}: expected a range like 0-99"))
}
