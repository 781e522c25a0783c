//! Where and when the events of a layer happen.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{Check, MacLayer};

use super::kernels::Row;
use super::prepare::Narrow;
use super::{FastLayer, trace};
use crate::dot::DotEvent;
use crate::options::{Options, StatsLevel};
use crate::stats::{LayerStats, timeline_bin};

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

/// The stays of a layer.
#[derive(Debug)]
pub(super) struct Stays {
    /// By output index.
    dots: Vec<Stay>,
    /// `[pixel][block]`: cycle of the first product.
    blocks: Vec<u64>,
}

/// A dot product with events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dot {
    pub pixel: usize,
    pub channel: usize,
    pub lane: usize,
    /// Position among the pixels that were stepped together.
    pub slot: usize,
    /// What the sum starts from, and the exact sum.
    pub start: i64,
    pub sum: i64,
}

/// Where events are written down.
pub(super) struct Record<'r> {
    pub sample: usize,
    pub stats: &'r mut LayerStats,
    pub options: &'r Options,
}

/// Places events; keeps its memory from one pixel to the next.
#[derive(Debug, Default)]
pub(super) struct Placer {
    events: Vec<DotEvent>,
    /// Per stepped pixel and step, the events so far; of use where `logging`.
    log: Vec<Row>,
    logging: bool,
}

impl Stays {
    pub fn new(layer: &FastLayer<'_>) -> Self {
        let channels = layer.layer.dots.window.channels();
        let dots = stays(layer.layer);
        let earliest = |pixel: usize, first: usize, count: usize| {
            let stays = &dots[pixel * channels + first..][..count];
            stays.iter().map(|stay| stay.earliest).min().unwrap_or(0)
        };
        let pixels = 0..layer.geometry.pixels();
        let blocks = pixels
            .flat_map(|pixel| layer.blocks.iter().map(move |block| (pixel, block.first, block.count)))
            .map(|(pixel, first, count)| earliest(pixel, first, count))
            .collect();
        Self { dots, blocks }
    }
}

impl Placer {
    /// A log for stepping `pixels` pixels, where it is of use.
    pub fn log(
        &mut self,
        layer: &FastLayer<'_>,
        check: Check,
        options: &Options,
        pixels: usize,
    ) -> Option<&mut [Row]> {
        let steps = layer.layer.order.len();
        self.logging = options.stats == StatsLevel::Full
            && check == Check::EachAdd
            && steps <= i16::MAX as usize
            && layer.layer.timing.stays_in_place();
        if !self.logging {
            return None;
        }
        if self.log.len() < pixels * steps {
            self.log.resize(pixels * steps, Row::default());
        }
        Some(&mut self.log[..pixels * steps])
    }

    /// Whether events of block `block` at `pixel` make a difference.
    pub fn asks(&self, layer: &FastLayer<'_>, block: usize, pixel: usize, record: &Record<'_>) -> bool {
        record.options.stats == StatsLevel::Full
            || record.stats.wants_events(record.sample)
            || record.stats.would_be_first(layer.stays().blocks[pixel * layer.blocks.len() + block])
    }

    /// Places the events of a dot product in the register that `level` says, and finds them again where somebody
    /// wants to know each one.
    pub fn place(
        &mut self,
        layer: &FastLayer<'_>,
        level: (Check, &Narrow),
        dot: Dot,
        products: impl Iterator<Item = i64>,
        record: &mut Record<'_>,
    ) {
        let Record { sample, stats, options } = record;
        let sample = *sample;
        let (check, narrow) = level;
        let window = &layer.layer.dots.window;
        let index = dot.pixel * window.channels() + dot.channel;
        let out = window.output_position(index);
        let stay = layer.stays().dots[index];
        let steps = layer.layer.order.len();
        let all = options.stats == StatsLevel::Full || stats.wants_events(sample);
        if !all && !stats.would_be_first(stay.earliest) {
            return;
        }
        if self.logging && !stats.wants_events(sample) {
            let log = &self.log[dot.slot * steps..][..steps];
            stats.place_counted(layer.layer, out, stay, steps, &|k| log[k][dot.lane] as u64);
            return;
        }
        self.events.clear();
        let limit = if all { usize::MAX } else { 1 };
        match check {
            Check::EachAdd => trace::steps(narrow, dot.start, products, limit, &mut self.events),
            Check::HandOver => trace::hand_over(narrow, dot.sum, steps, &mut self.events),
        }
        stats.place_events(layer.layer, sample, out, &self.events, options);
    }
}

/// The stay of every dot product of `layer`, by output index.
fn stays(layer: &MacLayer) -> Vec<Stay> {
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
