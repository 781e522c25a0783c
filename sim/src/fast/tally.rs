//! What happened in the register of a layer over a stretch of outputs, counted lane by lane.

use guardbit_num::required_bits;

use super::kernels::{Tally, Walked};
use super::prepare::{Block, Path};
use crate::options::StatsLevel;
use crate::stats::{ChannelErrors, ChannelLevel, HISTOGRAM_BINS, LayerStats, required};

/// Counts of every block of a layer.
pub(super) struct Tallies {
    blocks: Vec<Tally>,
    /// Dot products by the bits that their final sums, and that their prefixes need.
    required: [[u64; HISTOGRAM_BINS]; 2],
}

impl Tallies {
    pub fn new(blocks: usize) -> Self {
        Self { blocks: vec![Tally::ZERO; blocks], required: [[0; HISTOGRAM_BINS]; 2] }
    }

    /// The counts of block `index`.
    pub fn of(&mut self, index: usize) -> &mut Tally {
        &mut self.blocks[index]
    }

    /// Sorts the first `lanes` dot products of every pixel by the bits that they need.
    pub fn count_required(&mut self, walked: &[Walked], lanes: usize, signed: bool) {
        for walked in walked {
            for lane in 0..lanes {
                let (sum, min, max) = (walked.sum[lane], walked.min[lane].min(0), walked.max[lane].max(0));
                self.required[0][bits(sum.min(0), sum.max(0), signed)] += 1;
                self.required[1][bits(min, max, signed)] += 1;
            }
        }
    }

    /// Adds everything to `stats`.
    pub fn flush(&self, blocks: &[Block], path: Path, stats: &mut LayerStats, level: StatsLevel) {
        if level == StatsLevel::None {
            return;
        }
        for (block, tally) in blocks.iter().zip(&self.blocks) {
            for lane in 0..block.count {
                let mut seen = tally.level(lane);
                if level == StatsLevel::Full {
                    tally.prefixes(lane, path.signed, &mut seen);
                }
                stats.add_channel(block.first + lane, &seen, &tally.errors(lane));
            }
        }
        stats.add_required(&self.required);
    }
}

impl Tally {
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

    fn errors(&self, lane: usize) -> ChannelErrors {
        ChannelErrors {
            wrong: self.wrong[lane] as u64,
            harmless: self.harmless[lane] as u64,
            sum_abs_err: self.sum_abs_err[lane].into(),
            max_abs_err: self.max_abs_err[lane].into(),
            ..ChannelErrors::default()
        }
    }
}

/// [`required`] on 32 bits, as an index of a histogram.
#[inline]
fn bits(min: i32, max: i32, signed: bool) -> usize {
    match (signed, min < 0) {
        // As long as its complement, if it is negative.
        (true, _) => 33 - (max | (min ^ (min >> 31))).leading_zeros() as usize,
        (false, true) => required_bits(min.into(), false).min(HISTOGRAM_BINS as u32 - 1) as usize,
        (false, false) => (32 - max.leading_zeros()).max(1) as usize,
    }
}
