//! Assigns events of dot products that stay in place to intervals of the layer's time and to processing
//! elements.

use std::collections::HashMap;
use std::ops::Range;

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::MacLayer;

use super::super::kernels::{Aligned, LANES, Lanes, Stepped};
use super::traces::NEVER;
use crate::stats::{LayerStats, TIMELINE_BINS, timeline_bin};

/// One turn of the dot products of one block at one pixel: the point at which each enters another interval of
/// the layer's time, for the first time, for the second time, and so on.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    /// Product before which each lane turns, or [`NEVER`].
    pub at: [i16; LANES],
    /// Least and greatest of those products.
    pub between: (u16, u16),
    /// Interval that each lane enters.
    pub parts: [u8; LANES],
    /// Whether all lanes enter one interval.
    pub together: bool,
}

/// Dot products of every block at every pixel. All of `sites` is read for every sample, so rarely used data
/// is stored separately.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    /// `[pixel][block]`
    sites: Vec<Site>,
    turns: Vec<Turn>,
    elements: Vec<Elements>,
    /// Checkpoints of each site.
    checkpoints: Vec<Range<usize>>,
    products: Vec<u32>,
    /// Entries of each turn.
    entries: Vec<Entries>,
}

/// Index of each lane's turn among the checkpoints of its site.
pub(crate) type Entries = [u16; LANES];

/// Time and place of the dot products of one block at one pixel.
#[derive(Debug)]
pub(crate) struct Site {
    /// Index of the processing elements that compute them.
    pub elements: u32,
    /// Interval of the layer's time in which each begins.
    pub begin: [u8; LANES],
    /// Whether all lanes begin in one interval.
    pub together: bool,
    turns: (u32, u32),
}

/// Processing element of each lane, counted row by row; arbitrary for lanes without a dot product.
pub(crate) type Elements = [u32; LANES];

/// Event counters by place, lane by lane.
pub(crate) struct Places<'p> {
    /// Counters by interval of the layer's time.
    pub timeline: &'p mut [Aligned<Lanes>],
    /// Counters by [`Schedule::elements`].
    pub elements: &'p mut [Aligned<Lanes>],
}

/// Events by place, lane by lane, that are not yet in the statistics; empty if none were counted.
#[derive(Debug, Default)]
pub(crate) struct PlaceCounters {
    timeline: Vec<Aligned<Lanes>>,
    elements: Vec<Aligned<Lanes>>,
}

impl PlaceCounters {
    /// Returns the counters for events of sites in `schedule`.
    pub fn of(&mut self, schedule: &Schedule) -> Places<'_> {
        let Self { timeline, elements } = self;
        timeline.resize(TIMELINE_BINS, Aligned([0; LANES]));
        elements.resize(schedule.elements().len(), Aligned([0; LANES]));
        Places { timeline, elements }
    }

    /// Moves the events to `stats`, for sites in the schedule.
    pub fn flush<'s>(&mut self, schedule: impl FnOnce() -> &'s Schedule, stats: &mut LayerStats) {
        let Self { timeline, elements } = std::mem::take(self);
        if timeline.is_empty() {
            return;
        }
        for (all, lanes) in stats.timeline.iter_mut().zip(&timeline) {
            *all += lanes.iter().map(|&events| events as u64).sum::<u64>();
        }
        for (lanes, elements) in elements.iter().zip(schedule().elements()) {
            for (&events, &element) in lanes.iter().zip(elements) {
                stats.heat_map[element as usize] += events as u64;
            }
        }
    }
}

impl Schedule {
    /// Creates the schedule for `blocks`, which holds first channel and number of channels of each block.
    pub fn new(layer: &MacLayer, blocks: &[(usize, usize)]) -> Self {
        let channels = layer.dots.window.channels();
        let mut schedule = Self::default();
        let mut known = HashMap::new();
        for pixel in 0..layer.dots.window.dots() / channels.max(1) {
            for &(first, count) in blocks {
                schedule.push(layer, pixel * channels + first, count, &mut known);
            }
        }
        schedule
    }

    /// Returns the turns of the dot products of site `site`.
    pub fn turns(&self, site: usize) -> &[Turn] {
        &self.turns[self.sites[site].turns()]
    }

    /// Returns the checkpoints of the turns of site `site`.
    pub fn entries(&self, site: usize) -> &[Entries] {
        &self.entries[self.sites[site].turns()]
    }

    /// Returns the products before which some dot product of site `site` turns.
    pub fn checkpoints(&self, site: usize) -> &[u32] {
        &self.products[self.checkpoints[site].clone()]
    }

    /// Returns time and place of the dot products of site `site`.
    pub fn site(&self, site: usize) -> &Site {
        &self.sites[site]
    }

    /// Returns the distinct rows of processing elements of sites.
    pub fn elements(&self) -> &[Elements] {
        &self.elements
    }

    /// Counts the events of site `site`; `log` holds the numbers of events up to every turn.
    #[inline(always)]
    pub fn count(&self, site: usize, stepped: &Stepped, log: &[Aligned<Lanes>], places: &mut Places<'_>) {
        let total: Lanes = std::array::from_fn(|l| stepped.high[l] + stepped.low[l]);
        if total.iter().fold(0, |all, events| all | events) == 0 {
            return;
        }
        let (turns, site) = (self.turns(site), &self.sites[site]);
        let mut before = [0; LANES];
        let (mut bins, mut together) = (&site.begin, site.together);
        for (turn, until) in turns.iter().zip(log) {
            count_part(places.timeline, bins, together, &before, until);
            before = **until;
            (bins, together) = (&turn.parts, turn.together);
        }
        count_part(places.timeline, bins, together, &before, &total);
        add(&mut places.elements[site.elements as usize], total);
    }

    /// Adds the dot products of a block at a pixel: `count` from output `first` on. `known` holds the indices
    /// of [`Self::elements`].
    fn push(&mut self, layer: &MacLayer, first: usize, count: usize, known: &mut HashMap<Elements, u32>) {
        let mut of_lane: [Vec<(usize, u8)>; LANES] = Default::default();
        let (mut elements, mut begin) = ([0; LANES], [0; LANES]);
        let mut checkpoints = Vec::new();
        for lane in 0..count {
            let out = layer.dots.window.output_position(first + lane);
            let place = layer.timing.place(out, 0, 0);
            elements[lane] = (place.row * layer.timing.array.cols + place.col) as u32;
            begin[lane] = timeline_bin(layer, place.cycle) as u8;
            of_lane[lane] = turns(layer, out);
            checkpoints.extend(of_lane[lane].iter().map(|&(k, _)| k as u32));
        }
        checkpoints.sort_unstable();
        checkpoints.dedup();
        let most = of_lane.iter().map(Vec::len).max().unwrap_or(0);
        let turns_from = self.turns.len();
        for index in 0..most {
            let mut turn = Turn { at: [NEVER; LANES], between: (u16::MAX, 0), parts: begin, together: true };
            let mut entries = [0; LANES];
            for (lane, turns) in of_lane.iter().enumerate().take(count) {
                match turns.get(index) {
                    Some(&(k, part)) => {
                        turn.at[lane] = k as i16;
                        turn.between = (turn.between.0.min(k as u16), turn.between.1.max(k as u16));
                        turn.parts[lane] = part;
                        // There are fewer checkpoints than lanes times intervals of a layer's time.
                        entries[lane] = checkpoints.partition_point(|&step| (step as usize) < k) as u16;
                    }
                    // An interval that is not entered has no events, so any index will do.
                    None => turn.parts[lane] = turns.last().map_or(begin[lane], |&(_, part)| part),
                }
            }
            turn.together = is_same(&turn.parts[..count]);
            self.turns.push(turn);
            self.entries.push(entries);
        }
        let elements = *known.entry(elements).or_insert_with(|| {
            self.elements.push(elements);
            self.elements.len() as u32 - 1
        });
        let together = is_same(&begin[..count]);
        let turns = (turns_from as u32, self.turns.len() as u32);
        self.sites.push(Site { elements, begin, together, turns });
        let products = self.products.len();
        self.products.extend(checkpoints);
        self.checkpoints.push(products..self.products.len());
    }
}

impl Site {
    fn turns(&self) -> Range<usize> {
        self.turns.0 as usize..self.turns.1 as usize
    }
}

/// Counts the events between two turns, `until` minus `before`, in the intervals that the lanes are in. With
/// `together`, all lanes are in one interval. Lanes without a dot product have no events.
#[inline(always)]
fn count_part(
    timeline: &mut [Aligned<Lanes>],
    parts: &[u8; LANES],
    together: bool,
    before: &Lanes,
    until: &Lanes,
) {
    let events: Lanes = std::array::from_fn(|l| until[l] - before[l]);
    if together {
        add(&mut timeline[usize::from(parts[0])], events);
    } else {
        for (lane, events) in events.into_iter().enumerate() {
            timeline[usize::from(parts[lane])][lane] += events;
        }
    }
}

#[inline(always)]
fn add(all: &mut Lanes, events: Lanes) {
    all.iter_mut().zip(events).for_each(|(all, events)| *all += events);
}

fn is_same(parts: &[u8]) -> bool {
    parts.windows(2).all(|pair| pair[0] == pair[1])
}

/// Returns the products before which a dot product enters another interval of the layer's time, and those
/// intervals.
fn turns(layer: &MacLayer, out: OutputPosition) -> Vec<(usize, u8)> {
    let bin = |k| timeline_bin(layer, layer.timing.place(out, k, 0).cycle) as u8;
    let last = layer.order.len().saturating_sub(1);
    let (mut k, mut here, end) = (0, bin(0), bin(last));
    let mut turns = Vec::new();
    while here < end {
        // Cycles never decrease within a dot product, and neither do intervals.
        k = first_where(k, last, |k| bin(k) > here);
        here = bin(k);
        turns.push((k, here));
    }
    turns
}

/// Returns the first element of `from..=to` that satisfies `holds`, which must be monotonic and true at `to`.
pub(crate) fn first_where(mut from: usize, mut to: usize, holds: impl Fn(usize) -> bool) -> usize {
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
