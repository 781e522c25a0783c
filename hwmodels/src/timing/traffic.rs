//! What a layer moves.

use guardbit_graph::Window;

use super::gemm::Widths;
use super::mapping::Fold;
use crate::Memory;

/// Bytes that a layer moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Traffic {
    /// From outside, in the whole layer: every operand once, or once per pass through the array if it does not fit
    /// its SRAM (half of it with double buffering).
    pub load: f64,
    /// To the outside, in the whole layer: every output once. Sums that spill from the accumulator SRAM are not
    /// counted.
    pub store: f64,
    /// From the SRAMs of activations and weights, in one fold.
    pub reads: [f64; 2],
}

impl Traffic {
    pub fn new(fold: &Fold, window: &Window, widths: Widths, memory: &Memory) -> Self {
        let bytes = |elements: usize, bits: u32| elements as f64 * f64::from(bits) / 8.0;
        let activations = bytes(window.batch * window.input.iter().product::<usize>(), widths.activation);
        let weights = bytes(window.terms() * window.channels(), widths.weight);
        let usable = if memory.double_buffer { 512.0 } else { 1024.0 };
        let loaded = |bytes: f64, kib: f64, passes: usize| {
            if bytes <= kib * usable { bytes } else { bytes * passes as f64 }
        };
        Self {
            load: loaded(activations, memory.activation_kib, fold.passes[0])
                + loaded(weights, memory.weight_kib, fold.passes[1]),
            store: bytes(window.dots(), widths.output),
            reads: [bytes(fold.reads[0], widths.activation), bytes(fold.reads[1], widths.weight)],
        }
    }
}
