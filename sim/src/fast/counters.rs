//! What happened in the register of a layer, counted lane by lane.

use super::kernels::{LANES, LaneCounters, NO_WIDTH, TILE, Walked};
use super::prepare::{Block, Path};
use super::simd::Kernels;
use crate::options::StatsLevel;
use crate::statistics::RECORDED;
use crate::stats::{ChannelErrors, ChannelLevel, HISTOGRAM_BINS, LayerStats, required};

/// The statistics that are counted here, of those that are recorded of every dot product.
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

/// Whether nothing that is to be counted is left out here. Another engine has to do a layer where something is.
pub(super) fn lanes_count_all(stats: StatsLevel) -> bool {
    RECORDED.iter().all(|(name, needs)| !stats.meets(*needs) || BY_LANES.contains(name))
}

/// Counts of every block of a layer.
#[derive(Debug)]
pub(super) struct Counters {
    blocks: Vec<LaneCounters>,
    /// Dot products by the bits that their final sums, and that their prefixes need.
    required: Box<[[u64; HISTOGRAM_BINS]; 2]>,
}

impl Counters {
    pub fn new(blocks: usize) -> Self {
        Self { blocks: vec![LaneCounters::ZERO; blocks], required: Box::new([[0; HISTOGRAM_BINS]; 2]) }
    }

    /// The counts of block `index`.
    pub fn of(&mut self, index: usize) -> &mut LaneCounters {
        &mut self.blocks[index]
    }

    /// Sorts the first `lanes` dot products of every pixel of a tile by the bits that they need.
    pub fn count_required(&mut self, kernels: Kernels, walked: &[Walked], lanes: usize, signed: bool) {
        let mut bits = [[NO_WIDTH; TILE * LANES]; 2];
        if signed {
            kernels.required(walked, lanes, &mut bits);
        } else {
            for (pixel, walked) in walked.iter().enumerate() {
                for (bits, widths) in bits.iter_mut().zip(unsigned(walked)) {
                    bits[pixel * LANES..][..lanes].copy_from_slice(&widths[..lanes]);
                }
            }
        }
        for (bins, bits) in self.required.iter_mut().zip(&bits) {
            kernels.count_widths(bits, walked.len() * lanes, bins);
        }
    }

    /// Adds everything to `stats` of each layer.
    pub fn flush<'s>(
        &self,
        blocks: &[Block],
        layers: impl IntoIterator<Item = (Path, &'s mut LayerStats)>,
        level: StatsLevel,
    ) {
        if !level.counts() {
            return;
        }
        for (path, stats) in layers {
            self.add_to(blocks, path, stats, level);
            if level.counts_prefixes() {
                stats.add_required(0, &self.required);
            }
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

    /// What is wrong in the end.
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

/// Bits that hold the final sums, and bits that hold the prefixes, without a sign: a negative number has none that do.
fn unsigned(walked: &Walked) -> [[u8; LANES]; 2] {
    let bits = |min: i32, max: i32| required(min.min(0).into(), max.max(0).into(), false) as u8;
    let lanes = |bits: &dyn Fn(usize) -> u8| std::array::from_fn(bits);
    let Walked { sum, min, max } = walked;
    [lanes(&|l| bits(sum[l], sum[l])), lanes(&|l| bits(min[l], max[l]))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lanes_count_is_recorded() {
        for name in BY_LANES {
            assert!(RECORDED.iter().any(|(recorded, _)| *recorded == name), "{name}");
        }
        assert!(lanes_count_all(StatsLevel::None));
    }
}
