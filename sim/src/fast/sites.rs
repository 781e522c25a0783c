//! Determines the time and place of a layer's events.

use std::sync::OnceLock;

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{Check, MacLayer};

use super::blocks::channels_of_blocks;
use super::kernels::{LANES, Lanes, Stepped, TILE};
use super::log::Log;
use super::prepare::Narrow;
use super::schedule::{NEVER, Places, Schedule, first_where};
use super::simd::Kernels;
use super::trace;
use crate::options::Options;
use crate::stats::LayerStats;

/// Places of a layer's dot products, computed on first use.
#[derive(Debug)]
pub(super) struct Sites<'a> {
    layer: &'a MacLayer,
    /// First channel and number of channels of every block.
    blocks: Vec<(usize, usize)>,
    /// Cycle of the first product, indexed `[pixel / TILE][block]`.
    earliest: OnceLock<Vec<u64>>,
    /// Cycle of the first product per lane, indexed `[pixel / TILE][block]`. Lanes without a channel never
    /// begin.
    lanes_earliest: OnceLock<Vec<[u64; LANES]>>,
    /// Cycle of the first product per lane of every pixel, indexed `[pixel][block]`, computed on demand.
    begins: OnceLock<Vec<OnceLock<Box<[u64]>>>>,
    /// Cycles from the first product to each one, if they are equal for all dot products.
    ways: OnceLock<Option<Vec<u64>>>,
    schedule: OnceLock<Schedule>,
}

/// Dot product with events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dot {
    pub pixel: usize,
    pub channel: usize,
    /// Index of its block.
    pub block: usize,
    pub lane: usize,
    /// Initial value of the sum, and the exact sum.
    pub start: i64,
    pub sum: i64,
}

/// Destination of events.
pub(super) struct Record<'r> {
    pub sample: usize,
    pub stats: &'r mut LayerStats,
    pub options: &'r Options,
}

/// Events of a layer that are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All events: time and place are counted.
    All,
    /// Events that may be listed.
    Listed,
    /// Event that may be the first of the layer.
    First,
}

impl Wanted {
    /// Returns the cycle from which on no event of `sample` is requested; `None` if all are.
    pub fn before(self, sample: usize, stats: &LayerStats) -> Option<u64> {
        match self {
            Self::All => None,
            Self::Listed => stats.listed_before(sample),
            Self::First => stats.first_event_cycle,
        }
    }
}

impl<'a> Sites<'a> {
    pub fn new(layer: &'a MacLayer) -> Self {
        Self {
            layer,
            blocks: channels_of_blocks(layer),
            earliest: OnceLock::new(),
            lanes_earliest: OnceLock::new(),
            begins: OnceLock::new(),
            ways: OnceLock::new(),
            schedule: OnceLock::new(),
        }
    }

    /// Returns whether these are the places of `layer`, too, which differs at most in registers, timing and weights.
    pub fn are_of(&self, layer: &MacLayer) -> bool {
        self.layer.timing.places_like(&layer.timing)
    }

    /// Returns whether a log of events up to every turn suffices to count their places.
    pub fn are_logged(&self, check: Check, options: &Options) -> bool {
        options.places_all()
            && check == Check::EachAdd
            && self.layer.order.len() < NEVER as usize
            && self.layer.timing.stays_in_place()
    }

    /// Counts the events of a block at some pixels of a tile; `log` holds their numbers up to every turn.
    /// `tile` holds the tile's first pixel and the index of the block.
    pub fn count(
        &self,
        kernels: Kernels,
        tile: (usize, usize),
        (pixels, stepped): (&[usize], &[Stepped]),
        log: &Log,
        places: &mut Places<'_>,
    ) {
        let mut sites = [0; TILE];
        sites.iter_mut().zip(pixels).for_each(|(site, at)| *site = self.site(tile.0 + at, tile.1));
        kernels.count_places(self.schedule(), &sites[..pixels.len()], stepped, log, places);
    }

    /// Returns whether some dot product of a block with events may begin before a cycle, if one is given.
    /// `pixels` are the first and the last pixel of a tile, `stepped` holds the results of its pixels.
    pub fn some_begin_before(
        &self,
        pixels: [usize; 2],
        block: usize,
        stepped: &[Stepped],
        cycle: Option<u64>,
    ) -> bool {
        let Some(cycle) = cycle else { return true };
        // A range may begin anywhere, so a tile of it may overlap two of the recorded tiles.
        let tiles = pixels.map(|pixel| self.site(pixel / TILE, block));
        if tiles.iter().all(|&tile| self.earliest()[tile] >= cycle) {
            return false;
        }
        let mut events: Lanes = [0; LANES];
        for Stepped { high, low, .. } in stepped {
            (0..LANES).for_each(|l| events[l] |= high[l] | low[l]);
        }
        let begins = |&tile: &usize| events.iter().zip(&self.lanes_earliest()[tile]);
        tiles.iter().flat_map(begins).any(|(&events, &begin)| events != 0 && begin < cycle)
    }

    /// Returns the lanes of a block at a pixel that have events and begin before a cycle, if one is given;
    /// `None` if there are none.
    pub fn lanes_before(
        &self,
        (pixel, block): (usize, usize),
        stepped: &Stepped,
        cycle: Option<u64>,
    ) -> Option<[bool; LANES]> {
        // Lanes without a channel have no events.
        let mut lanes = std::array::from_fn(|l| (stepped.high[l] | stepped.low[l]) != 0);
        if let Some(cycle) = cycle {
            let begins = self.begins(pixel, block);
            begins.iter().zip(&mut lanes).for_each(|(&begin, lane)| *lane &= begin < cycle);
        }
        lanes.contains(&true).then_some(lanes)
    }

    /// Recomputes the requested events of a dot product in a register.
    pub fn place(
        &self,
        (check, narrow): (Check, &Narrow),
        dot: Dot,
        products: impl Iterator<Item = i64>,
        wanted: Wanted,
        record: &mut Record<'_>,
    ) {
        let Record { sample, stats, options } = record;
        let index = dot.pixel * self.layer.dots.window.channels() + dot.channel;
        let terms = self.layer.order.len();
        let steps = match wanted.before(*sample, stats) {
            None => terms,
            Some(cycle) => self.steps_of_lane_before((dot.pixel, dot.block), dot.lane, cycle),
        };
        let limit = if wanted == Wanted::First { 1 } else { usize::MAX };
        if steps == 0 {
            return;
        }
        let out = self.layer.dots.window.output_position(index);
        let mut events = Vec::new();
        match check {
            Check::EachAdd => trace::steps(narrow, dot.start, products.take(steps), limit, &mut events),
            Check::HandOver => trace::hand_over(narrow, dot.sum, terms, &mut events),
        }
        match wanted {
            Wanted::All => stats.place_events(self.layer, *sample, out, &events, options),
            Wanted::Listed | Wanted::First => stats.list_events(self.layer, *sample, out, &events),
        }
    }

    /// Returns, for some lanes of a block at a pixel, the number of products before a cycle; all products if
    /// there is no cycle.
    pub fn steps_before(&self, site: (usize, usize), lanes: &[bool; LANES], cycle: Option<u64>) -> Lanes {
        std::array::from_fn(|lane| match (lanes[lane], cycle) {
            (false, _) => 0,
            (true, None) => self.layer.order.len() as i32,
            (true, Some(cycle)) => self.steps_of_lane_before(site, lane, cycle) as i32,
        })
    }

    /// Returns the number of products of one lane of a block at a pixel before a cycle, or slightly more.
    fn steps_of_lane_before(&self, (pixel, block): (usize, usize), lane: usize, cycle: u64) -> usize {
        let begin = self.begins(pixel, block)[lane];
        if begin >= cycle {
            return 0;
        }
        match self.ways() {
            // Sites that are clamped to the layer's last cycle make ways shorter, never longer.
            Some(ways) => ways.partition_point(|way| begin + way < cycle),
            None => {
                let (terms, channel) = (self.layer.order.len(), self.blocks[block].0 + lane);
                first_where(0, terms, |k| k == terms || self.cycle(pixel, channel, k) >= cycle)
            }
        }
    }

    /// Returns the cycle of product `k` of a dot product.
    pub fn cycle(&self, pixel: usize, channel: usize, k: usize) -> u64 {
        let window = &self.layer.dots.window;
        let out = window.output_position(pixel * window.channels() + channel);
        self.layer.timing.place(out, k, 0).cycle
    }

    /// Returns the cycle in which the dot product of a channel begins at `pixel`.
    fn begin(&self, pixel: usize) -> impl Fn(usize) -> u64 {
        let window = &self.layer.dots.window;
        let out = window.output_position(pixel * window.channels());
        move |channel| self.layer.timing.place(OutputPosition { c: channel, ..out }, 0, 0).cycle
    }

    /// Returns the cycles from the first product to each one, if they are equal for all dot products.
    fn ways(&self) -> Option<&[u64]> {
        let cycle = |k| self.cycle(0, 0, k);
        let ways = || (0..self.layer.order.len()).map(|k| cycle(k) - cycle(0)).collect();
        self.ways.get_or_init(|| self.layer.timing.ways_are_alike().then(ways)).as_deref()
    }

    /// Returns the cycles in which the lanes of block `block` at `pixel` begin.
    fn begins(&self, pixel: usize, block: usize) -> &[u64] {
        let window = &self.layer.dots.window;
        let pixels = window.dots() / window.channels().max(1);
        let begins =
            self.begins.get_or_init(|| (0..pixels * self.blocks.len()).map(|_| OnceLock::new()).collect());
        begins[self.site(pixel, block)].get_or_init(|| {
            let (first, count) = self.blocks[block];
            let begin = self.begin(pixel);
            (first..first + count).map(begin).collect()
        })
    }

    /// Returns the least cycle in which the lanes of each block begin, for every [`TILE`] pixels. This takes
    /// little memory to read when nothing is requested any more.
    fn earliest(&self) -> &[u64] {
        let of_lanes = |lanes: &[u64; LANES]| lanes.iter().fold(u64::MAX, |least, &begin| least.min(begin));
        self.earliest.get_or_init(|| self.lanes_earliest().iter().map(of_lanes).collect())
    }

    /// Returns the least cycle in which each lane begins, for every [`TILE`] pixels.
    fn lanes_earliest(&self) -> &[[u64; LANES]] {
        self.lanes_earliest.get_or_init(|| {
            let window = &self.layer.dots.window;
            let pixels = window.dots() / window.channels().max(1);
            let mut earliest = vec![[u64::MAX; LANES]; pixels.div_ceil(TILE) * self.blocks.len()];
            for pixel in 0..pixels {
                let begin = self.begin(pixel);
                for (block, &(first, count)) in self.blocks.iter().enumerate() {
                    let lanes = &mut earliest[self.site(pixel / TILE, block)];
                    for (channel, least) in (first..first + count).zip(lanes) {
                        *least = (*least).min(begin(channel));
                    }
                }
            }
            earliest
        })
    }

    /// Returns time and place of dot products, by [`Self::site`].
    pub fn schedule(&self) -> &Schedule {
        self.schedule.get_or_init(|| Schedule::new(self.layer, &self.blocks))
    }

    /// Returns the site of block `block` at `pixel`.
    pub fn site(&self, pixel: usize, block: usize) -> usize {
        pixel * self.blocks.len() + block
    }
}
