//! What a bench reports.

use super::outcome::Outcome;

/// Result of a run.
pub(super) enum Ran {
    /// The bench ran to its end.
    Report(Outcome),
    /// The bench did not compile, or stopped early.
    Broken(String),
}

/// Returns the value of `key=value` in a line of words.
pub(crate) fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

/// Returns the number of `key=number` in a line of words.
pub(crate) fn number(line: &str, key: &str) -> Option<u64> {
    value(line, key)?.parse().ok()
}
