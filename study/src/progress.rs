//! How far a long run is.

/// Told of progress; the command line shows it.
pub trait Progress: Sync {
    /// Work of `total` samples begins, described by `what`.
    fn start(&self, what: &str, total: u64);
    /// `samples` more are done.
    fn advance(&self, samples: u64);
    /// What work whose end is not known is at, in a few words.
    fn step(&self, _what: &str) {}
    /// A remark for the person at the terminal.
    fn note(&self, text: &str);
    /// Whether the work is to end now, with [`StudyError::Interrupted`](crate::StudyError::Interrupted): asked for between
    /// batches of samples.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _what: &str, _total: u64) {}
    fn advance(&self, _samples: u64) {}
    fn note(&self, _text: &str) {}
}
