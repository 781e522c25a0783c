//! Counts the time and place of a layer's events without visiting events one by one.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::MacLayer;

use super::super::kernels::{LANES, Row, Vector, step_index};
use super::super::simd::{Kernels, Vectorized};
use super::bits::add_row;
use super::way::{self, Stay, Way, WayStep};
use super::{Bits, Events, Heat, Sites};
use crate::stats::{LayerStats, TIMELINE_BINS, timeline_bin};

impl Sites<'_> {
    /// Returns a lower bound of the cycle of any event of the dot product at `out`, whatever its products.
    pub fn earliest_of_any(&self, out: OutputPosition) -> u64 {
        let layer = self.layer;
        let terms = if self.keeps_order { 1 } else { layer.order.len() };
        let levels = 0..layer.datapath.levels.len();
        let places = (0..terms).flat_map(|k| levels.clone().map(move |level| (k, level)));
        places.map(|(k, level)| layer.timing.place(out, k, level).cycle).min().unwrap_or(0)
    }

    /// Counts the events of neighbouring dot products at one level, the first of which is that of output `first`.
    /// `totals` has one number per dot product.
    pub fn count_rows(
        &self,
        level: usize,
        first: usize,
        log: &[Row],
        totals: &[u64],
        kernels: Kernels,
        stats: &mut LayerStats,
    ) {
        if !self.keeps_order {
            for lane in (0..totals.len()).filter(|&lane| totals[lane] > 0) {
                self.count_each(level, first + lane, log.iter().map(|row| row[lane]), stats);
            }
            return;
        }
        let stays = &self.stays()[level][first..first + totals.len()];
        self.note_firsts(level, first, totals, stats, |lane| log.iter().position(|row| row[lane] != 0));
        if let Some((begins, first)) = self.together(stays) {
            if first.is_none() && count_in_place(stays, totals, stats) {
                return;
            }
            let (layer, steps) = (self.layer, &self.ways()[level].steps[..]);
            kernels.run(Together { layer, steps, begins, first, log, stats });
            return;
        }
        for (lane, (stay, &total)) in stays.iter().zip(totals).enumerate().filter(|(_, (_, t))| **t > 0) {
            self.count_one(level, first + lane, stay, (log, lane), total, stats);
        }
    }

    /// Counts events like [`Self::count_rows`] at the innermost level, given as bits of block `index`.
    pub fn count_bits(
        &self,
        (index, first): (usize, usize),
        bits: Bits<'_>,
        totals: &[u64],
        kernels: Kernels,
        heat: &mut Heat,
        stats: &mut LayerStats,
    ) {
        let stays = &self.stays()[0][first..first + totals.len()];
        let together = if self.keeps_order { self.together(stays) } else { None };
        let Some((begins, element)) = together else {
            bits.unfold(&mut heat.rows);
            return self.count_rows(0, first, &heat.rows, totals, kernels, stats);
        };
        self.note_firsts(0, first, totals, stats, |lane| bits.first(lane));
        let (layer, steps) = (self.layer, &self.ways()[0].steps[..]);
        match element {
            Some(element) => heat.add(kernels, (index, element), bits, steps, stats),
            None if count_in_place(stays, totals, stats) => return,
            None => {}
        }
        kernels.run(BitsInTime { layer, steps, begins, bits, timeline: &mut stats.timeline });
    }

    /// Adds all counts of the innermost level to the heat map.
    pub fn flush(&self, kernels: Kernels, heat: &mut Heat, stats: &mut LayerStats) {
        if !heat.is_empty() {
            heat.flush(kernels, &self.ways()[0].steps, stats);
        }
    }

    /// Records the first of these events, given as for [`Self::count_rows`], if it may be the first of all.
    pub fn note_first(
        &self,
        level: usize,
        first: usize,
        events: Events<'_>,
        totals: &[u64],
        stats: &mut LayerStats,
    ) {
        if self.keeps_order {
            return match events {
                Events::Rows(rows) => self.note_firsts(level, first, totals, stats, |lane| {
                    rows.iter().position(|row| row[lane] != 0)
                }),
                Events::Bits(bits) => self.note_firsts(level, first, totals, stats, |lane| bits.first(lane)),
            };
        }
        let mut unfolded = Vec::new();
        let rows = match events {
            Events::Rows(rows) => rows,
            Events::Bits(bits) => {
                bits.unfold(&mut unfolded);
                &unfolded
            }
        };
        for lane in (0..totals.len()).filter(|&lane| totals[lane] > 0) {
            let out = self.layer.dots.window.output_position(first + lane);
            let steps = self.ways()[level].steps.iter().zip(rows).filter(|(_, row)| row[lane] != 0);
            steps.for_each(|(step, _)| stats.note_first(self.layer.timing.place(out, step.k, level).cycle));
        }
    }

    /// Records the first event of each dot product that may be the first of all; `position` has the value of
    /// its lane.
    fn note_firsts(
        &self,
        level: usize,
        first: usize,
        totals: &[u64],
        stats: &mut LayerStats,
        position: impl Fn(usize) -> Option<usize>,
    ) {
        let stays = &self.stays()[level][first..first + totals.len()];
        for (lane, (stay, &total)) in stays.iter().zip(totals).enumerate() {
            if total > 0
                && stats.would_be_first(stay.cycles[0])
                && let Some(i) = position(lane)
            {
                let cycle = self.cycle_of(level, first + lane, stay, i);
                stats.note_first(cycle);
            }
        }
    }

    /// Returns the first cycle of each dot product, and the first processing element unless dot products stay in
    /// place; `None` if ways are irregular, or if moving ones do not begin in adjacent processing elements.
    fn together(&self, stays: &[Stay]) -> Option<([u64; LANES], Option<usize>)> {
        let in_place = self.layer.timing.stays_in_place();
        let element = stays[0].element;
        let together = |(stay, e): (&Stay, u32)| stay.is_regular && (in_place || stay.element == e);
        if !stays.iter().zip(element..).all(together) {
            return None;
        }
        let mut begins = [stays[0].cycles[0]; LANES];
        begins.iter_mut().zip(stays).for_each(|(begin, stay)| *begin = stay.cycles[0]);
        Some((begins, (!in_place).then_some(element as usize)))
    }

    /// Counts the events of one dot product: those of lane `lane` of `log`, `total` in sum.
    fn count_one(
        &self,
        level: usize,
        index: usize,
        stay: &Stay,
        (log, lane): (&[Row], usize),
        total: u64,
        stats: &mut LayerStats,
    ) {
        let layer = self.layer;
        let stays_in_place = layer.timing.stays_in_place();
        if stays_in_place {
            stats.heat_map[stay.element as usize] += total;
        }
        let in_one_bin = stay.bins[0] == stay.bins[1];
        if in_one_bin {
            stats.timeline[usize::from(stay.bins[0])] += total;
        }
        if in_one_bin && stays_in_place {
            return;
        }
        let mut bin = usize::from(stay.bins[0]);
        let mut turn = turn(layer, bin);
        for (i, row) in log.iter().enumerate().filter(|(_, row)| row[lane] != 0) {
            let events = row[lane] as u64;
            if !in_one_bin {
                let cycle = self.cycle_of(level, index, stay, i);
                if cycle >= turn {
                    bin = timeline_bin(layer, cycle);
                    turn = self::turn(layer, bin);
                }
                stats.timeline[bin] += events;
            }
            if !stays_in_place {
                stats.heat_map[self.element(level, index, stay, i)] += events;
            }
        }
    }

    /// Counts the events of one dot product, value by value, in any order of time.
    fn count_each(
        &self,
        level: usize,
        index: usize,
        events: impl Iterator<Item = i16>,
        stats: &mut LayerStats,
    ) {
        let out = self.layer.dots.window.output_position(index);
        for (step, events) in self.ways()[level].steps.iter().zip(events).filter(|(_, events)| *events != 0) {
            let place = self.layer.timing.place(out, step.k, level);
            stats.note_first(place.cycle);
            stats.timeline[timeline_bin(self.layer, place.cycle)] += events as u64;
            stats.heat_map[place.row * self.layer.timing.array.cols + place.col] += events as u64;
        }
    }

    /// Returns the cycle at which value `i` is added.
    fn cycle_of(&self, level: usize, index: usize, stay: &Stay, i: usize) -> u64 {
        let step = &self.ways()[level].steps[i];
        if stay.is_regular {
            return stay.cycles[0] + step.cycles;
        }
        self.layer.timing.place(self.layer.dots.window.output_position(index), step.k, level).cycle
    }

    /// Returns the processing element that adds value `i`.
    fn element(&self, level: usize, index: usize, stay: &Stay, i: usize) -> usize {
        let step = &self.ways()[level].steps[i];
        if stay.is_regular {
            return (stay.element as usize).wrapping_add(step.elements);
        }
        let place = self.layer.timing.place(self.layer.dots.window.output_position(index), step.k, level);
        place.row * self.layer.timing.array.cols + place.col
    }

    pub(super) fn ways(&self) -> &[Way] {
        self.ways.get_or_init(|| way::ways(self.layer))
    }

    fn stays(&self) -> &[Vec<Stay>] {
        self.stays.get_or_init(|| {
            let levels = self.ways().iter().enumerate();
            levels.map(|(level, way)| way::stays(self.layer, level, way)).collect()
        })
    }
}

/// Counts events of dot products that stay in place. Returns whether that is all: none enters another
/// interval.
fn count_in_place(stays: &[Stay], totals: &[u64], stats: &mut LayerStats) -> bool {
    for (stay, total) in stays.iter().zip(totals) {
        stats.heat_map[stay.element as usize] += total;
    }
    let bin = stays[0].bins[0];
    let in_one_bin = stays.iter().all(|stay| stay.bins == [bin; 2]);
    if in_one_bin {
        stats.timeline[usize::from(bin)] += totals.iter().sum::<u64>();
    }
    in_one_bin
}

/// Dot products that take equal ways at equal or similar times.
struct Together<'a> {
    layer: &'a MacLayer,
    steps: &'a [WayStep],
    /// First cycle per lane.
    begins: [u64; LANES],
    /// First processing element of the first lane, if each dot product moves next to the one before.
    first: Option<usize>,
    log: &'a [Row],
    stats: &'a mut LayerStats,
}

impl Vectorized for Together<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { layer, steps, begins, first, log, stats } = self;
        let (mut least, mut greatest) = (begins[0], begins[0]);
        for begin in begins {
            (least, greatest) = (least.min(begin), greatest.max(begin));
        }
        if let Some(first) = first {
            for (step, row) in steps.iter().zip(log) {
                add_row(&mut stats.heat_map[first.wrapping_add(step.elements)..], row);
            }
        }
        let (mut steps, mut rows) = (&steps[..log.len()], log);
        while let (Some(step), Some(row)) = (steps.first(), rows.first()) {
            let bin = timeline_bin(layer, least + step.cycles);
            let end = turn(layer, bin);
            // Additions of all lanes in one interval of the time.
            let count = steps.partition_point(|step| greatest + step.cycles < end);
            stats.timeline[bin] += sum_of_rows(&rows[..count]);
            if count == 0 {
                for (&events, begin) in row.iter().zip(begins) {
                    stats.timeline[timeline_bin(layer, begin + step.cycles)] += events as u64;
                }
            }
            (steps, rows) = (&steps[count.max(1)..], &rows[count.max(1)..]);
        }
    }
}

/// Returns the sum of all numbers, none of which is negative.
#[inline(always)]
fn sum_of_rows(rows: &[Row]) -> u64 {
    let mut sums = Vector::<i32>::ZERO;
    for i in 0..rows.len() {
        let row = &rows[step_index(i)];
        for l in 0..LANES {
            sums[l] += i32::from(row[l]);
        }
    }
    sums.iter().map(|&sum| sum as u64).sum()
}

/// Events of dot products by interval of the time, for dot products with equal ways.
struct BitsInTime<'a> {
    layer: &'a MacLayer,
    steps: &'a [WayStep],
    /// First cycle per lane.
    begins: [u64; LANES],
    bits: Bits<'a>,
    timeline: &'a mut [u64],
}

impl Vectorized for BitsInTime<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { layer, steps, begins, bits, timeline } = self;
        let (mut least, mut greatest) = (begins[0], begins[0]);
        for begin in begins {
            (least, greatest) = (least.min(begin), greatest.max(begin));
        }
        let (mut bin, mut end) = (0, 0);
        // Number of events since the interval began, lane by lane.
        let mut sums = [0i32; LANES];
        for (products, row) in bits.parts() {
            let steps = &steps[products];
            let (from, to) = (steps[0].cycles, steps[steps.len() - 1].cycles);
            if greatest + to >= end {
                timeline[bin] += sums.iter().map(|&sum| sum as u64).sum::<u64>();
                sums = [0; LANES];
                bin = timeline_bin(layer, least + from);
                end = turn(layer, bin);
            }
            if greatest + to >= end && greatest + to >= turn(layer, bin + 1) {
                for (bit, step) in (0..steps.len()).rev().zip(steps) {
                    for (&noted, begin) in row.iter().zip(begins) {
                        timeline[timeline_bin(layer, begin + step.cycles)] += (noted >> bit & 1) as u64;
                    }
                }
                continue;
            }
            for l in 0..LANES {
                sums[l] += row[l].count_ones() as i32;
            }
            if greatest + to >= end {
                // Number of events from then on.
                let mut later = [0; LANES];
                for bit in 0..steps.len() {
                    let cycles = steps[steps.len() - 1 - step_index(bit)].cycles;
                    for l in 0..LANES {
                        let is_later = i32::from(begins[l] + cycles >= end);
                        later[l] += i32::from(row[l] >> bit) & is_later;
                    }
                }
                for l in 0..LANES {
                    timeline[bin] += (sums[l] - later[l]) as u64;
                    timeline[bin + 1] += later[l] as u64;
                }
                // Some lanes may still be in this interval.
                sums = [0; LANES];
            }
        }
        timeline[bin] += sums.iter().map(|&sum| sum as u64).sum::<u64>();
    }
}

/// Returns the first cycle in a later interval of the layer's time than `bin`.
fn turn(layer: &MacLayer, bin: usize) -> u64 {
    match bin + 1 {
        TIMELINE_BINS => u64::MAX,
        next => (next as u64 * layer.timing.cycles.max(1)).div_ceil(TIMELINE_BINS as u64),
    }
}
