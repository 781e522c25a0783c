//! What is stepped two windows to a lane: the low 16 bits of every lane the first window, the high ones the second.

use super::kernels::{LANES, Lanes, Rails, Row};
#[cfg(doc)]
use super::schedule::NEVER;

/// One 16-bit number for each of two windows per lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct PairRow(pub [i16; 2 * LANES]);

/// Weights of a block.
#[derive(Debug)]
pub(crate) struct PairWeights {
    /// `[k][lane]`, each twice.
    pub rows: Vec<PairRow>,
    /// What an overflow of each product adds to a counter of two bytes where the activation is not negative: [`ABOVE`],
    /// or [`BELOW`] where the weight is negative.
    pub marks: Vec<PairRow>,
}

/// An overflow above, in the lower byte of a counter.
pub(crate) const ABOVE: i16 = 1;
/// An overflow below, in the upper byte.
pub(crate) const BELOW: i16 = 1 << 8;

/// What an overflow of a product of a non-negative activation with `weight` adds to a counter.
pub(crate) fn mark(weight: i16) -> i16 {
    if weight < 0 { BELOW } else { ABOVE }
}

impl PairRow {
    /// Every lane twice.
    pub fn doubled(row: &Row) -> Self {
        Self(std::array::from_fn(|i| row[i / 2]))
    }
}

impl PairWeights {
    /// From `[k][lane]`.
    pub fn new(rows: &[Row]) -> Self {
        let marks = |row: &Row| PairRow::doubled(&row.map(mark));
        Self { rows: rows.iter().map(PairRow::doubled).collect(), marks: rows.iter().map(marks).collect() }
    }
}

/// One level of dot products that are stepped two windows to a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairStepping<'a> {
    pub weights: &'a PairWeights,
    pub start: &'a Lanes,
    pub rails: Rails,
    /// Whether activations may be negative.
    pub negative: bool,
}

/// Where the products of a window find their activations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairCells<'a> {
    /// Every operand in the low half, in the high one that of the second window.
    pub cells: &'a [u32],
    /// Distance of each product's cell from the window's first one.
    pub offsets: &'a [u32],
    /// The greatest of them.
    pub reach: usize,
}

/// The products of two windows whose activations are not 0 in both, in the order of addition: one of 0 changes no sum and
/// is no overflow. There is room for some more than there are products.
#[derive(Debug, Default)]
pub(crate) struct StepList {
    /// Activations of both windows; 0 behind the last product.
    pub operands: Vec<u32>,
    /// The products, as indices of weights; any behind the last one.
    pub rows: Vec<u16>,
    /// Products of the list before each product of the window, if that was asked for.
    pub before: Vec<u32>,
    /// Products in the list, and of the window: more than every index in `rows`.
    pub count: usize,
    pub terms: usize,
}

impl StepList {
    /// Room behind the last product.
    const MORE: usize = 32;

    /// Makes room for windows of `terms` products.
    pub fn resize(&mut self, terms: usize) {
        if self.terms != terms || self.rows.is_empty() {
            self.terms = terms;
            self.rows.clear();
            self.rows.resize(terms + Self::MORE, 0);
            self.operands.resize(terms + Self::MORE, 0);
            self.before.resize(terms + Self::MORE, 0);
        }
    }
}

/// Two windows that are stepped together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairOfWindows<S> {
    /// Where they are.
    pub source: S,
    /// Where the results of both go; those of a second one that nobody asks for, somewhere else.
    pub slots: [usize; 2],
}

/// Windows that are stepped one pair after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PairWindows<'w> {
    /// All lanes read the same activations.
    Shared(&'w [PairOfWindows<&'w StepList>]),
    /// Lane `l` reads cell `l` from each product's cell on; by the first cells of the windows.
    Own(PairCells<'w>, &'w [PairOfWindows<usize>]),
}

/// When the lanes of a dot product enter another part of the layer's time: the steps before which each does, [`NEVER`]
/// for those that do not, and the least and greatest of those steps.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Moment {
    pub at: Lanes,
    pub between: (u32, u32),
}

/// The innermost one of several levels: its runs are stepped two windows to a lane, each from 0.
pub(crate) struct PairRuns<'a> {
    pub cells: PairCells<'a>,
    /// Whether lane `l` reads cell `l` from a product's cell on; else all lanes read that one.
    pub own: bool,
    pub weights: &'a [PairRow],
    pub rails: Rails,
    /// Products of a run.
    pub length: usize,
}
