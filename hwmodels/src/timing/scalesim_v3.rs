//! Compute cycles as SCALE-Sim 3.0.0 (scalesim-project/SCALE-Sim) counts them.
//!
//! Every fold costs the whole array, filling and draining included; folds do not overlap. With R rows and C
//! columns, one matrix product takes
//!
//! - output stationary: `ceil(M/R) * ceil(N/C) * (K + R + C - 2) - 1`
//! - weight stationary: `ceil(K/R) * ceil(N/C) * (2R + C + M - 2) - 1`
//! - input stationary: `ceil(K/R) * ceil(M/C) * (2R + C + N - 2) - 1`
//!
//! The `- 1` is the index of the last cycle reported as a count (issue 125 there). Grouped layers are one
//! matrix product per group, one after the other. SCALE-Sim has no vector engine and no `dot_width`: the former
//! takes `folds * ceil(K / dot_width)` cycles, the latter divides K.

use super::Schedule;
use super::mapping::Mapping;
use crate::Dataflow;

pub(super) fn schedule(mapping: &Mapping) -> Schedule {
    let fold = mapping.fold();
    let uncounted = u64::from(mapping.dataflow() != Dataflow::Vector);
    let group = (fold.count as u64 * fold.span() as u64).saturating_sub(uncounted);
    Schedule {
        lead: 0,
        fold: fold.span() as u64,
        of_tile: 1,
        tile: fold.span() as u64,
        group,
        last: group.saturating_sub(1),
        compute: fold.groups as u64 * group,
        cycles: fold.groups as u64 * group,
    }
}
