//! What is stepped two windows to a vector of 16-bit lanes.

use super::kernels::{LANES, Lanes, Rails, Row};
#[cfg(doc)]
use super::schedule::NEVER;

/// One 16-bit number for each of two windows per lane: either those of a lane side by side, or all of the first window before
/// those of the second one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct PairRow(pub [i16; 2 * LANES]);

/// An overflow above, in the lower byte of a counter; where pairs are counted, any overflow.
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

    /// All lanes twice.
    pub fn repeated(row: &Row) -> Self {
        Self(std::array::from_fn(|i| row[i % LANES]))
    }

    /// Every lane of every row twice.
    pub fn all_doubled(rows: &[Row]) -> Vec<Self> {
        rows.iter().map(Self::doubled).collect()
    }
}

/// Weights of a block.
#[derive(Debug)]
pub(crate) struct PairWeights {
    /// `[k][lane]`, for two windows.
    pub rows: Vec<PairRow>,
    /// What an overflow of each product adds to a counter where the activation is not negative: [`ABOVE`], and [`BELOW`] too
    /// where the weight is negative. Only where reading that is quicker than to look at the weight.
    pub marks: Option<Vec<PairRow>>,
}

impl PairWeights {
    /// Products up to which rows and marks stay in the fastest cache.
    const MARKED: usize = 256;

    /// From `[k][lane]`, for windows that share a vector as `lay_out` says. `None` if a weight has more than nine bits.
    pub fn new(rows: &[Row], lay_out: impl Fn(&Row) -> PairRow) -> Option<Self> {
        let marks = || rows.iter().map(|row| lay_out(&row.map(|w| mark(w) | ABOVE))).collect();
        let fits = |&w: &i16| has_nine_bits((w.into(), w.into()));
        let marked = rows.len() <= Self::MARKED;
        let laid_out = || Self { rows: rows.iter().map(&lay_out).collect(), marks: marked.then(marks) };
        rows.iter().flatten().all(fits).then(laid_out)
    }
}

/// Whether operands from the least to the greatest one have at most nine bits, signs included.
pub(crate) fn has_nine_bits((least, greatest): (i64, i64)) -> bool {
    -256 <= least && greatest < 256
}

/// One level of dot products that are stepped two windows to a vector. Operands have at most nine bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairStepping<'a> {
    pub weights: &'a PairWeights,
    pub start: &'a Lanes,
    pub rails: Rails,
    /// Whether activations may be negative.
    pub negative: bool,
}

/// Where the products of a window find their activations, laid out two by two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairCells<'a> {
    /// Every operand in the low half, in the high one that of the second window.
    pub cells: &'a [u32],
    /// Distance of each product's cell from the window's first one.
    pub offsets: &'a [u32],
    /// The greatest of them.
    pub reach: usize,
}

/// Where the products of a window find their activations as bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairBytes<'a> {
    pub bytes: &'a [u8],
    /// Distance of each product's byte from the window's first one.
    pub offsets: &'a [u32],
    /// The greatest of them.
    pub reach: usize,
    /// From a byte to the operand.
    pub origin: i32,
}

/// Where two windows that are listed find their activations.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ListCells<'a> {
    /// Laid out two by two: see [`PairCells::cells`].
    Pairs(&'a [u32]),
    /// As bytes, which operands are `origin` more than.
    Bytes { windows: [&'a [u8]; 2], origin: i32 },
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

/// Two windows that are stepped together. Those whose lanes share their activations lie lane by lane in a vector, the others
/// one before the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairOfWindows<S> {
    /// Where they are.
    pub source: S,
    /// Where the results of both go; those of a second one that nobody asks for, somewhere else.
    pub slots: [usize; 2],
}

impl<W> PairOfWindows<W> {
    /// The same windows by what `source` finds of them.
    #[inline(always)]
    pub fn map_source<S>(self, source: impl Fn(W) -> S) -> PairOfWindows<S> {
        PairOfWindows { source: source(self.source), slots: self.slots }
    }
}

/// Windows that are stepped one pair after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PairWindows<'w> {
    /// All lanes read the same activations.
    Shared(&'w [PairOfWindows<&'w StepList>]),
    /// Lane `l` reads byte `l` from each product's byte on; by the first bytes of both windows.
    Own(PairBytes<'w>, &'w [PairOfWindows<[usize; 2]>]),
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
