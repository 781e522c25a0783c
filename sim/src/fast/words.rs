//! Weights and windows of a layer whose activations are read in place, as operands of 16 bits, two products
//! per lane.

use super::image::Geometry;
use super::kernels::{Pair, Row};

/// Positions of the pairs of a window that all lanes share: two products that are added at once and whose
/// cells are adjacent.
#[derive(Debug)]
pub(crate) struct PairLayout {
    /// Products of every pair, in the order of addition; missing products have weight 0.
    products: Vec<[Option<usize>; 2]>,
    /// Distance from the window's first cell to the first cell of every pair.
    offsets: Vec<u32>,
    /// Greatest distance.
    reach: usize,
}

impl PairLayout {
    /// Returns the layout; `None` if adjacent cells are rarely added one after the other, or windows are too
    /// large.
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

    /// Packs the weights `rows`, `[k][lane]`, pair by pair.
    pub fn weights(&self, rows: &[Row]) -> Vec<Pair> {
        let pair = |products: &[Option<usize>; 2]| -> Pair {
            std::array::from_fn(|i| products[i % 2].map_or(0, |k| rows[k][i / 2]))
        };
        self.products.iter().map(pair).collect()
    }

    /// Returns the distances from a window's first cell to the first cell of every pair.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// Returns the greatest distance.
    pub fn reach(&self) -> usize {
        self.reach
    }
}
