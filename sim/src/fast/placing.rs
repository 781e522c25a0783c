//! Determines the time and place of a tile's events.

use guardbit_hwmodels::Check;

use super::blocks::Reads;
use super::kernels::{
    Activations, ByteCells, CHOSEN, EXACT, LANES, LATCHED, Lanes, Mode, Rails, Row, SATURATE, Stepped, Trail,
    WRAP, with_mode,
};
use super::places::trace;
use super::simd::Kernels;
use super::tiles::{Job, Run, Tile};
use super::windows::{Windows, on_windows};
use super::{FastLayer, Image};
use crate::stats::LayerStats;

/// Pixels of a tile, ascending, and the result of stepping each.
type Pixels<'p> = (&'p [usize], &'p [Stepped]);

/// Events of single dot products that are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Events that may be listed.
    Listed,
    /// Event that may be the first of the layer.
    First,
}

impl Wanted {
    /// Returns the cycle from which on no event of `sample` is requested; `None` if all are.
    fn before(self, sample: usize, stats: &LayerStats) -> Option<u64> {
        match self {
            Self::Listed => stats.listed_before(sample),
            Self::First => stats.first_event_cycle,
        }
    }
}

impl Run<'_, '_> {
    /// Places the events of some pixels of a tile.
    pub fn place_all(&mut self, tile: &Tile<'_>, stepped: Pixels<'_>, windows: &mut Windows, job: Job<'_>) {
        let sites = &self.layer.sites;
        let logged = sites.are_logged(self.path.check, job.options);
        if logged {
            let places = &mut self.counts.places.of(sites.schedule());
            sites.count(self.layer.kernels, (tile.pixel, tile.index), stepped, &self.log, places);
        }
        let counts = job.options.places_all() && !logged;
        let wanted = if self.counts.stats.wants_events(job.sample) { Wanted::Listed } else { Wanted::First };
        let before = wanted.before(job.sample, &self.counts.stats);
        let Tile { block, image, corners, .. } = *tile;
        let ends = [tile.pixel, tile.pixel + corners.len() - 1];
        if !counts && !sites.some_begin_before(ends, tile.index, stepped.1, before) {
            return;
        }
        let bytes = |at: usize, first: usize| &image.bytes()[corners[at] + first..];
        let (offsets, origin) = (self.layer.geometry.offsets(), image.origin());
        match block.reads {
            Reads::Window(first) if has_bytes(image) => {
                let x = |at| ByteCells::<false>::new(bytes(at, first), offsets, origin);
                self.place_each(tile, stepped, x, (counts, wanted), job);
            }
            Reads::Neighbours(first) if has_bytes(image) => {
                let x = |at| ByteCells::<true>::new(bytes(at, first), offsets, origin);
                self.place_each(tile, stepped, x, (counts, wanted), job);
            }
            _ => {
                let read = windows.read((&self.layer.geometry, image), &block, tile.pixel, corners);
                on_windows!(read, x => self.place_each(tile, stepped, |at| x[at], (counts, wanted), job));
            }
        }
    }

    /// Finds the requested events of some pixels of a tile again, and counts the places of all if `counts`; `x`
    /// holds what is read at each.
    fn place_each<X: Activations>(
        &mut self,
        tile: &Tile<'_>,
        (pixels, stepped): Pixels<'_>,
        x: impl Fn(usize) -> X,
        (counts, wanted): (bool, Wanted),
        job: Job<'_>,
    ) {
        for (&at, stepped) in pixels.iter().zip(stepped) {
            if counts {
                self.count_places(tile, (at, stepped), x(at));
            }
            let before = wanted.before(job.sample, &self.counts.stats);
            let lanes = self.layer.sites.lanes_before((tile.pixel + at, tile.index), stepped, before);
            if let Some(lanes) = lanes {
                self.place(tile, (at, lanes), x(at), (wanted, before), job);
            }
        }
    }

    /// Counts the places of all events at one pixel of a tile: they are stepped once more, with a log of every
    /// addition.
    fn count_places<X: Activations>(&mut self, tile: &Tile<'_>, (at, stepped): (usize, &Stepped), x: X) {
        let Some(narrow) = self.path.register else { return };
        let FastLayer { sites, layer, .. } = self.layer;
        let (kernels, block) = (self.layer.kernels, &tile.block);
        let totals: [u64; LANES] = std::array::from_fn(|l| (stepped.high[l] + stepped.low[l]) as u64);
        let mut rows = vec![[0; LANES]; layer.order.len()];
        match (self.path.check, rows.last_mut()) {
            (Check::HandOver, Some(last)) => *last = totals.map(|events| events as i16),
            _ => with_mode!(
                narrow.rails.mode,
                log_steps::<X>(kernels, (x, block.rows()), &block.start, narrow.rails, &mut rows)
            ),
        }
        let first = (tile.pixel + at) * self.layer.channels + block.first;
        sites.count_rows(0, first, &rows, &totals[..block.count], kernels, &mut self.counts.stats);
    }

    /// Recomputes the requested events, those before a cycle, of some lanes at one pixel of a tile.
    fn place<X: Activations>(
        &mut self,
        tile: &Tile<'_>,
        (at, mut lanes): (usize, [bool; LANES]),
        x: X,
        (wanted, before): (Wanted, Option<u64>),
        job: Job<'_>,
    ) {
        let Some(narrow) = self.path.register else { return };
        let (sites, block) = (&self.layer.sites, tile.block);
        let pixel = tile.pixel + at;
        let stats = &mut self.counts.stats;
        if self.path.check == Check::EachAdd && (wanted == Wanted::First || before.is_some()) {
            // Only events before a certain product matter, so lanes without any are skipped.
            let site = (pixel, tile.index);
            let limit = |lane| if lanes[lane] { sites.steps_before(site, lane, before) as i32 } else { 0 };
            let limits: Lanes = std::array::from_fn(limit);
            let steps = limits.iter().max().map_or(0, |&steps| steps as usize);
            let mut first: Lanes = [0; LANES];
            let weights = &block.rows()[..steps];
            self.layer.kernels.first_outside(x, weights, &block.start, narrow.rails, &mut first);
            for (lane, wants) in lanes.iter_mut().enumerate() {
                *wants &= first[lane] < limits[lane];
            }
            if wanted == Wanted::First {
                let each = lanes.iter().zip(first).enumerate().filter(|(_, (wants, _))| **wants);
                let cycles = each.map(|(lane, (_, k))| sites.cycle(pixel, block.first + lane, k as usize));
                return cycles.for_each(|cycle| stats.note_first(cycle));
            }
        }
        let limit = if wanted == Wanted::First { 1 } else { usize::MAX };
        for lane in (0..block.count).filter(|&lane| lanes[lane]) {
            let steps = sites.steps_before((pixel, tile.index), lane, wanted.before(job.sample, stats));
            if steps == 0 {
                continue;
            }
            let rows = block.rows()[..steps].iter().enumerate();
            let products = rows.map(|(k, row)| i64::from(x.at(k, lane)) * i64::from(row[lane]));
            let mut events = Vec::new();
            match self.path.check {
                Check::EachAdd => {
                    trace::steps(&narrow, block.start[lane].into(), products, limit, &mut events)
                }
                Check::HandOver => {
                    let sum = tile.walked[at].sum[lane].into();
                    trace::hand_over(&narrow, sum, block.rows().len(), &mut events);
                }
            }
            let layer = self.layer.layer;
            let out = layer.dots.window.output_position(pixel * self.layer.channels + block.first + lane);
            stats.list_events(layer, job.sample, out, &events);
        }
    }
}

/// Steps a dot product and writes the overflows of every addition to `rows`.
fn log_steps<X: Activations, const MODE: u8>(
    kernels: Kernels,
    (x, weights): (X, &[Row]),
    start: &Lanes,
    rails: Rails,
    rows: &mut [Row],
) {
    let checkpoints: Vec<u32> = (1..=rows.len() as u32).collect();
    let mut log = vec![[0; LANES]; rows.len()];
    let trail = Trail { checkpoints: &checkpoints, log: &mut log };
    kernels.step_with_trail::<i32, X, MODE>(x, weights, start, rails, trail, &mut [Stepped::ZERO]);
    let mut before = [0; LANES];
    for (row, until) in rows.iter_mut().zip(log) {
        *row = std::array::from_fn(|l| (until[l] - before[l]) as i16);
        before = until;
    }
}

/// Returns whether the operands of an image can be derived from its bytes.
fn has_bytes(image: &Image<'_>) -> bool {
    !image.bytes().is_empty()
}
