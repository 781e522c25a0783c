//! Counts of a block, lane by lane.

// The compiler vectorizes a single indexed loop over all lanes best.
#![allow(clippy::needless_range_loop)]

use super::{LANES, Lanes, Stepped, Walked};

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

/// Counts the errors of delivered sums; `code` holds their codes, `right` the exact codes.
#[inline(always)]
pub(crate) fn count_errors(
    counters: &mut LaneCounters,
    delivered: &Lanes,
    exact: &Lanes,
    code: &Lanes,
    right: &Lanes,
) {
    let mut errors = [0; LANES];
    for l in 0..LANES {
        // In vectors, `abs_diff` takes more instructions.
        errors[l] = delivered[l].max(exact[l]).wrapping_sub(delivered[l].min(exact[l])) as u32;
        let differ = delivered[l] != exact[l];
        counters.wrong[l] += i32::from(differ);
        counters.harmless[l] += i32::from(differ & (code[l] == right[l]));
        counters.max_abs_err[l] = counters.max_abs_err[l].max(errors[l]);
    }
    // Not in the loop above, whose vectors would have lanes of 64 bits.
    for l in 0..LANES {
        counters.sum_abs_err[l] += u64::from(errors[l]);
    }
}

/// Counts the overflows of a register whose format holds `least..=greatest`.
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

/// Counts sums that fit the register's format, `least..=greatest`, although one of their prefixes does not.
#[inline(always)]
pub(crate) fn count_transient(counters: &mut LaneCounters, walked: &Walked, least: i32, greatest: i32) {
    for l in 0..LANES {
        let (sum, min, max) = (walked.sum[l], walked.min[l], walked.max[l]);
        let fits = (sum >= least) & (sum <= greatest);
        counters.transient[l] += i32::from(fits & ((min < least) | (max > greatest)));
    }
}

/// Updates the extremes of prefixes and sums.
#[inline(always)]
pub(crate) fn take_extremes(counters: &mut LaneCounters, walked: &Walked) {
    for l in 0..LANES {
        counters.prefixes[0][l] = counters.prefixes[0][l].min(walked.min[l]);
        counters.prefixes[1][l] = counters.prefixes[1][l].max(walked.max[l]);
        counters.finals[0][l] = counters.finals[0][l].min(walked.sum[l]);
        counters.finals[1][l] = counters.finals[1][l].max(walked.sum[l]);
    }
}
