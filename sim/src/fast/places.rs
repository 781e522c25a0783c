//! Where and when the events of a layer happen.

use std::ops::Range;
use std::sync::OnceLock;

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{Check, MacLayer};

use super::kernels::{LANES, Lanes, TILE};
use super::prepare::{Block, Narrow};
use super::trace;
use crate::dot::DotEvent;
use crate::options::Options;
use crate::stats::{LayerStats, timeline_bin};

/// The places of a layer's dot products, looked up when they are first asked for.
#[derive(Debug)]
pub(super) struct Places<'a> {
    layer: &'a MacLayer,
    /// First channel and number of channels of every block.
    blocks: Vec<(usize, usize)>,
    /// `[pixel][block]`: cycle of the first product.
    earliest: OnceLock<Vec<u64>>,
    /// `[pixel][block]`: the same lane by lane, looked up where it is asked for.
    begins: OnceLock<Vec<OnceLock<Box<[u64]>>>>,
    /// Cycles from the first product to each one, if they are the same for all dot products.
    ways: OnceLock<Option<Vec<u64>>>,
    stays: OnceLock<Stays>,
}

/// Where every dot product is while the time of the layer passes; of layers whose dot products stay in place.
#[derive(Debug, Default)]
struct Stays {
    /// By output index.
    dots: Vec<Stay>,
    /// Parts of the layer's time after the first one that a dot product takes.
    parts: Vec<Part>,
    /// `[pixel][block]`: the products before which some lane enters another part.
    blocks: Vec<Range<usize>>,
    checkpoints: Vec<u32>,
}

/// One dot product.
#[derive(Debug, Clone)]
struct Stay {
    /// Cycle of the first product: no event is earlier.
    earliest: u64,
    /// Processing element, counted row by row.
    element: u32,
    /// Part of the layer's time in which it begins.
    bin: u8,
    parts: Range<usize>,
}

/// A part of the layer's time.
#[derive(Debug, Clone, Copy)]
struct Part {
    bin: u8,
    /// The checkpoint at which it begins, counted within the block.
    entry: u16,
}

/// A dot product with events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dot {
    pub pixel: usize,
    pub channel: usize,
    /// Index of its block.
    pub block: usize,
    pub lane: usize,
    /// Position among the pixels that were stepped together.
    pub slot: usize,
    /// What the sum starts from, and the exact sum.
    pub start: i64,
    pub sum: i64,
    /// Its events.
    pub events: u64,
}

/// Where events are written down.
pub(super) struct Record<'r> {
    pub sample: usize,
    pub stats: &'r mut LayerStats,
    pub options: &'r Options,
}

/// Events of the pixels that were stepped together, checkpoint by checkpoint.
#[derive(Debug, Default)]
pub(super) struct Log {
    entries: Vec<Lanes>,
    /// Where each pixel's begin.
    starts: [usize; TILE],
}

impl<'a> Places<'a> {
    pub fn new(layer: &'a MacLayer, blocks: &[Block]) -> Self {
        let blocks = blocks.iter().map(|block| (block.first, block.count)).collect();
        Self {
            layer,
            blocks,
            earliest: OnceLock::new(),
            begins: OnceLock::new(),
            ways: OnceLock::new(),
            stays: OnceLock::new(),
        }
    }

    /// Whether a log of events at [`Self::checkpoints`] says all that is counted of their places.
    pub fn are_logged(&self, check: Check, options: &Options) -> bool {
        options.places_all()
            && check == Check::EachAdd
            && self.layer.order.len() <= i16::MAX as usize
            && self.layer.timing.stays_in_place()
    }

    /// The products of block `block` at `pixel` before which events have to be counted.
    pub fn checkpoints(&self, pixel: usize, block: usize) -> &[u32] {
        let stays = self.stays();
        &stays.checkpoints[stays.blocks[pixel * self.blocks.len() + block].clone()]
    }

    /// Whether events of block `block` at `pixel` make a difference.
    pub fn ask(&self, pixel: usize, block: usize, record: &Record<'_>) -> bool {
        let earliest = || self.earliest.get_or_init(|| self.look_up())[pixel * self.blocks.len() + block];
        record.options.places_all()
            || record.stats.wants_events(record.sample)
            || record.stats.would_be_first(earliest())
    }

    /// Places the events of a dot product in a register, and finds them again where somebody wants to know each one.
    /// `log` is what [`Self::are_logged`] speaks of, if it does.
    pub fn place(
        &self,
        (check, narrow): (Check, &Narrow),
        dot: Dot,
        products: impl Iterator<Item = i64>,
        log: Option<&Log>,
        record: &mut Record<'_>,
    ) {
        let Record { sample, stats, options } = record;
        let index = dot.pixel * self.layer.dots.window.channels() + dot.channel;
        let wanted = stats.wants_events(*sample);
        let logged = log.filter(|_| !wanted);
        if let Some(log) = logged {
            let stay = &self.stays().dots[index];
            self.place_counted(stay, dot, log, stats);
            if !stats.would_be_first(stay.earliest) {
                return;
            }
        }
        let all = wanted || options.places_all() && logged.is_none();
        let terms = self.layer.order.len();
        // Events that are not the first one of the layer need not be found.
        let (steps, limit) = match all {
            true => (terms, usize::MAX),
            false => {
                let place = (dot.pixel, dot.channel, dot.block, dot.lane);
                (self.steps_before(place, stats.first_event_cycle), 1)
            }
        };
        if steps == 0 {
            return;
        }
        let out = self.layer.dots.window.output_position(index);
        let mut events = Vec::new();
        match check {
            Check::EachAdd => trace::steps(narrow, dot.start, products.take(steps), limit, &mut events),
            Check::HandOver => trace::hand_over(narrow, dot.sum, terms, &mut events),
        }
        if all {
            stats.place_events(self.layer, *sample, out, &events, options);
        } else if let Some(DotEvent { k, level, .. }) = events.first() {
            stats.note_first(self.layer.timing.place(out, *k, *level).cycle);
        }
    }

    /// Whether every event is placed, or listed.
    pub fn asks_for_all(&self, record: &Record<'_>) -> bool {
        record.options.places_all() || record.stats.wants_events(record.sample)
    }

    /// How many products of the dot products of block `block` at `pixel` come before a cycle, or some more; all if
    /// there is no cycle.
    pub fn steps_before_first(&self, pixel: usize, block: usize, cycle: Option<u64>) -> usize {
        let begin = self.earliest.get_or_init(|| self.look_up())[pixel * self.blocks.len() + block];
        match (cycle, self.ways()) {
            (Some(cycle), Some(ways)) => ways.partition_point(|way| begin + way < cycle),
            _ => self.layer.order.len(),
        }
    }

    /// How many products of a dot product come before a cycle, or a few more; all if there is no cycle.
    fn steps_before(
        &self,
        (pixel, channel, block, lane): (usize, usize, usize, usize),
        cycle: Option<u64>,
    ) -> usize {
        let (timing, terms) = (&self.layer.timing, self.layer.order.len());
        let Some(cycle) = cycle else { return terms };
        let begin = self.begins(pixel, block)[lane];
        if begin >= cycle {
            return 0;
        }
        let place = |index, k| timing.place(self.layer.dots.window.output_position(index), k, 0).cycle;
        match self.ways() {
            // Places that are held at the layer's last cycle make ways shorter, never longer.
            Some(ways) => ways.partition_point(|way| begin + way < cycle),
            None => {
                let index = pixel * self.layer.dots.window.channels() + channel;
                first_where(0, terms, |k| k == terms || place(index, k) >= cycle)
            }
        }
    }

    /// Cycles from the first product to each one, if they are the same for all dot products.
    fn ways(&self) -> Option<&[u64]> {
        let (timing, terms) = (&self.layer.timing, self.layer.order.len());
        let cycle = |k| timing.place(self.layer.dots.window.output_position(0), k, 0).cycle;
        let ways = || (0..terms).map(|k| cycle(k) - cycle(0)).collect();
        self.ways.get_or_init(|| timing.ways_are_alike().then(ways)).as_deref()
    }

    /// The cycles in which the lanes of block `block` at `pixel` begin.
    fn begins(&self, pixel: usize, block: usize) -> &[u64] {
        let window = &self.layer.dots.window;
        let pixels = window.dots() / window.channels().max(1);
        let begins =
            self.begins.get_or_init(|| (0..pixels * self.blocks.len()).map(|_| OnceLock::new()).collect());
        begins[pixel * self.blocks.len() + block].get_or_init(|| {
            let (first, count) = self.blocks[block];
            let first = pixel * window.channels() + first;
            let begin = |index| self.layer.timing.place(window.output_position(index), 0, 0).cycle;
            (first..first + count).map(begin).collect()
        })
    }

    fn place_counted(&self, stay: &Stay, dot: Dot, log: &Log, stats: &mut LayerStats) {
        let parts = &self.stays().parts[stay.parts.clone()];
        let bins = std::iter::once(stay.bin).chain(parts.iter().map(|part| part.bin));
        let counts = parts.iter().map(|part| log.events(dot.slot, part.entry, dot.lane));
        let counts = counts.chain(std::iter::once(dot.events));
        stats.place_counted(stay.element as usize, bins.map(usize::from).zip(counts));
    }

    fn look_up(&self) -> Vec<u64> {
        let window = &self.layer.dots.window;
        let cycle = |index| self.layer.timing.place(window.output_position(index), 0, 0).cycle;
        let earliest = |pixel: usize, &(first, count): &(usize, usize)| {
            let first = pixel * window.channels() + first;
            (first..first + count).map(cycle).min().unwrap_or(0)
        };
        let pixels = 0..window.dots() / window.channels().max(1);
        pixels.flat_map(|pixel| self.blocks.iter().map(move |block| earliest(pixel, block))).collect()
    }

    fn stays(&self) -> &Stays {
        self.stays.get_or_init(|| {
            let channels = self.layer.dots.window.channels();
            let mut stays = Stays::default();
            for pixel in 0..self.layer.dots.window.dots() / channels.max(1) {
                for &(first, count) in &self.blocks {
                    stays.push(self.layer, pixel * channels + first, count);
                }
            }
            stays
        })
    }
}

impl Stays {
    /// Adds the dot products of a block at a pixel: `count` from output `first` on.
    fn push(&mut self, layer: &MacLayer, first: usize, count: usize) {
        let begin = self.checkpoints.len();
        let mut turns: [Vec<(usize, u8)>; LANES] = Default::default();
        for (lane, turns) in turns.iter_mut().enumerate().take(count) {
            *turns = self::turns(layer, layer.dots.window.output_position(first + lane));
            self.checkpoints.extend(turns.iter().map(|&(k, _)| k as u32));
        }
        self.checkpoints[begin..].sort_unstable();
        let mut block = self.checkpoints.split_off(begin);
        block.dedup();
        for (lane, turns) in turns.iter().enumerate().take(count) {
            let place = layer.timing.place(layer.dots.window.output_position(first + lane), 0, 0);
            let parts = self.parts.len();
            self.parts.extend(turns.iter().map(|&(k, bin)| Part {
                bin,
                // There are fewer checkpoints than lanes times parts of a layer's time.
                entry: block.partition_point(|&step| (step as usize) < k) as u16,
            }));
            self.dots.push(Stay {
                earliest: place.cycle,
                element: (place.row * layer.timing.array.cols + place.col) as u32,
                bin: timeline_bin(layer, place.cycle) as u8,
                parts: parts..self.parts.len(),
            });
        }
        self.checkpoints.extend(block);
        self.blocks.push(begin..self.checkpoints.len());
    }
}

impl Log {
    /// Makes room for pixels with as many checkpoints as given.
    pub fn clear(&mut self, checkpoints: impl Iterator<Item = usize>) {
        let mut end = 0;
        for (start, count) in self.starts.iter_mut().zip(checkpoints) {
            *start = end;
            end += count;
        }
        if self.entries.len() < end {
            self.entries.resize(end, [0; LANES]);
        }
    }

    /// What is logged of the pixel in `slot`, and what follows.
    pub fn of(&mut self, slot: usize) -> &mut [Lanes] {
        &mut self.entries[self.starts[slot]..]
    }

    fn events(&self, slot: usize, entry: u16, lane: usize) -> u64 {
        self.entries[self.starts[slot] + usize::from(entry)][lane] as u64
    }
}

/// The products before which a dot product enters another part of the layer's time, and those parts.
fn turns(layer: &MacLayer, out: OutputPosition) -> Vec<(usize, u8)> {
    let bin = |k| timeline_bin(layer, layer.timing.place(out, k, 0).cycle) as u8;
    let last = layer.order.len().saturating_sub(1);
    let (mut k, mut here, end) = (0, bin(0), bin(last));
    let mut turns = Vec::new();
    while here < end {
        // Cycles never fall within a dot product: neither do the parts.
        k = first_where(k, last, |k| bin(k) > here);
        here = bin(k);
        turns.push((k, here));
    }
    turns
}

/// The first of `from..=to` where `holds`; it holds at `to` and, once it does, from there on.
fn first_where(mut from: usize, mut to: usize, holds: impl Fn(usize) -> bool) -> usize {
    while from < to {
        let middle = (from + to) / 2;
        if holds(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    from
}
