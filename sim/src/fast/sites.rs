//! Where and when the events of a layer happen.

use std::sync::OnceLock;

use guardbit_hwmodels::{Check, MacLayer};

use super::kernels::{LANES, Lanes, Stepped, TILE};
use super::log::Log;
use super::prepare::{Block, Narrow};
use super::schedule::{NEVER, Places, Schedule, first_where};
use super::simd::Kernels;
use super::trace;
use crate::options::Options;
use crate::stats::LayerStats;

/// The places of a layer's dot products, looked up when they are first asked for.
#[derive(Debug)]
pub(super) struct Sites<'a> {
    layer: &'a MacLayer,
    /// First channel and number of channels of every block.
    blocks: Vec<(usize, usize)>,
    /// `[pixel / TILE][block]`: cycle of the first product.
    earliest: OnceLock<Vec<u64>>,
    /// `[pixel / TILE][block]`: the same lane by lane; those without a channel never begin.
    lanes_earliest: OnceLock<Vec<[u64; LANES]>>,
    /// `[pixel][block]`: the same of every pixel, looked up where it is asked for.
    begins: OnceLock<Vec<OnceLock<Box<[u64]>>>>,
    /// Cycles from the first product to each one, if they are the same for all dot products.
    ways: OnceLock<Option<Vec<u64>>>,
    schedule: OnceLock<Schedule>,
}

/// A dot product with events.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dot {
    pub pixel: usize,
    pub channel: usize,
    /// Index of its block.
    pub block: usize,
    pub lane: usize,
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

/// Which events of a layer are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Every one: where and when it happens is counted.
    All,
    /// Those that may be listed.
    Listed,
    /// One that may be the first of the layer.
    First,
}

impl Wanted {
    /// The cycle from which on no event of `sample` is wanted; `None` if there is none.
    pub fn before(self, sample: usize, stats: &LayerStats) -> Option<u64> {
        match self {
            Self::All => None,
            Self::Listed => stats.listed_before(sample),
            Self::First => stats.first_event_cycle,
        }
    }
}

impl<'a> Sites<'a> {
    pub fn new(layer: &'a MacLayer, blocks: &[Block]) -> Self {
        let blocks = blocks.iter().map(|block| (block.first, block.count)).collect();
        Self {
            layer,
            blocks,
            earliest: OnceLock::new(),
            lanes_earliest: OnceLock::new(),
            begins: OnceLock::new(),
            ways: OnceLock::new(),
            schedule: OnceLock::new(),
        }
    }

    /// Whether a log of events up to every turn says all that is counted of their places.
    pub fn are_logged(&self, check: Check, options: &Options) -> bool {
        options.places_all()
            && check == Check::EachAdd
            && self.layer.order.len() < NEVER as usize
            && self.layer.timing.stays_in_place()
    }

    /// Counts the events of a block at some pixels of a tile, of which `log` has those up to every turn; `tile` are the
    /// tile's first pixel and the index of the block.
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

    /// Whether some dot product of a block with events, of which the pixels of a tile have those in `stepped`, may begin
    /// before a cycle, if there is one; `pixels` are the first one and the last one.
    pub fn some_begin_before(
        &self,
        pixels: [usize; 2],
        block: usize,
        stepped: &[Stepped],
        cycle: Option<u64>,
    ) -> bool {
        let Some(cycle) = cycle else { return true };
        // A range may begin anywhere: a tile of it may lie in two of those that are looked at.
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

    /// The lanes of a block at a pixel that have events and begin before a cycle, if there is one; `None` if none does.
    pub fn lanes_before(
        &self,
        (pixel, block): (usize, usize),
        stepped: &Stepped,
        cycle: Option<u64>,
    ) -> Option<[bool; LANES]> {
        // Lanes without a channel have none.
        let mut lanes = std::array::from_fn(|l| (stepped.high[l] | stepped.low[l]) != 0);
        if let Some(cycle) = cycle {
            let begins = self.begins(pixel, block);
            begins.iter().zip(&mut lanes).for_each(|(&begin, lane)| *lane &= begin < cycle);
        }
        lanes.contains(&true).then_some(lanes)
    }

    /// Finds those events of a dot product in a register again that are wanted.
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

    /// How many products of some lanes of a block at a pixel come before a cycle; all if there is no cycle.
    pub fn steps_before(&self, site: (usize, usize), lanes: &[bool; LANES], cycle: Option<u64>) -> Lanes {
        std::array::from_fn(|lane| match (lanes[lane], cycle) {
            (false, _) => 0,
            (true, None) => self.layer.order.len() as i32,
            (true, Some(cycle)) => self.steps_of_lane_before(site, lane, cycle) as i32,
        })
    }

    /// How many products of one lane of a block at a pixel come before a cycle, or a few more.
    fn steps_of_lane_before(&self, (pixel, block): (usize, usize), lane: usize, cycle: u64) -> usize {
        let begin = self.begins(pixel, block)[lane];
        if begin >= cycle {
            return 0;
        }
        match self.ways() {
            // Sites that are held at the layer's last cycle make ways shorter, never longer.
            Some(ways) => ways.partition_point(|way| begin + way < cycle),
            None => {
                let (terms, channel) = (self.layer.order.len(), self.blocks[block].0 + lane);
                first_where(0, terms, |k| k == terms || self.cycle(pixel, channel, k) >= cycle)
            }
        }
    }

    /// The cycle of product `k` of a dot product.
    pub fn cycle(&self, pixel: usize, channel: usize, k: usize) -> u64 {
        let window = &self.layer.dots.window;
        let out = window.output_position(pixel * window.channels() + channel);
        self.layer.timing.place(out, k, 0).cycle
    }

    /// Cycles from the first product to each one, if they are the same for all dot products.
    fn ways(&self) -> Option<&[u64]> {
        let cycle = |k| self.cycle(0, 0, k);
        let ways = || (0..self.layer.order.len()).map(|k| cycle(k) - cycle(0)).collect();
        self.ways.get_or_init(|| self.layer.timing.ways_are_alike().then(ways)).as_deref()
    }

    /// The cycles in which the lanes of block `block` at `pixel` begin.
    fn begins(&self, pixel: usize, block: usize) -> &[u64] {
        let window = &self.layer.dots.window;
        let pixels = window.dots() / window.channels().max(1);
        let begins =
            self.begins.get_or_init(|| (0..pixels * self.blocks.len()).map(|_| OnceLock::new()).collect());
        begins[self.site(pixel, block)].get_or_init(|| {
            let (first, count) = self.blocks[block];
            (first..first + count).map(|channel| self.cycle(pixel, channel, 0)).collect()
        })
    }

    /// The least cycle in which the lanes of each block begin at every [`TILE`] pixels: little memory to look at where
    /// nothing is wanted any more.
    fn earliest(&self) -> &[u64] {
        let of_lanes = |lanes: &[u64; LANES]| lanes.iter().fold(u64::MAX, |least, &begin| least.min(begin));
        self.earliest.get_or_init(|| self.lanes_earliest().iter().map(of_lanes).collect())
    }

    /// The same for each lane.
    fn lanes_earliest(&self) -> &[[u64; LANES]] {
        self.lanes_earliest.get_or_init(|| {
            let window = &self.layer.dots.window;
            let pixels = window.dots() / window.channels().max(1);
            let mut earliest = vec![[u64::MAX; LANES]; pixels.div_ceil(TILE) * self.blocks.len()];
            for pixel in 0..pixels {
                for (block, &(first, count)) in self.blocks.iter().enumerate() {
                    let lanes = &mut earliest[self.site(pixel / TILE, block)];
                    for (channel, least) in (first..first + count).zip(lanes) {
                        *least = (*least).min(self.cycle(pixel, channel, 0));
                    }
                }
            }
            earliest
        })
    }

    /// When and where dot products are, by [`Self::site`].
    pub fn schedule(&self) -> &Schedule {
        self.schedule.get_or_init(|| Schedule::new(self.layer, &self.blocks))
    }

    /// The site of block `block` at `pixel`.
    pub fn site(&self, pixel: usize, block: usize) -> usize {
        pixel * self.blocks.len() + block
    }
}
