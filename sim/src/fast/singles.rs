//! What is stepped one window to a vector of 16-bit lanes.

use super::cells::CellOffsets;
use super::kernels::{Lanes, Rails, Row, Vector};
use super::pairs::mark;
#[cfg(doc)]
use super::pairs::{ABOVE, BELOW};

/// Weights of a block.
#[derive(Debug)]
pub(crate) struct SingleWeights {
    /// `[k]`
    pub rows: Vec<Vector<i16>>,
    /// What an overflow of each product adds to a counter of two bytes where the activation is not negative: [`ABOVE`],
    /// or [`BELOW`] where the weight is negative.
    pub marks: Vec<Vector<i16>>,
}

impl SingleWeights {
    /// From `[k][lane]`.
    pub fn new(rows: &[Row]) -> Self {
        Self {
            rows: rows.iter().map(|row| Vector::new(*row)).collect(),
            marks: rows.iter().map(|row| Vector::new(row.map(mark))).collect(),
        }
    }
}

/// One level of dot products that are stepped one window to a vector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SingleStepping<'a> {
    pub weights: &'a SingleWeights,
    pub start: &'a Lanes,
    pub rails: Rails,
    /// Whether activations may be negative.
    pub negative: bool,
    pub cells: &'a [i16],
    pub offsets: &'a CellOffsets,
    /// Whether lane `l` reads cell `l` from a product's cell on; else all lanes read that one.
    pub own: bool,
}

/// Steps whose overflows are counted in the bytes of a lane.
pub(crate) const COUNTED: usize = 255;

/// Overflows of windows that are stepped together after each of their products.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    /// `[k][window]`: counters of two bytes, that begin anew every [`COUNTED`] products.
    counts: Vec<Vector<i16>>,
    /// `[k / COUNTED][window]`: the overflows before that.
    earlier: Vec<Vector<i16>>,
    /// Number of windows.
    windows: usize,
}

/// What is traced of `P` windows, step by step.
pub(crate) type Traced<const P: usize> = [[Vector<i16>; P]];

impl Traces {
    /// Makes room for `products` products of `P` windows: counters and what was before them, to be written.
    pub fn open<const P: usize>(&mut self, products: usize) -> (&mut Traced<P>, &mut Traced<P>) {
        let Self { counts, earlier, windows } = self;
        *windows = P;
        let room = |rows: &mut Vec<Vector<i16>>, count: usize| {
            if rows.len() < count * P {
                rows.resize(count * P, Vector::ZERO);
            }
        };
        let parts = products.div_ceil(COUNTED);
        room(counts, products);
        room(earlier, parts);
        (&mut counts.as_chunks_mut().0[..products], &mut earlier.as_chunks_mut().0[..parts])
    }

    /// The overflows of lane `lane` of window `window` before product `product`.
    pub fn before(&self, window: usize, product: usize, lane: usize) -> i32 {
        let Some(last) = product.checked_sub(1) else { return 0 };
        let row = |rows: &[Vector<i16>], index: usize| rows[index * self.windows + window][lane];
        let [above, below] = row(&self.counts, last).to_le_bytes();
        i32::from(above) + i32::from(below) + i32::from(row(&self.earlier, last / COUNTED))
    }
}
