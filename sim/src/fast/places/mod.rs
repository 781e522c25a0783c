//! Times and places of a layer's events.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

mod bits;
pub(super) mod log;
mod rows;
pub(super) mod schedule;
pub(super) mod trace;
pub(super) mod traces;
mod way;

use std::sync::{Arc, OnceLock};

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{Check, Level, MacLayer};

pub(crate) use bits::Heat;
pub(super) use bits::{Bits, Events};
use log::Log;
use schedule::{Places, Schedule, first_where};
use traces::NEVER;
use way::{Stay, Way};

use super::blocks::channels_of_blocks;
use super::kernels::{LANES, Lanes, Stepped, TILE};
use super::simd::Kernels;
use crate::event::EventStage;
use crate::options::Options;

/// When and where a layer's dot products are computed: tables made on first use. They do not depend on weights.
#[derive(Debug)]
pub(crate) struct Sites<'a> {
    layer: &'a MacLayer,
    /// Whether products of a dot product are added in the order of time: it takes a while to find out.
    keeps_order: bool,
    /// First channel and number of channels of every block.
    blocks: Vec<(usize, usize)>,
    /// Earliest cycle of a product, indexed `[pixel / TILE][block]`.
    earliest: OnceLock<Vec<u64>>,
    /// Earliest cycle of a product per lane, indexed `[pixel / TILE][block]`. Lanes without a channel never
    /// begin.
    lanes_earliest: OnceLock<Vec<[u64; LANES]>>,
    /// Earliest cycle of a product per lane of every pixel, indexed `[pixel][block]`, computed on demand.
    begins: OnceLock<Vec<OnceLock<Box<[u64]>>>>,
    /// Per output index, the earliest cycle of a product or of the bias.
    narrowings: OnceLock<Vec<u64>>,
    /// Places of one serial level whose dot products stay in place.
    schedule: OnceLock<Schedule>,
    /// Way through every level, and stay per level and output index.
    ways: OnceLock<Vec<Way>>,
    stays: OnceLock<Vec<Vec<Stay>>>,
}

impl<'a> Sites<'a> {
    /// Returns those of `layer`, shared with those of a layer that differs only in its registers and timing if the
    /// latter does not matter.
    pub fn shared(layer: &'a MacLayer, like: Option<&Arc<Self>>) -> Arc<Self> {
        match like.filter(|like| like.are_of(layer)) {
            Some(like) => Arc::clone(like),
            None => Arc::new(Self::new(layer)),
        }
    }

    fn new(layer: &'a MacLayer) -> Self {
        Self {
            layer,
            keeps_order: layer.timing.keeps_order(),
            blocks: channels_of_blocks(layer),
            earliest: OnceLock::new(),
            lanes_earliest: OnceLock::new(),
            begins: OnceLock::new(),
            narrowings: OnceLock::new(),
            schedule: OnceLock::new(),
            ways: OnceLock::new(),
            stays: OnceLock::new(),
        }
    }

    /// Returns whether these are the places of `layer`, too, which differs at most in registers, timing and weights.
    fn are_of(&self, layer: &MacLayer) -> bool {
        let runs = |layer: &MacLayer| {
            layer.datapath.levels.iter().map(|level: &Level| level.terms).collect::<Vec<_>>()
        };
        self.layer.timing.places_like(&layer.timing) && runs(self.layer) == runs(layer)
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

    /// Returns the number of products of one lane of a block at a pixel before a cycle, or more; all products if
    /// there is no cycle.
    pub fn steps_before(&self, (pixel, block): (usize, usize), lane: usize, cycle: Option<u64>) -> usize {
        let terms = self.layer.order.len();
        let Some(cycle) = cycle else { return terms };
        let begin = self.begins(pixel, block)[lane];
        if begin >= cycle {
            return 0;
        }
        match (self.keeps_order, self.layer.timing.ways_are_alike()) {
            (false, _) => terms,
            // Sites that are clamped to the layer's last cycle make ways shorter, never longer.
            (true, true) => self.ways()[0].steps.partition_point(|step| begin + step.cycles < cycle),
            (true, false) => {
                let channel = self.blocks[block].0 + lane;
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

    /// Returns the earliest cycle of a product of each channel at `pixel`. No level adds a product earlier.
    fn begin(&self, pixel: usize) -> impl Fn(usize) -> u64 {
        let (window, timing) = (&self.layer.dots.window, &self.layer.timing);
        let out = window.output_position(pixel * window.channels());
        // In order, the first product is the earliest one.
        let terms = if self.keeps_order { 1 } else { self.layer.order.len() };
        move |channel| {
            let out = OutputPosition { c: channel, ..out };
            (0..terms).map(|k| timing.place(out, k, 0).cycle).min().unwrap_or(0)
        }
    }

    /// Returns a lower bound of the cycle of any product or bias event in the dot product of output `index`.
    pub fn earliest_narrowing(&self, index: usize) -> u64 {
        let earliest = self.narrowings.get_or_init(|| {
            let layer = self.layer;
            let terms = if self.keeps_order { 1 } else { layer.order.len() };
            let stages = [EventStage::Product, EventStage::Bias].map(|stage| stage.level(layer));
            let of_output = |index: usize| {
                let out = layer.dots.window.output_position(index);
                let cycle = |(k, level)| layer.timing.place(out, k, level).cycle;
                let places = (0..terms).flat_map(|k| stages.map(|level| (k, level)));
                places.map(cycle).min().unwrap_or(0)
            };
            (0..layer.dots.window.dots()).map(of_output).collect()
        });
        earliest[index]
    }

    /// Returns whether some dot product of a block at `pixel` may have an event before a cycle.
    pub fn block_begins_before(&self, pixel: usize, block: usize, cycle: u64) -> bool {
        self.earliest()[self.site(pixel / TILE, block)] < cycle
    }

    /// Returns a lower bound of the cycles of all events in the sums of one lane of a block at a pixel.
    pub fn begin_of_lane(&self, pixel: usize, block: usize, lane: usize) -> u64 {
        self.begins(pixel, block)[lane]
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use guardbit_graph::ops::Conv2d;
    use guardbit_graph::{DType, Graph, Operand, OutputSpec, TensorType};
    use guardbit_hwmodels::{PRESETS, load, lower};

    use super::*;

    /// No addition of any level comes before its lane, its block, or its tile begins, on any preset.
    #[test]
    fn no_addition_comes_before_its_lane_begins() {
        let ty = |shape: &[usize]| TensorType::quantized(shape, DType::Int8, 1.0, 0).unwrap();
        // Short passes follow long ones on arrays of 16 rows.
        let operands = [
            Operand::input("x", ty(&[1, 7, 7, 3])),
            Operand::constant("w", ty(&[18, 3, 3, 3]), vec![1; 18 * 27]),
        ];
        let output = OutputSpec::quantized("y", DType::Int8, 100.0, 0).unwrap();
        let graph = Arc::new(Graph::of_op("layer", Conv2d::default(), operands, output).unwrap());
        let (mut checked, mut out_of_order) = (0, 0);
        for preset in PRESETS {
            let Ok(program) = lower(Arc::clone(&graph), &load(preset.name, &[]).unwrap()) else { continue };
            for layer in program.mac_layers() {
                checked += 1;
                out_of_order += usize::from(!layer.timing.keeps_order());
                check(layer, preset.name);
            }
        }
        assert!(checked > 10 && out_of_order > 0, "{checked} layers, {out_of_order} out of order");
    }

    fn check(layer: &MacLayer, name: &str) {
        let (sites, window) = (Sites::new(layer), &layer.dots.window);
        for index in 0..window.dots() {
            let (pixel, channel) = (index / window.channels(), index % window.channels());
            let holds = |&(first, count): &(usize, usize)| (first..first + count).contains(&channel);
            let block = sites.blocks.iter().position(holds).unwrap();
            let begin = sites.begin_of_lane(pixel, block, channel - sites.blocks[block].0);
            assert!(sites.block_begins_before(pixel, block, begin + 1), "{name}");
            let out = window.output_position(index);
            for level in 0..layer.datapath.levels.len() {
                let cycles = (0..layer.order.len()).map(|k| layer.timing.place(out, k, level).cycle);
                assert!(cycles.min().is_none_or(|cycle| begin <= cycle), "{name} level {level} {out:?}");
            }
        }
    }
}
