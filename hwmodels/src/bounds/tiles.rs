//! Two-level accumulation: required widths of inner and outer accumulators.

use guardbit_graph::Graph;
use guardbit_num::Rounding;

use super::layer::{Products, initial, signs};
use super::{Range, level_sums};
use crate::{Check, Level, MacLayer, Reduce, Register, Terms};

/// Ranges of the sums of runs of `tile` products, and of the sums of these, over all output channels, and the
/// bits that hold each. Weights are the actual ones, or any weights if they are activations. Runs follow the
/// layer's order of additions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoLevels {
    /// Runs per dot product.
    pub tiles: usize,
    /// Range of the sums of runs.
    pub inner: Range,
    /// Bits of the inner accumulator.
    pub inner_bits: u32,
    /// Range of the sums of dot products.
    pub outer: Range,
    /// Bits of the outer accumulator.
    pub outer_bits: u32,
}

impl TwoLevels {
    /// Returns the required widths if the levels of a layer are replaced by an inner accumulator for runs of
    /// `tile` products and an outer one.
    pub fn new(graph: &Graph, layer: &MacLayer, tile: usize) -> Self {
        let level = |name: &str, terms| Level {
            name: name.into(),
            reduce: Reduce::Serial,
            terms,
            register: Register::Auto,
            check: Check::EachAdd,
            shift: 0,
            round: Rounding::Floor.into(),
        };
        let mut datapath = layer.datapath.clone();
        datapath.levels = vec![level("inner", Terms::Count(tile.max(1))), level("outer", Terms::All)];
        let products = Products::of(graph, layer);
        let mut sums = [Range::ZERO; 2];
        for channel in 0..layer.dots.window.channels() {
            let products = match layer.dots.streams_weights() {
                true => products.of_any_weights(graph, layer, channel),
                false => products.of_channel(layer, channel),
            };
            let of_channel = level_sums(&datapath, &products, initial(layer, channel));
            sums.iter_mut().zip(of_channel).for_each(|(all, sum)| *all = all.hull(sum));
        }
        let signed = signs(layer).last().copied().unwrap_or(true);
        let [inner, outer] = sums;
        let tiles = layer.order.len().div_ceil(tile.max(1));
        Self { tiles, inner, inner_bits: inner.bits(signed), outer, outer_bits: outer.bits(signed) }
    }
}
