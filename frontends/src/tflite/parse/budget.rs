//! How much a file may ask for.

use super::error::TfliteError;

/// What a file may unfold to, so that a small file whose parts are used many times cannot exhaust memory.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    left: usize,
}

impl Budget {
    /// For a file of `size` bytes. Two 4-bit codes per byte are the most that an honest file holds.
    pub fn for_file(size: usize) -> Self {
        let limit = size.saturating_mul(8);
        Self { limit, left: limit }
    }

    /// Takes `count` values off.
    pub fn spend(&mut self, count: usize) -> Result<(), TfliteError> {
        self.left = self.left.checked_sub(count).ok_or(TfliteError::Unfolds { limit: self.limit })?;
        Ok(())
    }
}
