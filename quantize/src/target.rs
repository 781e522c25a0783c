//! The codes that a tensor is to have, and the parameters that follow from a range of real values.

use guardbit_graph::CodeRange;

/// Real values that codes are to cover: `low <= high`, both finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

/// Whether the zero point may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// Real 0 is the middle code: 0 of signed codes, `2^(bits-1)` of unsigned ones.
    Symmetric,
    /// Real 0 is any code.
    Asymmetric,
}

/// Which scales are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scales {
    /// Every positive float32.
    Any,
    /// Powers of two: the least that covers the range.
    PowersOfTwo,
}

/// The codes that a tensor is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The least and the greatest code.
    pub codes: CodeRange,
    /// Whether the zero point may be chosen.
    pub symmetry: Symmetry,
    /// Which scales are allowed.
    pub scales: Scales,
}
