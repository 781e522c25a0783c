//! Compute cycles as SCALE-Sim 3.0.0 (scalesim-project/SCALE-Sim) counts them.
//!
//! Every fold costs the whole array, including filling and draining; folds do not overlap. With R rows and C
//! columns, one matrix product takes
//!
//! - output stationary: `ceil(M/R) * ceil(N/C) * (K + R + C - 2) - 1`
//! - weight stationary: `ceil(K/R) * ceil(N/C) * (2R + C + M - 2) - 1`
//! - input stationary: `ceil(K/R) * ceil(M/C) * (2R + C + N - 2) - 1`
//!
//! Output stationary leaves out the drain: the sums of the last of R rows need R - 1 more cycles to leave the
//! array, which the tool does not count (scale-sim-v3, issue 4).
//!
//! The `- 1` arises because the tool reports the index of the last cycle as a count (scale-sim-v3, issue
//! 125). Grouped layers are one matrix product per group, one after the other. SCALE-Sim has no vector engine
//! and no `dot_width`. A vector engine here takes `folds * ceil(K / dot_width)` cycles, and `dot_width`
//! divides K.

use super::mapping::Mapping;
use super::schedule::Schedule;
use crate::Dataflow;

pub(super) fn schedule(mapping: &Mapping) -> Schedule {
    let folds = mapping.folds();
    let uncounted = u64::from(mapping.dataflow() != Dataflow::Vector);
    let span = folds.span() as u64;
    let group = (folds.count as u64).saturating_mul(span).saturating_sub(uncounted);
    let cycles = group.saturating_mul(folds.groups as u64);
    Schedule {
        lead: 0,
        fold: span,
        of_tile: 1,
        gap: 0,
        group,
        last: group.saturating_sub(1),
        compute: cycles,
        inside: cycles,
        busy: [0; 2],
        transfers: [0; 2],
        cycles,
    }
}
