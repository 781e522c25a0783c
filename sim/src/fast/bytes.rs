//! Weights and windows of a layer whose activations travel as bytes, four products to a lane.

use std::sync::OnceLock;

use super::image::{self, Geometry};
use super::kernels::{Aligned, LANES, Lanes, Row};

/// Quads after which a bound is taken anew.
const QUADS_PER_BOUND: usize = 16;

/// Where the quads of a window are: four products that are added up at once.
#[derive(Debug)]
pub(crate) struct QuadLayout {
    /// The products of every quad, in the order of addition; those that there are not have weight 0.
    products: Vec<[Option<usize>; 4]>,
    /// Distance from the window's first cell: of every quad if its cells are neighbours, else of each of its cells.
    pub cells: QuadCells,
    /// The greatest distance.
    pub reach: usize,
    /// The same products column by column, where that is quicker and their order does not matter.
    pub columns: Option<Columns>,
    /// Quads after which a bound may be taken: those before are complete.
    part: usize,
    /// Whether the quads follow each other in the order of addition.
    in_order: bool,
}

/// See [`QuadLayout::cells`].
#[derive(Debug)]
pub(crate) enum QuadCells {
    Shared(Vec<u32>),
    Gather(Vec<[u32; 4]>),
}

/// The columns of windows where every lane reads a channel of its own: windows beside each other have most of them in
/// common.
#[derive(Debug)]
pub(crate) struct Columns {
    /// The products of every column, one below the other; those that there are not have weight 0.
    products: Vec<[Option<usize>; 4]>,
    /// Positions from the window's first one to each column.
    pub at: Vec<usize>,
    /// Cells from the first one of a column to each one that is read; that again where there are fewer.
    pub rows: [usize; 4],
    /// Cells from one position to the next.
    pub channels: usize,
    /// Positions from one window to the next.
    pub stride: usize,
}

/// Four weights per lane, `[lane][product]`.
pub(crate) type QuadRow = Aligned<[i8; 4 * LANES]>;

/// Weights of quads, `[quad][lane][product]`.
#[derive(Debug)]
pub(crate) struct QuadWeights {
    pub weights: Vec<QuadRow>,
    /// Their magnitudes.
    pub sizes: Vec<QuadRow>,
}

/// Weights of up to [`LANES`] output channels as bytes, quad by quad.
#[derive(Debug)]
pub(crate) struct ByteBlock {
    pub quads: QuadWeights,
    /// Those of [`QuadLayout::columns`].
    pub columns: Option<QuadWeights>,
    /// What sums of bytes start from to become sums of operands.
    pub start: Lanes,
    /// What sums of operands start from.
    pub bias: Lanes,
    /// The difference of the two, part by part.
    pub corrections: Vec<Lanes>,
    /// Quads of a part: where a bound is taken.
    pub part: usize,
    /// Whether prefixes turn only where [`Self::turns`] says.
    has_turns: bool,
    turns: OnceLock<Vec<QuadTurns>>,
}

/// Weights of a quad up to where the prefixes of non-negative activations may be greatest, and least: `[lane][product]`,
/// 0 behind. A prefix that goes up with one weight and on with the next is no extreme, so that two of four are enough.
#[derive(Debug)]
pub(crate) struct QuadTurns {
    pub highs: [QuadRow; 2],
    pub lows: [QuadRow; 2],
}

/// What is found of the prefixes of sums of bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ByteSums<'s> {
    /// Nothing.
    Only,
    /// Bounds: see [`kernels::sum`](super::kernels::sum). With the magnitudes of the operands that bytes stand for, where
    /// they are others.
    Bounded(Option<&'s [u8]>),
    /// Their extremes, by [`ByteBlock::turns`].
    Walked(&'s [QuadTurns]),
}

/// How lanes find their activations.
pub(crate) trait Source: Copy {
    /// Number of quads.
    fn quads(self) -> usize;
    /// Whether the window at `corner` can be read within so many bytes.
    fn fits(self, corner: usize, len: usize) -> bool;
}

/// All lanes read the same four cells, which are neighbours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shared<'o> {
    pub offsets: &'o [u32],
    pub reach: usize,
}

/// Lane `l` reads cell `l` after each of four.
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
    /// Of windows that all lanes share.
    pub(super) fn shared(geometry: &Geometry) -> Self {
        let offsets = geometry.offsets();
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        let in_order = quads(&order, offsets);
        let dense = 2 * in_order.len() <= offsets.len();
        let (products, part) = if dense {
            (in_order, QUADS_PER_BOUND)
        } else {
            // Neighbours are not added one after the other: only all together is a prefix.
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

    /// Of windows where every lane reads a channel of its own.
    pub(super) fn gathered(geometry: &Geometry) -> Self {
        let offsets = geometry.offsets();
        let quad = |begin: usize| std::array::from_fn(|i| (begin + i < offsets.len()).then_some(begin + i));
        let products: Vec<[Option<usize>; 4]> = (0..offsets.len()).step_by(4).map(quad).collect();
        let cell = |k: Option<usize>| k.map_or(0, |k| offsets[k] as u32);
        let cells = QuadCells::Gather(products.iter().map(|quad| quad.map(cell)).collect());
        let columns = (products.len() <= QUADS_PER_BOUND).then(|| Columns::new(geometry)).flatten();
        Self { products, cells, reach: geometry.reach(), columns, part: QUADS_PER_BOUND, in_order: true }
    }

    /// Weights `rows`, `[k][lane]`, of operands that are `origin` more than their bytes; `None` if they are no bytes,
    /// or bounds of a part do not fit 31 bits.
    pub fn block(&self, rows: &[Row], bias: &Lanes, origin: i32) -> Option<ByteBlock> {
        let small = |w: &i16| (-127..=127).contains(w);
        if !rows.iter().flatten().all(small) || self.part >= (1 << 30) / (4 * 255 * 127) {
            return None;
        }
        let correction = |quads: &[[Option<usize>; 4]]| {
            let mut correction: Lanes = [0; LANES];
            for k in quads.iter().flatten().flatten() {
                let terms = correction.iter_mut().zip(&rows[*k]);
                terms.for_each(|(sum, &w)| *sum = sum.wrapping_add(origin.wrapping_mul(w.into())));
            }
            correction
        };
        let corrections: Vec<Lanes> = self.products.chunks(self.part).map(correction).collect();
        let mut start = *bias;
        for correction in &corrections {
            start.iter_mut().zip(correction).for_each(|(sum, c)| *sum = sum.wrapping_add(*c));
        }
        Some(ByteBlock {
            quads: QuadWeights::new(&self.products, rows),
            columns: self.columns.as_ref().map(|columns| QuadWeights::new(&columns.products, rows)),
            start,
            bias: *bias,
            corrections,
            part: self.part,
            has_turns: self.in_order && origin == 0,
            turns: OnceLock::new(),
        })
    }
}

impl Columns {
    /// Positions that [`Self::WINDOWS`] windows may have.
    pub const MOST: usize = 32;
    /// Windows beside each other that are summed up at once, at most.
    pub const WINDOWS: usize = 8;

    /// Those of windows that have no more than four rows.
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

    /// Positions from one window to the next, where they have three columns beside each other and share some.
    pub fn slides(&self) -> Option<usize> {
        (self.at == [0, 1, 2] && self.stride < 3).then_some(self.stride)
    }

    /// Positions of `windows` windows beside each other.
    pub fn positions(&self, windows: usize) -> usize {
        (windows - 1) * self.stride + self.at.last().map_or(0, |last| last + 1)
    }

    /// The greatest distance of a cell from the first one of a window.
    pub fn reach(&self) -> usize {
        self.at.last().map_or(0, |last| last * self.channels) + self.rows.iter().max().unwrap_or(&0)
    }
}

impl QuadWeights {
    /// Weights `rows`, `[k][lane]`, of `products`.
    fn new(products: &[[Option<usize>; 4]], rows: &[Row]) -> Self {
        let pack = |f: fn(i16) -> i16| {
            let quad = |products: &[Option<usize>; 4]| {
                let weight = |i: usize| products[i % 4].map_or(0, |k| f(rows[k][i / 4]) as i8);
                Aligned(std::array::from_fn(weight))
            };
            products.iter().map(quad).collect()
        };
        Self { weights: pack(|w| w), sizes: pack(i16::abs) }
    }
}

impl ByteBlock {
    /// Where the prefixes of every quad may turn; `None` if operands may be negative, or are added in another order.
    pub fn turns(&self) -> Option<&[QuadTurns]> {
        let make = || self.quads.weights.iter().map(QuadTurns::new).collect();
        self.has_turns.then(|| self.turns.get_or_init(make).as_slice())
    }
}

impl QuadTurns {
    fn new(weights: &QuadRow) -> Self {
        let zero = Aligned([0; 4 * LANES]);
        let mut turns = Self { highs: [zero; 2], lows: [zero; 2] };
        for (lane, weights) in weights.as_chunks::<4>().0.iter().enumerate() {
            put_turns(&mut turns.highs, lane, weights, weights.map(|w| w > 0));
            put_turns(&mut turns.lows, lane, weights, weights.map(|w| w < 0));
        }
        turns
    }
}

/// Writes lane `lane` of both: `weights` up to each one that goes `on` while the next does not. No two such follow each
/// other.
fn put_turns(turns: &mut [QuadRow; 2], lane: usize, weights: &[i8; 4], on: [bool; 4]) {
    let last = (0..4).filter(|&i| on[i] && !on.get(i + 1).is_some_and(|&on| on));
    for (turns, last) in turns.iter_mut().zip(last) {
        turns[4 * lane..][..=last].copy_from_slice(&weights[..=last]);
    }
}

/// Products `order` in quads of neighbouring cells.
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
