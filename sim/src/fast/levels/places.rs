//! Where and when the events of a layer happen, counted without going through them one by one.

use std::sync::OnceLock;

use guardbit_hwmodels::MacLayer;

use super::super::kernels::Row;
use crate::stats::{LayerStats, timeline_bin};

/// The places of a layer's additions; looked up when the first event has to be placed.
#[derive(Debug)]
pub(super) struct Places<'a> {
    layer: &'a MacLayer,
    ways: OnceLock<Vec<Way>>,
    /// Per level and output index.
    stays: OnceLock<Vec<Vec<Stay>>>,
}

/// The way of every dot product through one level, from where its first value is added.
#[derive(Debug)]
struct Way {
    /// Per value: the last product in it, cycles since the first one, and processing elements from that of the first
    /// one, counted row by row.
    steps: Vec<(usize, u64, usize)>,
}

/// One dot product at one level.
#[derive(Debug, Clone, Copy)]
struct Stay {
    /// Of the first and the last value.
    cycles: [u64; 2],
    /// Parts of the layer's time in which they lie.
    bins: [u8; 2],
    /// Of the first value.
    element: u32,
    /// Whether [`Way`] says all about it.
    is_regular: bool,
}

impl<'a> Places<'a> {
    pub fn new(layer: &'a MacLayer) -> Self {
        Self { layer, ways: OnceLock::new(), stays: OnceLock::new() }
    }

    /// No event of the dot product of output `index` is earlier.
    pub fn earliest(&self, index: usize) -> u64 {
        self.stays().iter().map(|level| level[index].cycles[0]).min().unwrap_or(0)
    }

    /// Counts the events of one dot product at one level: lane `lane` of `log`, `total` in sum.
    pub fn count(
        &self,
        (level, index): (usize, usize),
        (log, lane): (&[Row], usize),
        total: u64,
        stats: &mut LayerStats,
    ) {
        let stay = self.stays()[level][index];
        let layer = self.layer;
        let stays_in_place = layer.timing.stays_in_place();
        if stays_in_place {
            stats.heat_map[stay.element as usize] += total;
        }
        let in_one_bin = stay.bins[0] == stay.bins[1];
        if in_one_bin {
            stats.timeline[usize::from(stay.bins[0])] += total;
        }
        let out = layer.dots.window.output_position(index);
        let steps = &self.ways()[level].steps;
        let cycle = |i: usize| match stay.is_regular {
            true => stay.cycles[0] + steps[i].1,
            false => layer.timing.place(out, steps[i].0, level).cycle,
        };
        if stats.would_be_first(stay.cycles[0])
            && let Some(first) = log.iter().position(|row| row[lane] != 0)
        {
            let first = cycle(first);
            stats.first_event_cycle = Some(stats.first_event_cycle.map_or(first, |c| c.min(first)));
        }
        if in_one_bin && stays_in_place {
            return;
        }
        let mut bin = usize::from(stay.bins[0]);
        // The cycle at which the next part of the time begins.
        let mut turn = turn(layer, bin);
        for (i, row) in log.iter().enumerate().filter(|(_, row)| row[lane] != 0) {
            let events = row[lane] as u64;
            if !in_one_bin {
                let cycle = cycle(i);
                if cycle >= turn {
                    bin = timeline_bin(layer, cycle);
                    turn = self::turn(layer, bin);
                }
                stats.timeline[bin] += events;
            }
            if stays_in_place {
                continue;
            }
            let element = match stay.is_regular {
                true => (stay.element as usize).wrapping_add(steps[i].2),
                false => {
                    let place = layer.timing.place(out, steps[i].0, level);
                    place.row * layer.timing.array.cols + place.col
                }
            };
            stats.heat_map[element] += events;
        }
    }

    fn ways(&self) -> &[Way] {
        self.ways.get_or_init(|| ways(self.layer))
    }

    fn stays(&self) -> &[Vec<Stay>] {
        self.stays.get_or_init(|| {
            let levels = self.ways().iter().enumerate();
            levels.map(|(level, way)| stays(self.layer, level, way)).collect()
        })
    }
}

/// The first cycle that lies in a later part of the layer's time than `bin`.
fn turn(layer: &MacLayer, bin: usize) -> u64 {
    match bin + 1 {
        crate::stats::TIMELINE_BINS => u64::MAX,
        next => (next as u64 * layer.timing.cycles.max(1)).div_ceil(crate::stats::TIMELINE_BINS as u64),
    }
}

/// The way of the first output, level by level.
fn ways(layer: &MacLayer) -> Vec<Way> {
    let out = layer.dots.window.output_position(0);
    let count = layer.order.len();
    let (mut values, mut span) = (count, 1usize);
    let of_level = |(index, level): (usize, &guardbit_hwmodels::Level)| {
        let last_of = |i: usize| ((i + 1).saturating_mul(span)).min(count).saturating_sub(1);
        let place = |i: usize| layer.timing.place(out, last_of(i), index);
        let element = |i: usize| {
            let place = place(i);
            place.row * layer.timing.array.cols + place.col
        };
        let (cycle, first) = (place(0).cycle, element(0));
        let step = |i: usize| (last_of(i), place(i).cycle - cycle, element(i).wrapping_sub(first));
        let way = Way { steps: (0..values).map(step).collect() };
        let length = level.terms.run_length(values);
        values = values.div_ceil(length);
        span = span.saturating_mul(length);
        way
    };
    layer.datapath.levels.iter().enumerate().map(of_level).collect()
}

fn stays(layer: &MacLayer, level: usize, way: &Way) -> Vec<Stay> {
    let window = &layer.dots.window;
    let (Some(first), Some(last)) = (way.steps.first(), way.steps.last()) else { return Vec::new() };
    let one = |index: usize| {
        let out = window.output_position(index);
        let (begin, end) = (layer.timing.place(out, first.0, level), layer.timing.place(out, last.0, level));
        Stay {
            cycles: [begin.cycle, end.cycle],
            // There are fewer than 256 parts.
            bins: [begin, end].map(|place| timeline_bin(layer, place.cycle) as u8),
            element: (begin.row * layer.timing.array.cols + begin.col) as u32,
            // Where the last cycle of a layer cuts the way off, it cuts off its end.
            is_regular: layer.timing.ways_are_alike() && end.cycle - begin.cycle == last.1,
        }
    };
    (0..window.dots()).map(one).collect()
}
