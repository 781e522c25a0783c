//! Counts the results of every level for the dot products of one block at one pixel.

use guardbit_hwmodels::Level;

use super::super::blocks::Block;
use super::super::counters::Counters;
use super::super::kernels::{
    self, Counts, ErrorCounters, Extremes, LANES, Lane, Lanes, LevelCounters, Vector,
};
use super::super::simd::{Kernels, Vectorized};
use super::scratch::Seen;
use crate::options::StatsLevel;
use crate::stats::required;

impl<V: Lane> Counters<V> {
    /// Counts the dot products of block `index` at one pixel. `held` has the least and the greatest value of every
    /// level's format.
    pub(super) fn count_levels(
        &mut self,
        kernels: Kernels,
        (index, block): (usize, &Block),
        (seen, held): (&[Seen<V>], &[Extremes<V>]),
        levels: &[Level],
        requested: StatsLevel,
    ) {
        let counters = self.of(index);
        let (events, prefixes) = (requested.counts_events(), requested.counts_prefixes());
        kernels.run(Count { counters, seen, held, events, prefixes });
        if !requested.counts_prefixes() {
            return;
        }
        for (index, (seen, level)) in seen.iter().zip(levels).enumerate() {
            let [finals, prefixes] =
                bits(kernels, [&seen.finals, &seen.prefixes], level.register.is_signed());
            self.count_bits(index, [&finals[..block.count], &prefixes[..block.count]]);
        }
    }

    /// Counts the errors of inexact sums of block `index`, given with their codes.
    pub(super) fn count_errors(
        &mut self,
        kernels: Kernels,
        index: usize,
        sums: [&Lanes; 2],
        codes: [&Lanes; 2],
    ) {
        kernels.run(CountErrors { counters: self.errors(index), sums, codes });
    }
}

/// Counts the dot products of one block at one pixel.
struct Count<'a, V: Lane> {
    counters: &'a mut [LevelCounters<V>],
    seen: &'a [Seen<V>],
    held: &'a [Extremes<V>],
    events: bool,
    prefixes: bool,
}

impl<V: Lane> Vectorized for Count<'_, V> {
    const IN_VECTORS: bool = V::IN_VECTORS;

    #[inline(always)]
    fn run(self) {
        let one = V::low_bits(1);
        for ((counters, seen), held) in self.counters.iter_mut().zip(self.seen).zip(self.held) {
            // The compiler knows that copies overlap with nothing.
            let (held, finals) = (*held, seen.finals);
            let outside = |of: &Extremes<V>, l: usize| {
                V::mask(of.min[l] < held.min[l]).or(V::mask(of.max[l] > held.max[l])).and(one)
            };
            let mut persistent = counters.persistent;
            for l in 0..LANES {
                persistent[l] = persistent[l].plus(outside(&finals, l));
            }
            counters.persistent = persistent;
            if self.events {
                let Counts { high, low } = seen.counts;
                let LevelCounters { mut events_high, mut events_low, mut touched, .. } = *counters;
                for l in 0..LANES {
                    events_high[l] = events_high[l].plus(high[l]);
                    events_low[l] = events_low[l].plus(low[l]);
                    touched[l] = touched[l].minus(V::mask(high[l].or(low[l]) != V::ZERO));
                }
                (counters.events_high, counters.events_low, counters.touched) =
                    (events_high, events_low, touched);
            }
            if self.prefixes {
                let (prefixes, mut transient) = (seen.prefixes, counters.transient);
                for l in 0..LANES {
                    let fits = outside(&finals, l).not();
                    transient[l] = transient[l].plus(outside(&prefixes, l).and(fits));
                }
                counters.transient = transient;
                counters.prefixes = counters.prefixes.with(&prefixes);
                counters.finals = counters.finals.with(&finals);
            }
        }
    }
}

/// Counts errors: see [`Counters::count_errors`].
struct CountErrors<'a> {
    counters: &'a mut ErrorCounters,
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
