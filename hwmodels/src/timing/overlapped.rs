//! Folds that follow each other without draining the array, and memory that may be too slow for them.
//!
//! With F folds over all groups:
//!
//! ```text
//! cycles = latency + load + (F - 1) * period + last + store
//! period = max(interval, sram, load, store)          with double buffering
//!        = load + max(span, sram) + store            without
//! last   = max(span, sram)                           filling and draining included
//! ```
//!
//! `interval` and `span` are the dataflow's: `max(K, R)` and `K + 2R + C - 2` for output stationary, `max(M, R)`
//! and `2R + C + M - 2` for weight stationary, `max(N, R)` and `2R + C + N - 2` for input stationary,
//! `ceil(K / dot_width)` and the same for a vector engine.
//! `sram` is the time in which a fold's operands leave their SRAMs, each through a port of its own. `load` and
//! `store` are a fold's even share of what the layer moves from and to the outside ([`Traffic`]). What is left
//! with a memory that takes no time, `(F - 1) * interval + span + drain`, are the compute cycles; the rest stalls.

use super::Schedule;
use super::mapping::Fold;
use super::traffic::Traffic;
use crate::Memory;

pub(super) fn schedule(fold: &Fold, traffic: &Traffic, memory: &Memory) -> Schedule {
    let folds = fold.count as u64 * fold.groups as u64;
    if folds == 0 {
        return Schedule { lead: 0, fold: 0, group: 0, last: 0, compute: 0, cycles: 0 };
    }
    let outside = |bytes: f64| cycles(bytes / folds as f64, memory.dram_bytes_per_cycle);
    let (load, store) = (outside(traffic.load), outside(traffic.store));
    let sram = traffic.reads.map(|bytes| cycles(bytes, memory.sram_bytes_per_cycle)).into_iter().max();
    let sram = sram.unwrap_or(0);
    let last = (fold.span() as u64 + fold.drain as u64).max(sram);
    let period = if memory.double_buffer {
        (fold.interval as u64).max(sram).max(load).max(store)
    } else {
        load + last + store
    };
    let lead = memory.dram_latency_cycles + load;
    Schedule {
        lead,
        fold: period,
        group: fold.count as u64 * period,
        last: u64::MAX,
        compute: compute_cycles(fold),
        cycles: lead + (folds - 1) * period + last + store,
    }
}

/// Cycles with a memory that takes no time: folds as close as they can follow each other, the last one drained.
pub(super) fn compute_cycles(fold: &Fold) -> u64 {
    let folds = (fold.count * fold.groups) as u64;
    folds.saturating_sub(1) * fold.interval as u64 + fold.span() as u64 + fold.drain as u64
}

fn cycles(bytes: f64, bytes_per_cycle: f64) -> u64 {
    (bytes / bytes_per_cycle).ceil() as u64
}
