//! Data of registers that are stepped one window per vector of 16-bit lanes.

use super::cells::CellOffsets;
use super::kernels::{Lanes, Rails, Row, Vector};
use super::pairs::mark;
#[cfg(doc)]
use super::pairs::{ABOVE, BELOW};

/// Weights of a block.
#[derive(Debug)]
pub(crate) struct SingleWeights {
    /// Rows of weights, indexed `[k]`.
    pub rows: Vec<Vector<i16>>,
    /// Value that an overflow of each product adds to a counter of two bytes if the activation is not
    /// negative: [`ABOVE`], or [`BELOW`] if the weight is negative.
    pub marks: Vec<Vector<i16>>,
}

impl SingleWeights {
    /// Packs weights `[k][lane]`.
    pub fn new(rows: &[Row]) -> Self {
        Self {
            rows: rows.iter().map(|row| Vector::new(*row)).collect(),
            marks: rows.iter().map(|row| Vector::new(row.map(mark))).collect(),
        }
    }
}

/// One level of dot products that are stepped one window per vector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SingleStepping<'a> {
    pub weights: &'a SingleWeights,
    pub start: &'a Lanes,
    pub rails: Rails,
    /// Whether activations may be negative.
    pub negative: bool,
    pub cells: &'a [i16],
    pub offsets: &'a CellOffsets,
    /// Whether lane `l` reads the `l`-th cell from a product's cell on; otherwise all lanes read that cell.
    pub own: bool,
}

/// Innermost of several levels, whose runs are stepped one window per vector, each from 0.
pub(crate) struct SingleRuns<'a> {
    pub stepping: SingleStepping<'a>,
    /// First cells of the windows.
    pub corners: [usize; 2],
    /// Number of products of a run.
    pub length: usize,
}
