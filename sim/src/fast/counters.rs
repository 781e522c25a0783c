//! Counts of a layer's register events, lane by lane.

use super::basis::Blocks;
use super::kernels::{ErrorCounters, LANES, Lane, LevelCounters, Vector, Walked, WidthCounts};
use super::simd::Kernels;
use crate::options::StatsLevel;
use crate::statistics::RECORDED;
use crate::stats::{ChannelErrors, ChannelLevel, HISTOGRAM_BINS, LayerStats, required};

/// Statistics that are counted here, among those recorded for every dot product.
const BY_LANES: [&str; 15] = [
    "adds",
    "events_high",
    "events_low",
    "outputs_touched",
    "persistent",
    "transient",
    "wrong",
    "harmless",
    "min_prefix",
    "max_prefix",
    "required_final",
    "required_prefix",
    "sum_abs_err",
    "max_abs_err",
    "bias_events",
];

/// Returns whether all requested statistics are counted here. Otherwise another engine must run the layer.
pub(super) fn lanes_count_all(stats: StatsLevel) -> bool {
    RECORDED.iter().all(|(name, needs)| !stats.meets(*needs) || BY_LANES.contains(name))
}

/// Counts of every block and level of a layer on lanes of type `V`.
#[derive(Debug)]
pub(super) struct Counters<V: Lane = i32> {
    /// Number of levels.
    levels: usize,
    /// Indexed `[block][level]`.
    counts: Vec<LevelCounters<V>>,
    /// Errors of delivered sums, per block.
    errors: Vec<ErrorCounters>,
    /// Number of dot products per level by the bits that their final sums, and that their prefixes require.
    required: Vec<[[u64; HISTOGRAM_BINS]; 2]>,
    /// Counts by bits of the latest tiles at the innermost level, not yet in `required`.
    latest: Box<[WidthCounts; 2]>,
}

/// Counters of a layer on the lanes that its datapath needs.
#[derive(Debug)]
pub(super) enum AnyCounters {
    Bits32(Counters),
    Bits64(Counters<i64>),
    Bits128(Counters<i128>),
}

/// Runs `$work` with counters of any type.
macro_rules! on_counters {
    ($any:expr, $counters:ident => $work:expr) => {
        match $any {
            AnyCounters::Bits32($counters) => $work,
            AnyCounters::Bits64($counters) => $work,
            AnyCounters::Bits128($counters) => $work,
        }
    };
}

impl AnyCounters {
    /// Returns the counters of a layer whose sums fit 32 bits.
    pub fn narrow(&mut self) -> &mut Counters {
        let Self::Bits32(counters) = self else { unreachable!("the layer's sums fit 32 bits") };
        counters
    }

    /// Returns the number of events of all blocks and levels.
    pub fn events(&self) -> u64 {
        on_counters!(self, counters => counters.events())
    }

    /// Moves all counts to the statistics: see [`Counters::flush`].
    pub fn flush(
        &mut self,
        blocks: &Blocks,
        signed: impl Fn(usize) -> bool,
        stats: &mut LayerStats,
        requested: StatsLevel,
    ) {
        on_counters!(self, counters => {
            counters.flush(blocks, signed, stats, requested);
            *counters = counters.empty();
        });
    }
}

impl<V: Lane> Counters<V> {
    pub fn new(blocks: usize, levels: usize) -> Self {
        Self {
            levels,
            counts: vec![LevelCounters::ZERO; blocks * levels],
            errors: vec![ErrorCounters::ZERO; blocks],
            required: vec![[[0; HISTOGRAM_BINS]; 2]; levels],
            latest: Box::new([WidthCounts::ZERO; 2]),
        }
    }

    /// Returns empty counters of equal shape.
    fn empty(&self) -> Self {
        Self::new(self.errors.len(), self.levels)
    }

    /// Returns the counts of block `index`, level by level.
    pub fn of(&mut self, index: usize) -> &mut [LevelCounters<V>] {
        &mut self.counts[index * self.levels..][..self.levels]
    }

    /// Returns the errors of block `index`.
    pub fn errors(&mut self, index: usize) -> &mut ErrorCounters {
        &mut self.errors[index]
    }

    /// Returns the number of events of all blocks and levels.
    fn events(&self) -> u64 {
        let sum = |lanes: &Vector<V>| lanes.iter().map(|&events| events.wide() as u64).sum::<u64>();
        self.counts.iter().map(|level| sum(&level.events_high) + sum(&level.events_low)).sum()
    }

    /// Counts the first `lanes` dot products of every pixel of a tile by the bits that they require at the innermost level.
    pub fn count_required(&mut self, kernels: Kernels, walked: &[Walked], lanes: usize, signed: bool) {
        if !signed {
            for walked in walked {
                let [finals, prefixes] = unsigned(walked);
                self.count_bits(0, [&finals[..lanes], &prefixes[..lanes]]);
            }
            return;
        }
        if self.latest[0].is_full() {
            self.required[0] = self.required(0);
            *self.latest = [WidthCounts::ZERO; 2];
        }
        kernels.count_widths(&mut self.latest, walked, lanes);
    }

    /// Counts dot products at a level by the bits that their final sums, and that their prefixes require.
    pub fn count_bits(&mut self, level: usize, bits: [&[usize]; 2]) {
        for (required, bits) in self.required[level].iter_mut().zip(bits) {
            bits.iter().for_each(|&bits| required[bits.min(HISTOGRAM_BINS - 1)] += 1);
        }
    }

    /// Returns the numbers of dot products at a level by the bits that they require.
    fn required(&self, level: usize) -> [[u64; HISTOGRAM_BINS]; 2] {
        let mut all = self.required[level];
        if level == 0 {
            for (bins, latest) in all.iter_mut().zip(&*self.latest) {
                latest.add_to(bins);
            }
        }
        all
    }

    /// Adds all counts to the statistics of a layer; `signed` tells whether the register of a level is.
    pub fn flush(
        &self,
        blocks: &Blocks,
        signed: impl Fn(usize) -> bool,
        stats: &mut LayerStats,
        requested: StatsLevel,
    ) {
        if !requested.counts() {
            return;
        }
        let of_blocks = self.counts.chunks(self.levels.max(1)).zip(&self.errors);
        for (block, (levels, errors)) in blocks.iter().zip(of_blocks) {
            for lane in 0..block.count {
                for (level, counters) in levels.iter().enumerate() {
                    let seen = counters.channel(lane, signed(level), requested);
                    stats.add_level(level, block.first + lane, &seen);
                }
                stats.add_errors(block.first + lane, &errors.channel(lane));
            }
        }
        for level in (0..self.levels).filter(|_| requested.counts_prefixes()) {
            stats.add_required(level, &self.required(level));
        }
    }
}

impl<V: Lane> LevelCounters<V> {
    /// Returns the counts of a lane.
    fn channel(&self, lane: usize, signed: bool, requested: StatsLevel) -> ChannelLevel {
        let count = |lanes: &Vector<V>| lanes[lane].wide() as u64;
        let mut channel = ChannelLevel { persistent: count(&self.persistent), ..ChannelLevel::new() };
        if requested.counts_events() {
            (channel.events_high, channel.events_low) = (count(&self.events_high), count(&self.events_low));
            channel.outputs_touched = count(&self.touched);
        }
        if requested.counts_prefixes() {
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

impl ErrorCounters {
    /// Returns the errors of a lane.
    fn channel(&self, lane: usize) -> ChannelErrors {
        ChannelErrors {
            wrong: self.wrong[lane] as u64,
            harmless: self.harmless[lane] as u64,
            sum_abs_err: self.sum_abs_err[lane].into(),
            max_abs_err: self.max_abs_err[lane].into(),
            ..ChannelErrors::default()
        }
    }
}

/// Returns the unsigned bits that hold the final sums, and those that hold the prefixes. No number of bits
/// holds a negative value.
fn unsigned(walked: &Walked) -> [[usize; LANES]; 2] {
    let bits = |min: i32, max: i32| required(min.min(0).into(), max.max(0).into(), false) as usize;
    let lanes = |bits: &dyn Fn(usize) -> usize| std::array::from_fn(bits);
    let Walked { sum, min, max } = walked;
    [lanes(&|l| bits(sum[l], sum[l])), lanes(&|l| bits(min[l], max[l]))]
}

#[cfg(test)]
mod tests {
    use super::super::kernels::TILE;
    use super::*;
    use crate::options::Isa;

    /// Counts tiles of one kind, the last ones with few lanes and pixels. They exceed the capacity of each
    /// lane's counters.
    fn check(signed: bool, isa: Isa, sum: impl Fn(usize) -> i32) {
        let kernels = Kernels::choose(Some(isa));
        let mut counters = Counters::<i32>::new(1, 1);
        let mut expected = [[0; HISTOGRAM_BINS]; 2];
        for index in 0..2500 {
            let (pixels, lanes) = if index < 2100 { (TILE, LANES) } else { (1 + index % 11, 5) };
            let sum = sum(index);
            let walked = Walked { sum: [sum; LANES], min: [sum.min(-1); LANES], max: [sum.max(100); LANES] };
            counters.count_required(kernels, &vec![walked; pixels], lanes, signed);
            for (bins, (min, max)) in expected.iter_mut().zip([(sum, sum), (sum.min(-1), sum.max(100))]) {
                let bits = required(min.min(0).into(), max.max(0).into(), signed);
                bins[bits as usize] += (pixels * lanes) as u64;
            }
        }
        assert_eq!(counters.required(0), expected, "{signed} {isa:?}");
    }

    #[test]
    fn widths_of_many_tiles_are_counted() {
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            for signed in [false, true] {
                check(signed, isa, |_| 5);
                check(signed, isa, |index| (index as i32 % 300 - 150) << (index % 20));
                check(signed, isa, |index| if index % 2 == 0 { i32::MIN } else { i32::MAX });
            }
        }
    }

    #[test]
    fn what_lanes_count_is_recorded() {
        for name in BY_LANES {
            assert!(RECORDED.iter().any(|(recorded, _)| *recorded == name), "{name}");
        }
        assert!(lanes_count_all(StatsLevel::None));
    }
}
