//! Counts of dot products at every level, lane by lane.

use super::super::kernels::Lane;
use super::super::kernels::{self, LANES, LaneCounters, Lanes, Vector};
use super::super::simd::{Kernels, Vectorized};
use super::LevelFacts;
use super::blocks::Block;
use super::scratch::{Extremes, Seen};
use crate::options::StatsLevel;
use crate::stats::{ChannelLevel, HISTOGRAM_BINS, LayerStats, required};

/// Counts of every block and level of a layer.
#[derive(Debug)]
pub(super) struct Tally<V: Lane> {
    /// Tallies, indexed `[block][level]`.
    levels: Vec<Vec<LaneTally<V>>>,
    /// Errors of delivered sums, per block.
    errors: Vec<LaneCounters>,
    /// Dot products per level by the bits that their final sums, and that their prefixes require.
    required: Vec<[[u64; HISTOGRAM_BINS]; 2]>,
    /// Number of additions per lane that are counted so far.
    additions: u64,
}

/// Counts of the dot products of one block at one level.
#[derive(Debug, Clone, Copy)]
struct LaneTally<V: Lane> {
    /// Least and greatest value of the format.
    held: Extremes<V>,
    high: Vector<V>,
    low: Vector<V>,
    touched: Vector<V>,
    persistent: Vector<V>,
    transient: Vector<V>,
    prefixes: Extremes<V>,
    finals: Extremes<V>,
}

/// Number of additions per lane after which counts are flushed.
const ROOM: u64 = 1 << 30;

impl<V: Lane> Tally<V> {
    pub fn new(blocks: &[Block], facts: &[LevelFacts]) -> Self {
        let levels = |block: &Block| facts.iter().map(|facts| LaneTally::new(&block.high, facts)).collect();
        Self {
            levels: blocks.iter().map(levels).collect(),
            errors: vec![LaneCounters::ZERO; blocks.len()],
            required: vec![[[0; HISTOGRAM_BINS]; 2]; facts.len()],
            additions: 0,
        }
    }

    /// Makes room for the dot products of one pixel, of at most `additions` additions each.
    pub fn reserve(&mut self, additions: u64, blocks: &[Block], facts: &[LevelFacts], counts: Counts<'_>) {
        self.additions += additions;
        if self.additions > ROOM {
            self.flush(blocks, facts, counts);
            *self = Self::new(blocks, facts);
            self.additions = additions;
        }
    }

    /// Counts the dot products of block `index` at one pixel.
    pub fn count(
        &mut self,
        kernels: Kernels,
        (index, block): (usize, &Block),
        seen: &[Seen<V>],
        facts: &[LevelFacts],
        level: StatsLevel,
    ) {
        let tallies = &mut self.levels[index][..];
        kernels.run(Count { tallies, seen, prefixes: level.counts_prefixes() });
        if !level.counts_prefixes() {
            return;
        }
        for ((required, seen), facts) in self.required.iter_mut().zip(seen).zip(facts) {
            let bits = bits(kernels, [&seen.finals, &seen.prefixes], facts.signed);
            for (required, bits) in required.iter_mut().zip(bits) {
                bits[..block.count].iter().for_each(|&bits| required[bits.min(HISTOGRAM_BINS - 1)] += 1);
            }
        }
    }

    /// Counts the errors of inexact sums of block `index`, given with their codes.
    pub fn count_errors(&mut self, kernels: Kernels, index: usize, sums: [&Lanes; 2], codes: [&Lanes; 2]) {
        kernels.run(CountErrors { counters: &mut self.errors[index], sums, codes });
    }

    /// Adds all counts to the statistics.
    pub fn flush(&self, blocks: &[Block], facts: &[LevelFacts], counts: Counts<'_>) {
        let Counts { stats, level } = counts;
        for ((block, levels), errors) in blocks.iter().zip(&self.levels).zip(&self.errors) {
            for lane in 0..block.count {
                let channel = block.first + lane;
                for (index, (tally, facts)) in levels.iter().zip(facts).enumerate() {
                    stats.add_level(index, channel, &tally.channel(lane, facts.signed, level));
                }
                stats.add_errors(channel, &errors.errors(lane));
            }
        }
        for (index, required) in self.required.iter().enumerate() {
            stats.add_required(index, required);
        }
    }
}

/// Destination of counts, and the level of statistics.
pub(super) struct Counts<'s> {
    pub stats: &'s mut LayerStats,
    pub level: StatsLevel,
}

impl<V: Lane> LaneTally<V> {
    fn new(high: &[bool; LANES], facts: &LevelFacts) -> Self {
        let mut held = Extremes::ZERO;
        for l in 0..LANES {
            let (least, greatest) = facts.above.filter(|_| high[l]).unwrap_or(facts.held);
            (held.min[l], held.max[l]) = (V::nearest(least), V::nearest(greatest));
        }
        Self {
            held,
            high: Vector::ZERO,
            low: Vector::ZERO,
            touched: Vector::ZERO,
            persistent: Vector::ZERO,
            transient: Vector::ZERO,
            prefixes: Extremes::ZERO,
            finals: Extremes::ZERO,
        }
    }

    fn channel(&self, lane: usize, signed: bool, level: StatsLevel) -> ChannelLevel {
        let count = |lanes: &Vector<V>| lanes[lane].wide() as u64;
        let mut channel = ChannelLevel { persistent: count(&self.persistent), ..ChannelLevel::new() };
        if level.counts_events() {
            (channel.events_high, channel.events_low) = (count(&self.high), count(&self.low));
            channel.outputs_touched = count(&self.touched);
        }
        if level.counts_prefixes() {
            let [prefixes, finals] =
                [&self.prefixes, &self.finals].map(|of| (of.min[lane].wide(), of.max[lane].wide()));
            channel.transient = count(&self.transient);
            (channel.min_prefix, channel.max_prefix) = prefixes;
            channel.required_final = required(finals.0, finals.1, signed);
            channel.required_prefix = required(prefixes.0, prefixes.1, signed);
        }
        channel
    }
}

/// Counts the dot products of one block at one pixel.
struct Count<'a, V: Lane> {
    tallies: &'a mut [LaneTally<V>],
    seen: &'a [Seen<V>],
    prefixes: bool,
}

impl<V: Lane> Vectorized for Count<'_, V> {
    const IN_VECTORS: bool = V::IN_VECTORS;

    #[inline(always)]
    fn run(self) {
        let one = V::low_bits(1);
        for (tally, seen) in self.tallies.iter_mut().zip(self.seen) {
            // The compiler knows that a copy overlaps with nothing.
            let mut all = *tally;
            let held = all.held;
            let outside = |of: &Extremes<V>, l: usize| {
                V::mask(of.min[l] < held.min[l]).or(V::mask(of.max[l] > held.max[l])).and(one)
            };
            for l in 0..LANES {
                let (high, low) = (seen.counts.high[l], seen.counts.low[l]);
                all.high[l] = all.high[l].plus(high);
                all.low[l] = all.low[l].plus(low);
                all.touched[l] = all.touched[l].minus(V::mask(high.or(low) != V::ZERO));
                all.persistent[l] = all.persistent[l].plus(outside(&seen.finals, l));
            }
            if self.prefixes {
                for l in 0..LANES {
                    let transient = outside(&seen.prefixes, l).and(outside(&seen.finals, l).not());
                    all.transient[l] = all.transient[l].plus(transient);
                }
                for (all, of) in [(&mut all.prefixes, &seen.prefixes), (&mut all.finals, &seen.finals)] {
                    all.take(&of.min);
                    all.take(&of.max);
                }
            }
            *tally = all;
        }
    }
}

/// Counts errors: see [`Tally::count_errors`].
struct CountErrors<'a> {
    counters: &'a mut LaneCounters,
    sums: [&'a Lanes; 2],
    codes: [&'a Lanes; 2],
}

impl Vectorized for CountErrors<'_> {
    #[inline(always)]
    fn run(self) {
        let ([delivered, exact], [code, right]) = (self.sums, self.codes);
        kernels::count_errors(self.counters, delivered, exact, code, right);
    }
}

/// Returns the bits that hold every value between extremes, lane by lane.
fn bits<V: Lane>(kernels: Kernels, extremes: [&Extremes<V>; 2], signed: bool) -> [[usize; LANES]; 2] {
    if V::BITS == 32 && signed {
        let [a, b] = extremes.map(|of| (narrow(&of.min), narrow(&of.max)));
        let mut widths = [[0; LANES]; 2];
        kernels.required([(&a.0, &a.1), (&b.0, &b.1)], &mut widths);
        return widths.map(|widths| widths.map(usize::from));
    }
    let of_lane =
        |of: &Extremes<V>, lane: usize| required(of.min[lane].wide(), of.max[lane].wide(), signed) as usize;
    extremes.map(|of| std::array::from_fn(|lane| of_lane(of, lane)))
}

/// Converts lanes of values that fit 32 bits.
#[inline(always)]
pub(super) fn narrow<V: Lane>(row: &Vector<V>) -> Lanes {
    let mut narrow = [0; LANES];
    for l in 0..LANES {
        narrow[l] = row[l].word();
    }
    narrow
}
