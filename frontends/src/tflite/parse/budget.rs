//! Limits on the memory of a file.

use super::error::TfliteError;

/// The number of values that a file may still expand to.
///
/// It keeps a small file whose parts are used many times from exhausting memory.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    left: usize,
}

impl Budget {
    /// Creates the budget of a file of `size` bytes. Legitimate files hold at most two 4-bit codes per byte.
    pub fn for_file(size: usize) -> Self {
        let limit = size.saturating_mul(8);
        Self { limit, left: limit }
    }

    /// Subtracts `count` values.
    pub fn spend(&mut self, count: usize) -> Result<(), TfliteError> {
        self.left = self.left.checked_sub(count).ok_or(TfliteError::Unfolds { limit: self.limit })?;
        Ok(())
    }
}
