//! Ways of dot products through the levels.

use guardbit_hwmodels::{Level, MacLayer};

use crate::stats::timeline_bin;

/// Way of every dot product through one level, relative to the addition of its first value.
#[derive(Debug)]
pub(super) struct Way {
    pub steps: Vec<WayStep>,
}

/// One value on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct WayStep {
    /// Last product that it contains.
    pub k: usize,
    /// Number of cycles since the first value.
    pub cycles: u64,
    /// Distance from the processing element of the first value, counted row by row.
    pub elements: usize,
}

/// One dot product at one level.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stay {
    /// Earliest cycle, mostly that of the first value, and cycle of the last value.
    pub cycles: [u64; 2],
    /// Intervals of the layer's time that contain these cycles.
    pub bins: [u8; 2],
    /// Processing element of the first value.
    pub element: u32,
    /// Whether [`Way`] describes it completely.
    pub is_regular: bool,
}

/// Returns the way of the first output, level by level.
pub(super) fn ways(layer: &MacLayer) -> Vec<Way> {
    let out = layer.dots.window.output_position(0);
    let count = layer.order.len();
    let (mut values, mut span) = (count, 1usize);
    let of_level = |(index, level): (usize, &Level)| {
        let last_of = |i: usize| ((i + 1).saturating_mul(span)).min(count).saturating_sub(1);
        let place = |i: usize| layer.timing.place(out, last_of(i), index);
        let element = |i: usize| {
            let place = place(i);
            place.row * layer.timing.array.cols + place.col
        };
        let (cycle, first) = (place(0).cycle, element(0));
        let step = |i: usize| WayStep {
            k: last_of(i),
            // Used only if cycles never decrease.
            cycles: place(i).cycle.saturating_sub(cycle),
            elements: element(i).wrapping_sub(first),
        };
        let way = Way { steps: (0..values).map(step).collect() };
        let length = level.terms.run_length(values);
        values = values.div_ceil(length);
        span = span.saturating_mul(length);
        way
    };
    layer.datapath.levels.iter().enumerate().map(of_level).collect()
}

pub(super) fn stays(layer: &MacLayer, level: usize, way: &Way) -> Vec<Stay> {
    let window = &layer.dots.window;
    let (Some(first), Some(last)) = (way.steps.first(), way.steps.last()) else { return Vec::new() };
    let keeps_order = layer.timing.keeps_order();
    let one = |index: usize| {
        let out = window.output_position(index);
        let (begin, end) = (layer.timing.place(out, first.k, level), layer.timing.place(out, last.k, level));
        let cycle = |step: &WayStep| layer.timing.place(out, step.k, level).cycle;
        let earliest = way.steps.iter().filter(|_| !keeps_order).map(cycle).min();
        Stay {
            cycles: [earliest.unwrap_or(begin.cycle), end.cycle],
            // There are fewer than 256 parts.
            bins: [begin, end].map(|place| timeline_bin(layer, place.cycle) as u8),
            element: (begin.row * layer.timing.array.cols + begin.col) as u32,
            // If the last cycle of a layer truncates the way, it truncates its end.
            is_regular: keeps_order
                && layer.timing.ways_are_alike()
                && end.cycle - begin.cycle == last.cycles,
        }
    };
    (0..window.dots()).map(one).collect()
}
