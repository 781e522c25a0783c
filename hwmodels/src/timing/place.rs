//! Time and place of an addition.

/// Time and place of an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Cycle, counted from the layer's start within one inference.
    pub cycle: u64,
    /// Row of the processing element.
    pub row: usize,
    /// Column of the processing element.
    pub col: usize,
}
