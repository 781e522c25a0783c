//! Determines the time and place of a block's events.

use guardbit_graph::OutputPosition;

use super::super::image::Image;
use super::super::kernels::Lane;
use super::super::places::Events;
use super::scratch::Scratch;
use super::special::Picked;
use super::work::Work;
use super::{Course, LevelsLayer, Operands, Spot, Task};
use crate::dot::{DotEngine, DotOutcome};
use crate::reference::ReferenceEngine;

/// Recomputes single dot products to find their events.
pub(super) struct Walker {
    input: Vec<i32>,
    outcome: DotOutcome,
}

impl LevelsLayer<'_> {
    /// Places the events of a block at one pixel if that affects a result. Events that are listed, or
    /// that may be the first one, are recomputed.
    pub(super) fn place_block<V: Lane>(
        &self,
        course: &mut Course<'_, V>,
        scratch: &Scratch<V>,
        spot: Spot<'_>,
        image: &Image<'_>,
        task: &mut Task<'_, '_>,
    ) {
        let Spot { pixel, block: index, .. } = spot;
        let block = self.blocks.of(index);
        let first = pixel * self.layer.dots.window.channels() + block.first;
        if task.job.options.places_all() {
            self.place_all(scratch, index, first, task);
            return;
        }
        let is_first = |cycle| task.stats.would_be_first(cycle);
        let is_late = |cycle| !self.sites.block_begins_before(pixel, index, cycle);
        if task.stats.wants_events(task.job.sample) || task.stats.first_event_cycle.is_some_and(is_late) {
            return;
        }
        let mut touched = (0..block.count).filter(|&lane| scratch.touched(lane));
        if touched.any(|lane| is_first(self.sites.begin_of_lane(pixel, index, lane))) {
            self.find_first(course, spot, first, image, task);
        }
    }

    /// Lists the events of a block at one pixel, those of products and biases too: each is found again.
    pub(super) fn list_block<V: Lane>(&self, scratch: &Scratch<V>, spot: Spot<'_>, task: &mut Task<'_, '_>) {
        if !task.stats.wants_events(task.job.sample) {
            return;
        }
        for lane in 0..self.blocks.of(spot.block).count {
            let (touched, narrowed) = (scratch.touched(lane), scratch.narrowed(lane, &task.biased));
            if touched || narrowed {
                self.list(spot, lane, touched, narrowed, task);
            }
        }
    }

    /// Places and lists the events of a block at a pixel whose windows leave out padding, and finds what trapped
    /// there. Their ways are their own, so each is found again if it may matter.
    pub(super) fn place_short<V: Lane>(
        &self,
        scratch: &Scratch<V>,
        Spot { pixel, block: index, .. }: Spot<'_>,
        task: &mut Task<'_, '_>,
    ) {
        let block = self.blocks.of(index);
        let (layer, sample) = (task.layer, task.job.sample);
        let first = pixel * layer.dots.window.channels() + block.first;
        for lane in 0..block.count {
            let (touched, narrowed) = (scratch.touched(lane), scratch.narrowed(lane, &task.biased));
            if !touched && !narrowed {
                continue;
            }
            let out = layer.dots.window.output_position(first + lane);
            let earliest = self.sites.earliest_of_any(out);
            let events = task.job.options.stats.counts_events();
            let is_early = |before: Option<u64>| before.is_none_or(|before| earliest < before);
            let placed =
                touched && (task.job.options.places_all() || is_early(task.stats.listed_before(sample)));
            let listed = narrowed && is_early(task.stats.narrowings_listed_before(sample));
            if task.traps || events && (placed || listed) {
                let trap = task.walk(out).trap(layer, sample, out);
                task.trap = task.trap.into_iter().chain(trap).min();
            }
            let Some(Walker { outcome, .. }) = task.walker.as_ref().filter(|_| events) else { continue };
            if placed {
                task.stats.place_events(layer, sample, out, &outcome.events, task.job.options);
            }
            if listed {
                task.stats.list_narrowings(layer, sample, out, &outcome.narrowings);
            }
        }
    }

    /// Finds the first overflow of a register that traps among those of a block at one pixel.
    pub(super) fn trap_block<V: Lane>(
        &self,
        scratch: &Scratch<V>,
        Spot { pixel, block: index, .. }: Spot<'_>,
        task: &mut Task<'_, '_>,
    ) {
        let block = self.blocks.of(index);
        let first = pixel * self.layer.dots.window.channels() + block.first;
        for lane in 0..block.count {
            if !scratch.touched(lane) && !scratch.narrowed(lane, &task.biased) {
                continue;
            }
            let output = first + lane;
            let sites = &self.sites;
            let earliest = || sites.begin_of_lane(pixel, index, lane).min(sites.earliest_narrowing(output));
            if task.trap.is_none_or(|trap| earliest() <= trap.cycle) {
                let out = self.layer.dots.window.output_position(output);
                let (layer, sample) = (task.layer, task.job.sample);
                let trap = task.walk(out).trap(layer, sample, out);
                task.trap = task.trap.into_iter().chain(trap).min();
            }
        }
    }

    /// Places all events of block `index` whose first output is `first`.
    fn place_all<V: Lane>(&self, scratch: &Scratch<V>, index: usize, first: usize, task: &mut Task<'_, '_>) {
        for (level, (log, seen)) in scratch.logs.iter().zip(&scratch.levels).enumerate() {
            let totals = seen.counts.totals();
            let totals = &totals[..self.blocks.of(index).count];
            if totals.iter().all(|&total| total == 0) {
                continue;
            }
            let Task { stats, heat, .. } = task;
            match log.events() {
                Events::Rows(rows) => self.sites.count_rows(level, first, rows, totals, self.kernels, stats),
                Events::Bits(bits) => {
                    self.sites.count_bits((index, first), bits, totals, self.kernels, heat, stats);
                }
            }
        }
    }

    /// Records the first event of a block at one pixel, whose first output is `first`.
    fn find_first<V: Lane>(
        &self,
        course: &mut Course<'_, V>,
        spot: Spot<'_>,
        first: usize,
        image: &Image<'_>,
        task: &mut Task<'_, '_>,
    ) {
        let block = self.blocks.of(spot.block);
        let random = self.random(spot, task);
        let work = Work { full: true, ..self.work(course.plan, spot.block, random.as_ref(), task) };
        let Course { buffers, picked, again, .. } = course;
        if let Some(source) = self.wide(spot, image) {
            self.step_products(work, Picked { source, indices: picked }, again);
        } else {
            let operands = self.operands(block, image, spot.pixel, buffers);
            on_operands!(operands, x => self.step_block(work, spot, x, again));
        }
        for (level, (log, seen)) in again.logs.iter().zip(&again.levels).enumerate() {
            let totals = &seen.counts.totals()[..block.count];
            self.sites.note_first(level, first, log.events(), totals, task.stats);
        }
    }

    /// Lists the events of one dot product. `touched` says whether its levels have events, `narrowed` whether its
    /// products or bias have.
    fn list(
        &self,
        Spot { pixel, block, .. }: Spot<'_>,
        lane: usize,
        touched: bool,
        narrowed: bool,
        task: &mut Task<'_, '_>,
    ) {
        let (stats, sample) = (&task.stats, task.job.sample);
        let index = pixel * self.channels + self.blocks.of(block).first + lane;
        // The tables of earliest cycles are built at the first use: not before the list is full.
        let before = stats.listed_before(sample);
        let touched =
            touched && before.is_none_or(|cycle| self.sites.begin_of_lane(pixel, block, lane) < cycle);
        let before = stats.narrowings_listed_before(sample);
        let narrowed = narrowed && before.is_none_or(|cycle| self.sites.earliest_narrowing(index) < cycle);
        if !touched && !narrowed {
            return;
        }
        let out = task.layer.dots.window.output_position(index);
        task.walk(out);
        let (layer, Some(Walker { outcome, .. })) = (task.layer, &task.walker) else { return };
        task.stats.list_events(layer, task.job.sample, out, &outcome.events);
        task.stats.list_narrowings(layer, task.job.sample, out, &outcome.narrowings);
    }
}

impl Task<'_, '_> {
    /// Recomputes the dot product at `out` on the reference engine.
    fn walk(&mut self, out: OutputPosition) -> &DotOutcome {
        let new = || Walker { input: self.job.image.codes().to_vec(), outcome: DotOutcome::default() };
        let walker = self.walker.get_or_insert_with(new);
        let mut engine = ReferenceEngine::new(self.layer, walker.input.as_slice().into(), self.job.sample);
        engine.run(out, &mut walker.outcome);
        &walker.outcome
    }
}
