//! Weights and windows of a layer whose activations are read as bytes, four products per lane.

use super::image::{self, Geometry};
use super::kernels::{Aligned, LANES, Lanes, Row};
use super::span::Span;

/// Number of quads after which a new bound is taken.
const QUADS_PER_BOUND: usize = 16;

/// Positions of the quads of a window: groups of four products that are added at once.
#[derive(Debug)]
pub(crate) struct QuadLayout {
    /// Products of every quad, in the order of addition; missing products have weight 0.
    products: Vec<[Option<usize>; 4]>,
    /// Distances from the window's first cell: one per quad if its cells are adjacent, otherwise one per
    /// cell.
    pub cells: QuadCells,
    /// Greatest distance.
    pub reach: usize,
    /// Products column by column, if that is faster and their order does not matter.
    pub columns: Option<Columns>,
    /// Number of quads after which a bound may be taken, because the products before it are complete.
    part: usize,
    /// Whether the quads follow each other in the order of addition.
    in_order: bool,
}

/// Distances of cells: see [`QuadLayout::cells`].
#[derive(Debug)]
pub(crate) enum QuadCells {
    Shared(Vec<u32>),
    Gather(Vec<[u32; 4]>),
}

/// Columns of windows in which every lane reads a channel of its own. Adjacent windows share most of them.
#[derive(Debug)]
pub(crate) struct Columns {
    /// Products of every column, from top to bottom; missing products have weight 0.
    products: Vec<[Option<usize>; 4]>,
    /// Number of positions from the window's first one to each column.
    pub at: Vec<usize>,
    /// Distances from the first cell of a column to each cell that is read; the last one is repeated if there
    /// are fewer.
    pub rows: [usize; 4],
    /// Number of cells from one position to the next.
    pub channels: usize,
    /// Number of positions from one window to the next.
    pub stride: usize,
}

/// Four weights per lane, `[lane][product]`.
pub(crate) type QuadRow = Aligned<[i8; 4 * LANES]>;

/// Weights of up to [`LANES`] output channels as bytes, quad by quad.
#[derive(Debug)]
pub(crate) struct ByteBlock {
    pub quads: Vec<QuadRow>,
    /// Weights in the order of [`QuadLayout::columns`].
    pub columns: Option<Vec<QuadRow>>,
    /// Initial value with which sums of bytes become sums of operands.
    pub start: Lanes,
    /// Initial value of sums of operands.
    pub bias: Lanes,
    /// Difference of the two initial values, part by part.
    pub corrections: Vec<Lanes>,
    /// Number of quads of a part, after which a bound is taken.
    pub part: usize,
    /// Whether prefixes turn only at the positions of [`QuadTurns`].
    pub has_turns: bool,
}

/// Weights of a quad up to where the prefixes of non-negative activations may be greatest, and least:
/// `[lane][product]`, followed by zeros. A prefix between two weights of equal sign is not an extreme, so
/// that two of four positions suffice.
#[derive(Debug)]
pub(crate) struct QuadTurns {
    pub highs: [QuadRow; 2],
    pub lows: [QuadRow; 2],
}

/// Information about the prefixes of sums of bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ByteSums<'s> {
    /// No information.
    Only,
    /// Bounds: see [`kernels::sum`](super::kernels::sum). Contains the magnitudes of the operands if these
    /// differ from the bytes.
    Bounded(Option<&'s [u8]>),
    /// Extremes, by where the prefixes may turn.
    Walked(&'s [QuadTurns]),
}

/// Positions from which lanes read their activations.
pub(crate) trait Source: Copy {
    /// Returns the number of quads.
    fn quads(self) -> usize;
    /// Returns whether the window at `corner` can be read within `len` bytes.
    fn fits(self, corner: usize, len: usize) -> bool;
}

/// All lanes read four adjacent cells in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared<'o> {
    pub offsets: &'o [u32],
    pub reach: usize,
}

/// Lane `l` reads the `l`-th cell after each of four cells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gather<'o> {
    pub offsets: &'o [[u32; 4]],
    pub reach: usize,
}

impl Source for Shared<'_> {
    fn quads(self) -> usize {
        self.offsets.len()
    }

    fn fits(self, corner: usize, len: usize) -> bool {
        corner + self.reach + 4 <= len
    }
}

impl Source for Gather<'_> {
    fn quads(self) -> usize {
        self.offsets.len()
    }

    fn fits(self, corner: usize, len: usize) -> bool {
        corner + self.reach + LANES <= len
    }
}

impl QuadLayout {
    /// Returns the layout of windows that all lanes share.
    pub(super) fn shared(geometry: &Geometry) -> Self {
        let offsets = geometry.offsets();
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        let in_order = quads(&order, offsets);
        let dense = 2 * in_order.len() <= offsets.len();
        let (products, part) = if dense {
            (in_order, QUADS_PER_BOUND)
        } else {
            // Adjacent cells are not added one after the other: only the complete sum is a prefix.
            order.sort_by_key(|&k| offsets[k]);
            let products = quads(&order, offsets);
            let part = products.len();
            (products, part)
        };
        let first = |quad: &[Option<usize>; 4]| quad[0].map_or(0, |k| offsets[k] as u32);
        let cells = QuadCells::Shared(products.iter().map(first).collect());
        let reach = geometry.reach();
        Self { products, cells, reach, columns: None, part: part.max(1), in_order: dense }
    }

    /// Returns the layout of windows in which every lane reads a channel of its own.
    pub(super) fn gathered(geometry: &Geometry) -> Self {
        let offsets = geometry.offsets();
        let quad = |begin: usize| std::array::from_fn(|i| (begin + i < offsets.len()).then_some(begin + i));
        let products: Vec<[Option<usize>; 4]> = (0..offsets.len()).step_by(4).map(quad).collect();
        let cell = |k: Option<usize>| k.map_or(0, |k| offsets[k] as u32);
        let cells = QuadCells::Gather(products.iter().map(|quad| quad.map(cell)).collect());
        let columns = (products.len() <= QUADS_PER_BOUND).then(|| Columns::new(geometry)).flatten();
        Self { products, cells, reach: geometry.reach(), columns, part: QUADS_PER_BOUND, in_order: true }
    }

    /// Returns the number of products of every quad, if the quads follow each other in the order of addition.
    pub fn counts(&self) -> Option<impl Iterator<Item = usize>> {
        let counts = self.products.iter().map(|products| products.iter().flatten().count());
        self.in_order.then_some(counts)
    }

    /// Returns the block of the weights `rows`, `[k][lane]`, which lie in `range`, for operands that are
    /// `origin` more than their bytes. Returns `None` if weights do not fit bytes, or if the bounds of a part do not fit 31 bits.
    pub fn block(&self, (rows, range): (&[Row], Span), bias: &Lanes, origin: i32) -> Option<ByteBlock> {
        if range.magnitude() > 127 || self.part >= (1 << 30) / (4 * 255 * 127) {
            return None;
        }
        let correction = |quads: &[[Option<usize>; 4]]| {
            let mut correction: Lanes = [0; LANES];
            for k in quads.iter().flatten().flatten() {
                let terms = correction.iter_mut().zip(&rows[*k]);
                terms.for_each(|(sum, &w)| *sum = sum.wrapping_add(w.into()));
            }
            correction.map(|sum| origin.wrapping_mul(sum))
        };
        let corrections: Vec<Lanes> = self.products.chunks(self.part).map(correction).collect();
        let mut start = *bias;
        for correction in &corrections {
            start.iter_mut().zip(correction).for_each(|(sum, c)| *sum = sum.wrapping_add(*c));
        }
        Some(ByteBlock {
            quads: quad_rows(&self.products, rows),
            columns: self.columns.as_ref().map(|columns| quad_rows(&columns.products, rows)),
            start,
            bias: *bias,
            corrections,
            part: self.part,
            has_turns: self.in_order && origin == 0,
        })
    }
}

impl Columns {
    /// Greatest number of positions of [`Self::WINDOWS`] windows.
    pub const MOST: usize = 32;
    /// Greatest number of adjacent windows that are summed at once.
    pub const WINDOWS: usize = 8;

    /// Returns the columns of windows that have at most four rows.
    fn new(geometry: &Geometry) -> Option<Self> {
        let (row, channels) = (geometry.row_distance(), geometry.channels());
        let place = |&offset: &usize| (offset / row * row, offset % row / channels);
        let places: Vec<(usize, usize)> = geometry.offsets().iter().map(place).collect();
        let mut rows: Vec<usize> = places.iter().map(|place| place.0).collect();
        let mut at: Vec<usize> = places.iter().map(|place| place.1).collect();
        for distances in [&mut rows, &mut at] {
            distances.sort_unstable();
            distances.dedup();
        }
        let product = |row: Option<&usize>, col: usize| {
            row.and_then(|&row| places.iter().position(|&place| place == (row, col)))
        };
        let column = |&col: &usize| std::array::from_fn(|i| product(rows.get(i), col));
        let columns = Self {
            products: at.iter().map(column).collect(),
            rows: std::array::from_fn(|i| rows.get(i).copied().unwrap_or(0)),
            at,
            channels,
            stride: geometry.col_stride(),
        };
        (rows.len() <= 4 && columns.positions(Self::WINDOWS) <= Self::MOST).then_some(columns)
    }

    /// Returns the number of positions from one window to the next, if windows have three adjacent columns
    /// and overlap.
    pub fn slides(&self) -> Option<usize> {
        (self.at == [0, 1, 2] && self.stride < 3).then_some(self.stride)
    }

    /// Returns the number of positions of `windows` adjacent windows.
    pub fn positions(&self, windows: usize) -> usize {
        (windows - 1) * self.stride + self.at.last().map_or(0, |last| last + 1)
    }

    /// Returns the greatest distance of a cell from the first one of a window.
    pub fn reach(&self) -> usize {
        self.at.last().map_or(0, |last| last * self.channels) + self.rows.iter().max().unwrap_or(&0)
    }
}

/// Packs the weights `rows`, `[k][lane]`, of `products`.
fn quad_rows(products: &[[Option<usize>; 4]], rows: &[Row]) -> Vec<QuadRow> {
    let quad = |products: &[Option<usize>; 4]| {
        let [first, second, third, fourth] = products.map(|k| k.map_or([0; LANES], |k| rows[k]));
        let mut weights = [0; 4 * LANES];
        for (lane, weights) in weights.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            *weights = [first[lane], second[lane], third[lane], fourth[lane]].map(|w| w as i8);
        }
        Aligned(weights)
    };
    products.iter().map(quad).collect()
}

impl QuadTurns {
    pub fn new(weights: &QuadRow) -> Self {
        let zero = Aligned([0; 4 * LANES]);
        let mut turns = Self { highs: [zero; 2], lows: [zero; 2] };
        for (lane, weights) in weights.as_chunks::<4>().0.iter().enumerate() {
            put_turns(&mut turns.highs, lane, weights, weights.map(|w| w > 0));
            put_turns(&mut turns.lows, lane, weights, weights.map(|w| w < 0));
        }
        turns
    }
}

/// Writes lane `lane` of both rows: `weights` up to each one that goes `on` while the next one does not. No
/// two such weights are adjacent.
fn put_turns(turns: &mut [QuadRow; 2], lane: usize, weights: &[i8; 4], on: [bool; 4]) {
    let last = (0..4).filter(|&i| on[i] && !on.get(i + 1).is_some_and(|&on| on));
    for (turns, last) in turns.iter_mut().zip(last) {
        turns[4 * lane..][..=last].copy_from_slice(&weights[..=last]);
    }
}

/// Groups the products `order` into quads of adjacent cells.
fn quads(order: &[usize], offsets: &[usize]) -> Vec<[Option<usize>; 4]> {
    let runs = image::runs(order.iter().map(|&k| offsets[k]));
    let mut quads = Vec::new();
    let mut rest = order;
    for (_, length) in runs {
        let (run, after) = rest.split_at(length);
        quads.extend(run.chunks(4).map(|quad| std::array::from_fn(|i| quad.get(i).copied())));
        rest = after;
    }
    quads
}
