//! Counts of a block, lane by lane.

// The compiler vectorizes a single indexed loop over all lanes best.
#![allow(clippy::needless_range_loop)]

use super::{LANES, Lane, Lanes, Stepped, Vector, Walked};

/// Counts of one level of a block of channels, lane by lane. Lanes of 32 bits count at most 2^31 additions.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct LevelCounters<V: Lane = i32> {
    pub events_high: Vector<V>,
    pub events_low: Vector<V>,
    pub touched: Vector<V>,
    pub persistent: Vector<V>,
    pub transient: Vector<V>,
    /// Extremes over all prefixes, and over all final sums.
    pub prefixes: Extremes<V>,
    pub finals: Extremes<V>,
}

impl<V: Lane> LevelCounters<V> {
    pub const ZERO: Self = Self {
        events_high: Vector::ZERO,
        events_low: Vector::ZERO,
        touched: Vector::ZERO,
        persistent: Vector::ZERO,
        transient: Vector::ZERO,
        prefixes: Extremes::ZERO,
        finals: Extremes::ZERO,
    };
}

/// Least and greatest of 0 and some values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extremes<V: Lane> {
    pub min: Vector<V>,
    pub max: Vector<V>,
}

impl<V: Lane> Extremes<V> {
    pub const ZERO: Self = Self { min: Vector::ZERO, max: Vector::ZERO };

    /// Includes a further value.
    #[inline(always)]
    pub fn take(&mut self, value: &Vector<V>) {
        for l in 0..LANES {
            self.min[l] = self.min[l].min(value[l]);
            self.max[l] = self.max[l].max(value[l]);
        }
    }

    /// Returns the extremes of all values of both.
    #[inline(always)]
    pub fn with(mut self, other: &Self) -> Self {
        for l in 0..LANES {
            self.min[l] = self.min[l].min(other.min[l]);
            self.max[l] = self.max[l].max(other.max[l]);
        }
        self
    }
}

/// Errors of the delivered sums of a block of channels, lane by lane.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct ErrorCounters {
    pub wrong: Lanes,
    pub harmless: Lanes,
    pub max_abs_err: [u32; LANES],
    pub sum_abs_err: [u64; LANES],
}

impl ErrorCounters {
    pub const ZERO: Self =
        Self { wrong: [0; LANES], harmless: [0; LANES], max_abs_err: [0; LANES], sum_abs_err: [0; LANES] };
}

/// Counts the errors of delivered sums; `code` holds their codes, `right` the exact codes.
#[inline(always)]
pub(crate) fn count_errors(
    counters: &mut ErrorCounters,
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
    counters: &mut LevelCounters,
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
pub(crate) fn count_transient(counters: &mut LevelCounters, walked: &Walked, least: i32, greatest: i32) {
    for l in 0..LANES {
        let (sum, min, max) = (walked.sum[l], walked.min[l], walked.max[l]);
        let fits = (sum >= least) & (sum <= greatest);
        counters.transient[l] += i32::from(fits & ((min < least) | (max > greatest)));
    }
}

/// Updates the extremes of prefixes and sums.
#[inline(always)]
pub(crate) fn take_extremes(counters: &mut LevelCounters, walked: &Walked) {
    for l in 0..LANES {
        counters.prefixes.min[l] = counters.prefixes.min[l].min(walked.min[l]);
        counters.prefixes.max[l] = counters.prefixes.max[l].max(walked.max[l]);
        counters.finals.min[l] = counters.finals.min[l].min(walked.sum[l]);
        counters.finals.max[l] = counters.finals.max[l].max(walked.sum[l]);
    }
}
