//! Data of registers that are stepped two windows per vector of 16-bit lanes.

use super::kernels::{LANES, Lanes, Rails, Row};
#[cfg(doc)]
use super::places::traces::NEVER;
use super::span::Span;

/// One 16-bit number per lane for each of two windows: either interleaved by lane, or all of the first window
/// before those of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct PairRow(pub [i16; 2 * LANES]);

/// Overflow above, counted in the lower byte of a counter. If pairs are counted, any overflow.
pub(crate) const ABOVE: i16 = 1;
/// Overflow below, counted in the upper byte.
pub(crate) const BELOW: i16 = 1 << 8;

/// Returns what an overflow of a product of a non-negative activation with `weight` adds to a counter.
pub(crate) fn mark(weight: i16) -> i16 {
    if weight < 0 { BELOW } else { ABOVE }
}

impl PairRow {
    /// Returns a row with every lane twice in succession.
    pub fn doubled(row: &Row) -> Self {
        Self(std::array::from_fn(|i| row[i / 2]))
    }

    /// Returns a row with all lanes repeated.
    pub fn repeated(row: &Row) -> Self {
        Self(std::array::from_fn(|i| row[i % LANES]))
    }
}

/// Weights of a block.
#[derive(Debug)]
pub(crate) struct PairWeights {
    /// `[k][lane]`, for two windows.
    pub rows: Vec<PairRow>,
    /// Value that an overflow of each product adds to a counter if the activation is not negative: [`ABOVE`],
    /// plus [`BELOW`] if the weight is negative. Present only if reading it is faster than testing the
    /// weight.
    pub marks: Option<Vec<PairRow>>,
}

impl PairWeights {
    /// Number of products up to which rows and marks fit the fastest cache.
    const MARKED: usize = 256;

    /// Packs weights `[k][lane]` for windows that share a vector as `lay_out` arranges them. They
    /// [`fit`](Self::fit).
    pub fn new(rows: &[Row], lay_out: impl Fn(&Row) -> PairRow) -> Self {
        let marks = || rows.iter().map(|row| lay_out(&row.map(|w| mark(w) | ABOVE))).collect();
        let marked = rows.len() <= Self::MARKED;
        Self { rows: rows.iter().map(&lay_out).collect(), marks: marked.then(marks) }
    }

    /// Returns weights whose rows are already arranged for two windows.
    pub fn of_rows(rows: Vec<PairRow>) -> Self {
        let marks = || rows.iter().map(|row| PairRow(row.0.map(|w| mark(w) | ABOVE))).collect();
        let marks = (rows.len() <= Self::MARKED).then(marks);
        Self { rows, marks }
    }

    /// Returns whether all weights have at most nine bits.
    pub fn fit(rows: &[Row]) -> bool {
        rows.iter().flatten().all(|&w| has_nine_bits(Span::new(w.into(), w.into())))
    }
}

/// Returns whether operands from the least to the greatest one have at most nine bits, including the sign.
pub(crate) fn has_nine_bits(range: Span) -> bool {
    -256 <= range.least && range.greatest < 256
}

/// One level of dot products that are stepped two windows per vector. Operands have at most nine bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairStepping<'a> {
    pub weights: &'a PairWeights,
    pub start: &'a Lanes,
    pub rails: Rails,
    /// Whether activations may be negative.
    pub negative: bool,
}

/// Activations of a window's products, laid out in pairs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairCells<'a> {
    /// Operands: the low half of each word belongs to the first window, the high half to the second.
    pub cells: &'a [u32],
    /// Distance of each product's cell from the window's first one.
    pub offsets: &'a [u32],
    /// Greatest distance.
    pub reach: usize,
}

/// Activations of a window's products as bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairBytes<'a> {
    pub bytes: &'a [u8],
    /// Distance of each product's byte from the window's first one.
    pub offsets: &'a [u32],
    /// Greatest distance.
    pub reach: usize,
    /// Difference from a byte to its operand.
    pub origin: i32,
}

/// Activations of two windows whose products are listed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ListCells<'a> {
    /// Activations laid out in pairs: see [`PairCells::cells`].
    Pairs(&'a [u32]),
    /// Activations as bytes, to which operands are `origin` more.
    Bytes { windows: [&'a [u8]; 2], origin: i32 },
}

/// Products of two windows in the order of addition, without products whose activations are 0 in both windows:
/// a product of 0 changes no sum and cannot overflow. The lists have some room beyond the last product.
#[derive(Debug, Default)]
pub(crate) struct StepList {
    /// Activations of both windows; 0 after the last product.
    pub operands: Vec<u32>,
    /// Products as indices of weights; arbitrary after the last one.
    pub rows: Vec<u16>,
    /// Number of listed products before each product of the window, if requested.
    pub before: Vec<u32>,
    /// Number of products in the list, and of the window. The latter exceeds every index in `rows`.
    pub count: usize,
    pub terms: usize,
}

impl StepList {
    /// Room after the last product.
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

/// Two windows that are stepped together. Windows whose lanes share their activations are interleaved by lane
/// in a vector; others follow each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairOfWindows<S> {
    /// Source of their products.
    pub source: S,
    /// Slots of the results. Those of a second window that is not requested go to an unused slot.
    pub slots: [usize; 2],
}

impl<W> PairOfWindows<W> {
    /// Returns the windows with the source that `source` returns.
    #[inline(always)]
    pub fn map_source<S>(self, source: impl Fn(W) -> S) -> PairOfWindows<S> {
        PairOfWindows { source: source(self.source), slots: self.slots }
    }
}

/// Windows that are stepped pair by pair.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PairWindows<'w> {
    /// All lanes read shared activations.
    Shared(&'w [PairOfWindows<&'w StepList>]),
    /// Lane `l` reads the `l`-th byte from each product's byte on. Contains the first bytes of both windows.
    Own(PairBytes<'w>, &'w [PairOfWindows<[usize; 2]>]),
}

/// Moments at which the lanes of a dot product enter another interval of the layer's time: the step before
/// which each does, or [`NEVER`]; and the least and greatest of those steps.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Moment {
    pub at: Lanes,
    pub between: (u32, u32),
}

/// Innermost of several levels, whose runs are stepped two windows per lane, each from 0.
pub(crate) struct PairRuns<'a> {
    pub cells: PairCells<'a>,
    /// Whether lane `l` reads the `l`-th cell from a product's cell on; otherwise all lanes read that cell.
    pub own: bool,
    pub weights: &'a [PairRow],
    pub rails: Rails,
    /// Number of products of a run.
    pub length: usize,
}
