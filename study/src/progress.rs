//! Progress of a long run.

/// Receiver of progress; the command line shows it.
pub trait Progress: Sync {
    /// Starts work on `total` samples, described by `what`.
    fn start(&self, what: &str, total: u64);
    /// Reports that `samples` more are done.
    fn advance(&self, samples: u64);
    /// Reports the current step of work without a known end, in a few words.
    fn step(&self, _what: &str) {}
    /// Reports a remark for the user at the terminal.
    fn note(&self, text: &str);
    /// Returns whether the work should end now with
    /// [`StudyError::Interrupted`](crate::StudyError::Interrupted); called between batches of samples.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _what: &str, _total: u64) {}
    fn advance(&self, _samples: u64) {}
    fn note(&self, _text: &str) {}
}
