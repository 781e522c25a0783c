//! Folds that follow each other without draining the array, and memory that may be too slow for them.
//!
//! With F folds over all groups, f of them in a tile:
//!
//! ```text
//! double buffering:  cycles = latency + load + (F - 1) * period + last + store
//!                    period = max(interval, sram, load / f, store / f)
//! without:           cycles = latency + tiles * (load + (f - 1) * max(interval, sram) + last + store)
//! last   = max(span, sram)                           filling and draining included
//! ```
//!
//! `interval` and `span` are the dataflow's: `max(K, R)` and `K + 2R + C - 2` for output stationary, `max(M, R)`
//! and `2R + C + M - 2` for weight stationary, `max(N, R)` and `2R + C + N - 2` for input stationary,
//! `ceil(K / dot_width)` and the same for a vector engine; where the SRAMs demand that M or N be cut, they are those
//! of the part.
//! `sram` is the time in which a fold's operands leave their SRAMs, each through a port of its own. `load` and
//! `store` are a tile's even share of what the layer moves from and to the outside ([`Traffic`]), in whole bursts, at
//! the rate of the memory: at most so many bursts are on their way at a time, each for `latency` cycles. What is left
//! with a memory that takes no time, `(F - 1) * interval + span + drain`, are the compute cycles; the rest stalls.

use super::Schedule;
use super::mapping::Fold;
use super::traffic::Traffic;
use crate::Memory;

pub(super) fn schedule(fold: &Fold, traffic: &Traffic, memory: &Memory) -> Schedule {
    let (count, groups, of_tile) = (fold.count as u64, fold.groups as u64, fold.of_tile as u64);
    let folds = count * groups;
    if folds == 0 {
        return Schedule::default();
    }
    let share = of_tile as f64 / folds as f64;
    let outside = |bytes: f64| cycles(bytes * share, memory.dram_rate());
    let (load, store) = (outside(traffic.load), outside(traffic.store));
    let sram = traffic.reads.map(|bytes| cycles(bytes, memory.sram_bytes_per_cycle)).into_iter().max();
    let sram = sram.unwrap_or(0);
    let last = (fold.span() as u64 + fold.drain as u64).max(sram);
    let next = (fold.interval as u64).max(sram);
    let latency = memory.dram_latency_cycles;
    let compute = compute_cycles(fold);
    if memory.double_buffer {
        let period = next.max(load.div_ceil(of_tile)).max(store.div_ceil(of_tile));
        return Schedule {
            lead: latency + load,
            fold: period,
            of_tile,
            tile: of_tile * period,
            group: count * period,
            last: u64::MAX,
            compute,
            cycles: latency + load + (folds - 1) * period + last + store,
        };
    }
    let tile = load + (of_tile - 1) * next + last + store;
    let group = count.div_ceil(of_tile) * tile;
    let cycles = latency + groups * group;
    Schedule { lead: latency + load, fold: next, of_tile, tile, group, last: u64::MAX, compute, cycles }
}

/// Cycles with a memory that takes no time: folds as close as they can follow each other, the last one drained.
pub(super) fn compute_cycles(fold: &Fold) -> u64 {
    let folds = (fold.count * fold.groups) as u64;
    folds.saturating_sub(1) * fold.interval as u64 + fold.span() as u64 + fold.drain as u64
}

fn cycles(bytes: f64, bytes_per_cycle: f64) -> u64 {
    (bytes / bytes_per_cycle).ceil() as u64
}
