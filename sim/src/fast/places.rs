//! Where and when each dot product of a layer begins and ends, looked up once.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::MacLayer;

use crate::stats::timeline_bin;

/// One dot product at the only level of its layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stay {
    /// Cycle of the first product: no event is earlier.
    pub earliest: u64,
    /// Part of the layer's time in which the first and the last product lie.
    pub bins: [u8; 2],
    /// Processing element of the first product, counted row by row.
    pub element: u32,
}

/// The stay of every dot product of `layer`, by output index.
pub(super) fn stays(layer: &MacLayer) -> Vec<Stay> {
    let window = &layer.dots.window;
    let last = layer.order.len().saturating_sub(1);
    let one = |index: usize| {
        let out: OutputPosition = window.output_position(index);
        let (begin, end) = (layer.timing.place(out, 0, 0), layer.timing.place(out, last, 0));
        Stay {
            earliest: begin.cycle,
            // There are fewer than 256 parts.
            bins: [begin, end].map(|place| timeline_bin(layer, place.cycle) as u8),
            element: (begin.row * layer.timing.array.cols + begin.col) as u32,
        }
    };
    (0..window.dots()).map(one).collect()
}
