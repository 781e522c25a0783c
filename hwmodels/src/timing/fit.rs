//! Utilization limit of a layer: how much of the array it can fill, and how much SRAM it needs.

use super::layer::Layer;
use super::mapping::Mapping;
use super::traffic::Tile;
use crate::{ArrayKind, Dataflow};

/// Size of a layer compared with the array and its memories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// Maximum rows and columns of one array that a fold can use. The lanes of a vector engine count as one
    /// row, unless its kind is `block`.
    pub used: [usize; 2],
    /// Rows and columns of the array, counted in the same way.
    pub size: [usize; 2],
    /// Bytes of the smallest tile: activations, weights and sums.
    pub least_bytes: [f64; 3],
    /// Bytes available for one tile.
    pub room_bytes: [f64; 3],
}

impl Fit {
    pub(super) fn new(mapping: &Mapping, smallest: &Tile) -> Self {
        let (wanted, size) = wanted(mapping.dataflow(), mapping.layer());
        Self {
            used: [wanted[0].min(size[0]), wanted[1].min(size[1])],
            size,
            least_bytes: smallest.bytes,
            room_bytes: smallest.room,
        }
    }

    /// Returns whether every fold can use at most half of the array.
    pub fn is_low(&self) -> bool {
        2 * self.used[0] * self.used[1] <= self.size[0] * self.size[1] && self.size != [1, 1]
    }
}

/// Returns the rows and columns that the layer would fill, and the array's size.
fn wanted(dataflow: Dataflow, layer: &Layer) -> ([usize; 2], [usize; 2]) {
    let (array, gemm) = (layer.array, layer.gemm);
    let (size, lanes) = ([array.rows, array.cols], [1, array.rows * array.cols]);
    let channels = layer.channels();
    let rows = if layer.groups.abreast > 1 { layer.chain.passes().most() } else { layer.steps() };
    match (dataflow, array.kind) {
        (Dataflow::OutputStationary, _) => ([gemm.pixels, channels], size),
        (Dataflow::WeightStationary, _) => ([rows, channels], size),
        (Dataflow::InputStationary, _) => ([rows, gemm.pixels], size),
        (Dataflow::Vector, ArrayKind::Outputs) => ([1, gemm.pixels * channels], lanes),
        (Dataflow::Vector, ArrayKind::Channels | ArrayKind::Folded) => ([1, channels], lanes),
        (Dataflow::Vector, ArrayKind::Block) => ([gemm.pixels, channels], size),
    }
}
