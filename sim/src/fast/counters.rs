//! Counts of a layer's register events, lane by lane.

use super::kernels::{Aligned, LANES, LaneCounters, Lanes, Walked, WidthCounts};
use super::prepare::{Block, Path};
use super::schedule::{Places, Schedule};
use super::simd::Kernels;
use crate::options::StatsLevel;
use crate::statistics::RECORDED;
use crate::stats::{ChannelErrors, ChannelLevel, HISTOGRAM_BINS, LayerStats, TIMELINE_BINS, required};

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

/// Counts of every block of a layer.
#[derive(Debug)]
pub(super) struct Counters {
    blocks: Vec<LaneCounters>,
    /// Number of dot products by the bits that their final sums, and that their prefixes require.
    required: Box<[[u64; HISTOGRAM_BINS]; 2]>,
    /// Counts by bits of the latest tiles, not yet in `required`.
    latest: Box<[WidthCounts; 2]>,
    /// Events by interval of the layer's time and lane; empty if they are not counted.
    timeline: Vec<Aligned<Lanes>>,
    /// Events by [`Schedule::elements`] and lane; empty if they are not counted.
    elements: Vec<Aligned<Lanes>>,
}

impl Counters {
    pub fn new(blocks: usize) -> Self {
        Self {
            blocks: vec![LaneCounters::ZERO; blocks],
            required: Box::new([[0; HISTOGRAM_BINS]; 2]),
            latest: Box::new([WidthCounts::ZERO; 2]),
            timeline: Vec::new(),
            elements: Vec::new(),
        }
    }

    /// Returns the counts of block `index`.
    pub fn of(&mut self, index: usize) -> &mut LaneCounters {
        &mut self.blocks[index]
    }

    /// Events of all blocks.
    pub fn events(&self) -> u64 {
        let sum = |lanes: &Lanes| lanes.iter().map(|&events| events as u64).sum::<u64>();
        self.blocks.iter().map(|block| sum(&block.events_high) + sum(&block.events_low)).sum()
    }

    /// Returns the counters for events of sites in `schedule`.
    pub fn places(&mut self, schedule: &Schedule) -> Places<'_> {
        let Self { timeline, elements, .. } = self;
        timeline.resize(TIMELINE_BINS, Aligned([0; LANES]));
        elements.resize(schedule.elements().len(), Aligned([0; LANES]));
        Places { timeline, elements }
    }

    /// Adds events by place to `stats`, if any were counted, for sites in `schedule`.
    pub fn flush_places<'s>(&self, schedule: impl FnOnce() -> &'s Schedule, stats: &mut LayerStats) {
        if self.timeline.is_empty() {
            return;
        }
        for (all, lanes) in stats.timeline.iter_mut().zip(&self.timeline) {
            *all += lanes.iter().map(|&events| events as u64).sum::<u64>();
        }
        for (lanes, elements) in self.elements.iter().zip(schedule().elements()) {
            for (&events, &element) in lanes.iter().zip(elements) {
                stats.heat_map[element as usize] += events as u64;
            }
        }
    }

    /// Counts the first `lanes` dot products of every pixel of a tile by the bits that they require.
    pub fn count_required(&mut self, kernels: Kernels, walked: &[Walked], lanes: usize, signed: bool) {
        if !signed {
            for walked in walked {
                for (bins, widths) in self.required.iter_mut().zip(unsigned(walked)) {
                    widths[..lanes].iter().for_each(|&width| bins[usize::from(width)] += 1);
                }
            }
            return;
        }
        if self.latest[0].is_full() {
            *self.required = self.required();
            *self.latest = [WidthCounts::ZERO; 2];
        }
        kernels.count_widths(&mut self.latest, walked, lanes);
    }

    /// Returns the numbers of dot products by the bits that they require.
    fn required(&self) -> [[u64; HISTOGRAM_BINS]; 2] {
        let mut all = *self.required;
        for (bins, latest) in all.iter_mut().zip(&*self.latest) {
            latest.add_to(bins);
        }
        all
    }

    /// Adds all counts to the `stats` of each layer.
    pub fn flush<'s>(
        &self,
        blocks: &[Block],
        layers: impl IntoIterator<Item = (Path, &'s mut LayerStats)>,
        level: StatsLevel,
    ) {
        if !level.counts() {
            return;
        }
        let required = level.counts_prefixes().then(|| self.required());
        for (path, stats) in layers {
            self.add_to(blocks, path, stats, level);
            required.iter().for_each(|required| stats.add_required(0, required));
        }
    }

    fn add_to(&self, blocks: &[Block], path: Path, stats: &mut LayerStats, level: StatsLevel) {
        for (block, counters) in blocks.iter().zip(&self.blocks) {
            for lane in 0..block.count {
                let mut seen = counters.level(lane);
                if level.counts_prefixes() {
                    counters.prefixes(lane, path.signed, &mut seen);
                }
                stats.add_level(0, block.first + lane, &seen);
                stats.add_errors(block.first + lane, &counters.errors(lane));
            }
        }
    }
}

impl LaneCounters {
    fn level(&self, lane: usize) -> ChannelLevel {
        ChannelLevel {
            events_high: self.events_high[lane] as u64,
            events_low: self.events_low[lane] as u64,
            outputs_touched: self.touched[lane] as u64,
            persistent: self.persistent[lane] as u64,
            ..ChannelLevel::new()
        }
    }

    fn prefixes(&self, lane: usize, signed: bool, seen: &mut ChannelLevel) {
        let [min, max] = self.prefixes.map(|lanes| i128::from(lanes[lane]));
        let [min_final, max_final] = self.finals.map(|lanes| i128::from(lanes[lane]));
        seen.transient = self.transient[lane] as u64;
        (seen.min_prefix, seen.max_prefix) = (min, max);
        seen.required_final = required(min_final, max_final, signed);
        seen.required_prefix = required(min, max, signed);
    }

    /// Returns the errors of a lane's delivered sums.
    pub(super) fn errors(&self, lane: usize) -> ChannelErrors {
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
fn unsigned(walked: &Walked) -> [[u8; LANES]; 2] {
    let bits = |min: i32, max: i32| required(min.min(0).into(), max.max(0).into(), false) as u8;
    let lanes = |bits: &dyn Fn(usize) -> u8| std::array::from_fn(bits);
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
        let mut counters = Counters::new(1);
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
        assert_eq!(counters.required(), expected, "{signed} {isa:?}");
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
