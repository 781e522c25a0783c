//! Weights and windows of a layer whose activations are read where they lie, as operands of 16 bits, two products to a
//! lane.

use super::image::Geometry;
use super::kernels::{Pair, Row};

/// Where the pairs of a window are that all lanes share: two products that are added up at once, and whose cells are
/// neighbours.
#[derive(Debug)]
pub(crate) struct PairLayout {
    /// The products of every pair, in the order of addition; those that there are not have weight 0.
    products: Vec<[Option<usize>; 2]>,
    /// Distance from the window's first cell to the first one of every pair.
    offsets: Vec<u32>,
    /// The greatest of them.
    reach: usize,
}

impl PairLayout {
    /// `None` where neighbours are rarely added one after the other, or windows are too large.
    pub(super) fn new(geometry: &Geometry) -> Option<Self> {
        let (mut products, mut offsets) = (Vec::new(), Vec::new());
        let mut first = 0;
        for &(distance, length) in geometry.runs() {
            for at in (0..length).step_by(2) {
                products.push([Some(first + at), (at + 1 < length).then_some(first + at + 1)]);
                offsets.push(u32::try_from(distance + at).ok()?);
            }
            first += length;
        }
        let reach = offsets.iter().max().map_or(0, |&offset| offset as usize);
        (4 * products.len() <= 3 * first).then_some(Self { products, offsets, reach })
    }

    /// Weights `rows`, `[k][lane]`, pair by pair.
    pub fn weights(&self, rows: &[Row]) -> Vec<Pair> {
        let pair = |products: &[Option<usize>; 2]| -> Pair {
            std::array::from_fn(|i| products[i % 2].map_or(0, |k| rows[k][i / 2]))
        };
        self.products.iter().map(pair).collect()
    }

    /// Distance from a window's first cell to the first one of every pair.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The greatest of them.
    pub fn reach(&self) -> usize {
        self.reach
    }
}
