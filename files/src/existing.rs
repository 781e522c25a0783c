//! What happens to results that are there already.

/// Whether new results may replace old ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Fail if the folder is not empty.
    Refuse,
    /// Replace the whole folder if guardbit wrote it and nobody changed it since.
    Replace,
}
