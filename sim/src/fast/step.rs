//! Computes the final values of the narrow register for the dot products of a tile.

use guardbit_hwmodels::Check;
use guardbit_num::{Beyond, Direction};

use super::FastLayer;
use super::blocks::Reads;
use super::kernels::{
    CHOSEN, EXACT, LATCHED, Lane, Lanes, Mode, Rails, SATURATE, Stepped, TILE, Trail, WRAP, Walked, with_mode,
};
use super::pairs::{ListCells, PairBytes, PairOfWindows, PairStepping, PairWeights, PairWindows, StepList};
use super::places::log::Log;
use super::places::schedule::Turn;
use super::prepare::Narrow;
use super::simd::{ShortMode, VectorActivations};
use super::singles::{SingleStepping, SingleWeights};
use super::tiles::Tile;
use super::windows::{Read, Windows, on_windows};

/// Slot for results that are not requested, after those of a tile.
const UNUSED: usize = TILE;

/// Information that is recorded about overflows.
pub(super) enum Noted<'l> {
    /// None; only the final value matters.
    Nothing,
    /// Number of overflows.
    Counts,
    /// Number of overflows, and their numbers up to every turn of each pixel.
    Log(&'l mut Log),
}

/// Runs some pixels of a tile on a narrow register.
pub(super) struct Stepping<'s, 'a> {
    pub layer: &'s FastLayer<'a>,
    pub check: Check,
    pub narrow: &'s Narrow,
    pub tile: &'s Tile<'s>,
    /// Pixels of the tile, ascending.
    pub pixels: &'s [usize],
}

impl Stepping<'_, '_> {
    /// Runs the register. The first entries of `all` receive the results of the pixels.
    pub fn run(&self, mut noted: Noted<'_>, windows: &mut Windows, all: &mut [Stepped; TILE + 1]) {
        let counts = !matches!(noted, Noted::Nothing);
        let clamps = matches!(self.narrow.overflow.beyond(), Beyond::Rail);
        if self.check == Check::EachAdd
            && match noted {
                Noted::Counts => self.step_short::<true>(None, windows, all),
                Noted::Nothing => clamps && self.step_short::<false>(None, windows, all),
                Noted::Log(ref mut log) => self.step_short::<true>(Some(log), windows, all),
            }
        {
            return;
        }
        let out = &mut all[..self.pixels.len()];
        match (self.check, noted) {
            (Check::HandOver, _) => self.each(out, hand_over),
            (Check::EachAdd, Noted::Counts) => self.step(None, windows, out),
            (Check::EachAdd, Noted::Log(log)) => self.step(Some(log), windows, out),
            (Check::EachAdd, Noted::Nothing) => self.run_uncounted(windows, out),
        }
        if !counts {
            out.iter_mut().for_each(|out| (out.high, out.low) = Default::default());
        }
    }

    /// Derives the final value from the exact sum, if nothing is clamped on the way.
    fn run_uncounted(&self, windows: &mut Windows, out: &mut [Stepped]) {
        let narrow = self.narrow;
        let (kernels, block) = (self.layer.kernels, self.tile.block);
        match narrow.overflow.beyond() {
            Beyond::Wrapped => self.each(out, wrap),
            Beyond::Exact => self.each(out, |_, &value| Stepped { value, ..Stepped::ZERO }),
            Beyond::Rail => {
                on_windows!(self.read(windows), x => {
                    let x = &self.chosen(&x)[..self.pixels.len()];
                    match narrow.sixteen {
                        Some(rails) => kernels.clamp(x, block.rows(), &block.start, rails, out),
                        None => kernels.clamp(x, block.rows(), &block.start, narrow.rails, out),
                    }
                });
            }
            Beyond::Chosen { .. } | Beyond::Latched => self.step(None, windows, out),
        }
    }

    /// Computes results from the exact sum of each pixel.
    fn each(&self, out: &mut [Stepped], held: impl Fn(&Narrow, &Lanes) -> Stepped) {
        for (&at, out) in self.pixels.iter().zip(out) {
            let Walked { sum, .. } = &self.tile.walked[at];
            *out = held(self.narrow, sum);
        }
    }

    fn read<'w>(&'w self, windows: &'w mut Windows) -> Read<'w> {
        let Tile { block, pixel, corners, image, .. } = *self.tile;
        windows.read((&self.layer.geometry, image), &block, pixel, corners)
    }

    /// Returns the windows of the pixels that are stepped.
    fn chosen<X: Copy>(&self, x: &[X; TILE]) -> [X; TILE] {
        let mut chosen = [x[0]; TILE];
        chosen.iter_mut().zip(self.pixels).for_each(|(chosen, &at)| *chosen = x[at]);
        chosen
    }

    /// Steps on lanes of 16 bits with specialized kernels. Returns whether that was possible.
    fn step_short<const COUNT: bool>(
        &self,
        log: Option<&mut Log>,
        windows: &mut Windows,
        out: &mut [Stepped; TILE + 1],
    ) -> bool {
        let Some(mode) = self.narrow.short else { return false };
        let block = self.tile.block;
        if let Some(weights) = block.doubled(self.layer.kernels, self.layer.layout.as_ref()) {
            self.step_pairs::<COUNT>(mode, weights, log, windows, out);
            return true;
        }
        let singles = (!self.plain_is_faster(mode)).then(|| block.singles()).flatten();
        if let Some(weights) = singles {
            self.step_singles::<COUNT>(mode, weights, log, out);
        }
        singles.is_some()
    }

    /// Returns whether the kernels for any register are faster than those for single windows: marks of both
    /// signs are slower.
    fn plain_is_faster(&self, mode: ShortMode) -> bool {
        let negative = self.layer.geometry.has_negative_operands();
        self.narrow.sixteen.is_some() && negative && mode == ShortMode::Saturate
    }

    /// Steps one window per vector.
    fn step_singles<const COUNT: bool>(
        &self,
        mode: ShortMode,
        weights: &SingleWeights,
        log: Option<&mut Log>,
        out: &mut [Stepped],
    ) {
        let Self { layer, narrow, tile, pixels, .. } = self;
        let stepping = SingleStepping {
            weights,
            start: &tile.block.start,
            rails: narrow.rails,
            negative: layer.geometry.has_negative_operands(),
            cells: tile.image.operands(),
            offsets: &layer.cells,
            own: matches!(tile.block.reads, Reads::Neighbours(_)),
        };
        let mut corners = [0; TILE];
        let corners = &mut corners[..pixels.len()];
        for (corner, &at) in corners.iter_mut().zip(*pixels) {
            *corner = tile.corners[at] + tile.block.reads.first();
        }
        match log {
            None => layer.kernels.step_singles::<COUNT>(mode, &stepping, corners, &mut out[..pixels.len()]),
            Some(log) => self.trace_singles(mode, &stepping, corners, log, out),
        }
    }

    /// Steps one window per vector, with a log.
    fn trace_singles(
        &self,
        mode: ShortMode,
        stepping: &SingleStepping<'_>,
        corners: &[usize],
        log: &mut Log,
        out: &mut [Stepped],
    ) {
        let Self { layer, tile, pixels, .. } = self;
        log.clear();
        let mut first = 0;
        while first < corners.len() {
            let count = match corners.len() - first {
                4.. => 4,
                2.. => 2,
                _ => 1,
            };
            let (corners, out) = (&corners[first..][..count], &mut out[first..][..count]);
            layer.kernels.trace_singles(mode, stepping, corners, log.traces(), out);
            for (window, stepped) in out.iter().enumerate() {
                let slot = first + window;
                let site = layer.sites.site(tile.pixel + pixels[slot], tile.index);
                log.take_trace(slot, window, layer.sites.schedule().turns(site), stepped);
            }
            first += count;
        }
    }

    /// Steps two windows per vector.
    fn step_pairs<const COUNT: bool>(
        &self,
        mode: ShortMode,
        weights: &PairWeights,
        log: Option<&mut Log>,
        windows: &mut Windows,
        out: &mut [Stepped; TILE + 1],
    ) {
        let Self { layer, narrow, tile, .. } = self;
        let stepping = PairStepping {
            weights,
            start: &tile.block.start,
            rails: narrow.rails,
            negative: layer.geometry.has_negative_operands(),
        };
        let mut slots = [[0; 2]; TILE];
        let slots = self.pair_up(&mut slots);
        match tile.block.reads {
            Reads::Neighbours(_) => {
                let mut pairs = [PairOfWindows { source: [0; 2], slots: [UNUSED; 2] }; TILE];
                let windows = self.own_windows(slots, &mut pairs);
                self.run_pairs::<COUNT>(mode, &stepping, windows, log, out);
            }
            _ => {
                let lists = self.lists(slots, log.is_some(), windows);
                let mut pairs = [PairOfWindows { source: &lists[0], slots: [UNUSED; 2] }; TILE];
                for (pair, slots) in pairs.iter_mut().zip(slots) {
                    *pair = PairOfWindows { source: &lists[self.pixels[slots[0]]], slots: *slots };
                }
                let windows = PairWindows::Shared(&pairs[..slots.len()]);
                self.run_pairs::<COUNT>(mode, &stepping, windows, log, out);
            }
        }
    }

    /// Returns the windows at `slots` whose lanes read cells of their own.
    fn own_windows<'w>(
        &'w self,
        slots: &[[usize; 2]],
        pairs: &'w mut [PairOfWindows<[usize; 2]>; TILE],
    ) -> PairWindows<'w> {
        let Self { layer, tile, .. } = self;
        for (pair, &slots) in pairs.iter_mut().zip(slots) {
            // The values read for a missing second window do not matter.
            let first = tile.corners[self.pixels[slots[0]]];
            let second = self.pixels.get(slots[1]).map_or(first, |&at| tile.corners[at]);
            let source = [first, second].map(|corner| corner + tile.block.reads.first());
            *pair = PairOfWindows { source, slots };
        }
        let bytes = PairBytes {
            bytes: tile.image.bytes(),
            offsets: layer.cells.all(),
            reach: layer.cells.reach(),
            origin: tile.image.origin(),
        };
        PairWindows::Own(bytes, &pairs[..slots.len()])
    }

    /// Returns the products that are stepped for the windows at `slots`, by their first pixels; with ranks if
    /// `logged`.
    fn lists<'w>(
        &self,
        slots: &[[usize; 2]],
        logged: bool,
        windows: &'w mut Windows,
    ) -> &'w [StepList; TILE] {
        let Self { layer, tile, .. } = self;
        let first = tile.block.reads.first();
        let pixels = slots.iter().map(|slots| self.pixels[slots[0]]);
        let runs = layer.geometry.runs();
        windows.lists((tile.pixel, first), pixels, |at, list| {
            let cells = self.list_cells(tile.corners[at] + first);
            match logged {
                true => layer.kernels.list_steps::<true>(cells, runs, list),
                false => layer.kernels.list_steps::<false>(cells, runs, list),
            }
        })
    }

    /// Returns the activations of the window at `corner` and of the next one.
    fn list_cells(&self, corner: usize) -> ListCells<'_> {
        let Tile { image, .. } = self.tile;
        let geometry = &self.layer.geometry;
        // Windows of adjacent cells do not share cells, so a layout in pairs would only be read once.
        if geometry.runs().len() > 1 {
            return ListCells::Pairs(&image.pairs(self.layer.kernels)[corner..]);
        }
        let first = &image.bytes()[corner..];
        // The values read for a missing second window do not matter.
        let second = image.bytes().get(corner + image.pair_distance()..);
        let second = second.filter(|bytes| bytes.len() > geometry.reach()).unwrap_or(first);
        ListCells::Bytes { windows: [first, second], origin: image.origin() }
    }

    /// Returns the slots of windows that form pairs: adjacent windows that are both stepped, then the
    /// remaining ones.
    fn pair_up<'p>(&self, pairs: &'p mut [[usize; 2]; TILE]) -> &'p [[usize; 2]] {
        let Self { tile, pixels, .. } = self;
        let distance = tile.image.pair_distance();
        let (mut count, mut slot) = (0, 0);
        while slot < pixels.len() {
            let neighbour = tile.corners[pixels[slot]] + distance;
            let next = pixels.get(slot + 1).is_some_and(|&next| tile.corners[next] == neighbour);
            pairs[count] = [slot, if next { slot + 1 } else { UNUSED }];
            slot += 1 + usize::from(next);
            count += 1;
        }
        &pairs[..count]
    }

    /// Steps `windows`, with a log if there is one.
    fn run_pairs<const COUNT: bool>(
        &self,
        mode: ShortMode,
        stepping: &PairStepping<'_>,
        windows: PairWindows<'_>,
        log: Option<&mut Log>,
        out: &mut [Stepped; TILE + 1],
    ) {
        let Some(log) = log else {
            return self.layer.kernels.step_pairs::<COUNT>(mode, stepping, windows, out);
        };
        log.clear();
        let mut turns: [&[Turn]; TILE + 1] = [&[]; TILE + 1];
        let sites = &self.layer.sites;
        let schedule = sites.schedule();
        for (slot, (turns, &at)) in turns.iter_mut().zip(self.pixels).enumerate() {
            *turns = schedule.turns(sites.site(self.tile.pixel + at, self.tile.index));
            log.open(slot, turns.len());
        }
        self.layer.kernels.step_pairs_logged(mode, stepping, windows, &turns, log, out);
    }

    /// Steps and counts addition by addition.
    fn step(&self, log: Option<&mut Log>, windows: &mut Windows, out: &mut [Stepped]) {
        on_windows!(self.read(windows), x => self.step_windows(&self.chosen(&x)[..self.pixels.len()], log, out));
    }

    fn step_windows<X: VectorActivations>(&self, x: &[X], log: Option<&mut Log>, out: &mut [Stepped]) {
        match self.narrow.sixteen {
            Some(rails) => self.step_on(rails, x, log, out),
            None => self.step_on(self.narrow.rails, x, log, out),
        }
    }

    fn step_on<V: Lane, X: VectorActivations>(
        &self,
        rails: Rails<V>,
        x: &[X],
        log: Option<&mut Log>,
        out: &mut [Stepped],
    ) {
        with_mode!(rails.mode, step_by::<V, X>(self, rails, x, log, out));
    }

    /// Steps pixel after pixel, each with a trail, and logs the recorded overflows.
    fn log_each(
        &self,
        log: &mut Log,
        out: &mut [Stepped],
        mut step: impl FnMut(usize, Trail<'_>, &mut [Stepped; 1]),
    ) {
        let Self { layer, tile, pixels, .. } = self;
        log.clear();
        let schedule = layer.sites.schedule();
        for (slot, (&at, out)) in pixels.iter().zip(out.as_chunks_mut::<1>().0).enumerate() {
            let site = layer.sites.site(tile.pixel + at, tile.index);
            let (turns, checkpoints) = (schedule.turns(site), schedule.checkpoints(site));
            log.open(slot, turns.len());
            let trail = Trail { checkpoints, log: log.notes(checkpoints.len()) };
            step(slot, trail, out);
            log.take_notes(slot, (turns, schedule.entries(site)), &out[0]);
        }
    }
}

/// Steps `x` on the narrow register `rails`, whose mode is `MODE`.
fn step_by<V: Lane, X: VectorActivations, const MODE: u8>(
    stepping: &Stepping<'_, '_>,
    rails: Rails<V>,
    x: &[X],
    log: Option<&mut Log>,
    out: &mut [Stepped],
) {
    let Stepping { layer, tile, .. } = stepping;
    let (kernels, weights, start) = (layer.kernels, tile.block.rows(), &tile.block.start);
    match log {
        None => kernels.step::<V, X, MODE>(x, weights, start, rails, out),
        Some(log) => stepping.log_each(log, out, |slot, trail, out| {
            kernels.step_with_trail::<V, X, MODE>(x[slot], weights, start, rails, trail, out);
        }),
    }
}

/// Fits each dot product once, when the result leaves the level.
fn hand_over(narrow: &Narrow, sums: &Lanes) -> Stepped {
    let mut stepped = Stepped { value: *sums, ..Stepped::ZERO };
    for (lane, &sum) in sums.iter().enumerate() {
        let fit = narrow.overflow.fit(sum.into(), narrow.format);
        stepped.value[lane] = fit.value as i32;
        match fit.overflow {
            Some(Direction::High) => stepped.high[lane] = 1,
            Some(Direction::Low) => stepped.low[lane] = 1,
            None => {}
        }
    }
    stepped
}

/// Keeps the low bits of the exact sum, which equal those of the wrapped sum.
fn wrap(narrow: &Narrow, sums: &Lanes) -> Stepped {
    Stepped { value: sums.map(|sum| narrow.rails.wrap(sum)), ..Stepped::ZERO }
}
