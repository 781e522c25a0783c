//! What happened in a block, counted lane by lane.

// One loop over all lanes, whatever it indexes, is what the compiler turns into vectors.
#![allow(clippy::needless_range_loop)]

use super::{Aligned, LANES, Lanes, Stepped, TILE, Walked};
use crate::stats::HISTOGRAM_BINS;

/// Counts of one block of channels, lane by lane, over at most 2^31 additions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct LaneCounters {
    pub events_high: Lanes,
    pub events_low: Lanes,
    pub touched: Lanes,
    pub persistent: Lanes,
    pub transient: Lanes,
    pub wrong: Lanes,
    pub harmless: Lanes,
    pub max_abs_err: [u32; LANES],
    pub sum_abs_err: [u64; LANES],
    /// Extremes over 0 and all prefixes, and over 0 and all final sums.
    pub prefixes: [Lanes; 2],
    pub finals: [Lanes; 2],
}

impl LaneCounters {
    pub const ZERO: Self = Self {
        events_high: [0; LANES],
        events_low: [0; LANES],
        touched: [0; LANES],
        persistent: [0; LANES],
        transient: [0; LANES],
        wrong: [0; LANES],
        harmless: [0; LANES],
        max_abs_err: [0; LANES],
        sum_abs_err: [0; LANES],
        prefixes: [[0; LANES]; 2],
        finals: [[0; LANES]; 2],
    };
}

/// Counts what delivered sums are wrong about; `code` is what became of them, `right` the exact code.
#[inline(always)]
pub(crate) fn count_errors(
    counters: &mut LaneCounters,
    delivered: &Lanes,
    exact: &Lanes,
    code: &Lanes,
    right: &Lanes,
) {
    for l in 0..LANES {
        let error = delivered[l].abs_diff(exact[l]);
        counters.wrong[l] += i32::from(error != 0);
        counters.harmless[l] += i32::from((error != 0) & (code[l] == right[l]));
        counters.max_abs_err[l] = counters.max_abs_err[l].max(error);
        counters.sum_abs_err[l] += u64::from(error);
    }
}

/// Counts what happened in the register; its format holds `least..=greatest`.
#[inline(always)]
pub(crate) fn count_events(
    counters: &mut LaneCounters,
    stepped: &Stepped,
    sum: &Lanes,
    least: i32,
    greatest: i32,
) {
    for l in 0..LANES {
        counters.events_high[l] += stepped.high[l];
        counters.events_low[l] += stepped.low[l];
        counters.touched[l] += i32::from((stepped.high[l] | stepped.low[l]) != 0);
        counters.persistent[l] += i32::from((sum[l] < least) | (sum[l] > greatest));
    }
}

/// Counts sums that the register's format holds, `least..=greatest`, and prefixes of which it does not.
#[inline(always)]
pub(crate) fn count_transient(counters: &mut LaneCounters, walked: &Walked, least: i32, greatest: i32) {
    for l in 0..LANES {
        let (sum, min, max) = (walked.sum[l], walked.min[l], walked.max[l]);
        let fits = (sum >= least) & (sum <= greatest);
        counters.transient[l] += i32::from(fits & ((min < least) | (max > greatest)));
    }
}

/// Takes the extremes of prefixes and sums.
#[inline(always)]
pub(crate) fn take_extremes(counters: &mut LaneCounters, walked: &Walked) {
    for l in 0..LANES {
        counters.prefixes[0][l] = counters.prefixes[0][l].min(walked.min[l]);
        counters.prefixes[1][l] = counters.prefixes[1][l].max(walked.max[l]);
        counters.finals[0][l] = counters.finals[0][l].min(walked.sum[l]);
        counters.finals[1][l] = counters.finals[1][l].max(walked.sum[l]);
    }
}

/// No width of a sum.
pub(crate) const NO_WIDTH: u8 = u8::MAX;

/// One byte per lane of a tile.
pub(crate) type Widths = Aligned<[u8; TILE * LANES]>;

/// Bits that hold the final sums, and bits that hold the prefixes, in two's complement, of the first `lanes` dot products
/// of every pixel.
#[inline(always)]
pub(crate) fn required(walked: &[Walked], lanes: usize, bits: &mut [Widths; 2]) {
    let [finals, prefixes] = bits.each_mut().map(|bits| bits.as_chunks_mut::<LANES>().0);
    for ((walked, finals), prefixes) in walked.iter().zip(finals).zip(prefixes) {
        for l in 0..LANES {
            let (sum, min, max) = (walked.sum[l], walked.min[l].min(0), walked.max[l].max(0));
            // A negative number is as long as its complement.
            finals[l] = 33 - (sum ^ (sum >> 31)).leading_zeros() as u8;
            prefixes[l] = 33 - (max | (min ^ (min >> 31))).leading_zeros() as u8;
        }
        for l in lanes..LANES {
            (finals[l], prefixes[l]) = (NO_WIDTH, NO_WIDTH);
        }
    }
}

/// Dot products by the bits that they need, of several tiles, place by place of a vector.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(crate) struct WidthCounts {
    /// `[width][place]`
    found: [[u8; PLACES]; HISTOGRAM_BINS],
    /// Least width of all tiles, and the one behind the greatest.
    range: (u8, u8),
    tiles: usize,
}

/// Bytes of a vector.
pub(crate) const PLACES: usize = 64;

impl WidthCounts {
    pub const ZERO: Self = Self { found: [[0; PLACES]; HISTOGRAM_BINS], range: (NO_WIDTH, 0), tiles: 0 };

    /// Whether one more tile could be one too many for a byte.
    pub fn is_full(&self) -> bool {
        self.tiles >= usize::from(u8::MAX) / (TILE * LANES / PLACES)
    }

    /// Widths that were found, each with its dot products.
    pub fn totals(&self) -> impl Iterator<Item = (usize, u64)> {
        let range = usize::from(self.range.0)..usize::from(self.range.1);
        let total = |found: &[u8; PLACES]| found.iter().map(|&found| u32::from(found)).sum::<u32>().into();
        range.map(move |width| (width, total(&self.found[width])))
    }

    /// Counts the widths of a tile, width by width; those of lanes without a dot product are [`NO_WIDTH`].
    #[inline(always)]
    pub fn count(&mut self, widths: &Widths) {
        let (rows, _) = widths.as_chunks::<PLACES>();
        for (width, found) in self.of_tile(widths) {
            for row in rows {
                for l in 0..PLACES {
                    found[l] += u8::from(row[l] == width);
                }
            }
        }
    }

    /// The widths that may come in one more tile, and how often each was found in every place.
    #[inline(always)]
    pub fn of_tile(&mut self, widths: &Widths) -> impl Iterator<Item = (u8, &mut [u8; PLACES])> {
        let least = widths.iter().fold(NO_WIDTH, |least, &width| least.min(width));
        let behind = widths.iter().fold(0, |behind: u8, &width| behind.max(width.wrapping_add(1)));
        self.tiles += 1;
        self.range = (self.range.0.min(least), self.range.1.max(behind));
        let range = usize::from(least).min(usize::from(behind))..usize::from(behind);
        (least..).zip(&mut self.found[range])
    }
}
