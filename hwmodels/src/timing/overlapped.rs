//! Folds that follow each other without draining the array, and memory that may be too slow for them.
//!
//! With F folds over all groups in T tiles:
//!
//! ```text
//! double buffering:  cycles = latency + load / T + max(steady(1), load - load / T, store - store / S) + last + store / S
//! without:           cycles = latency + load + steady(T) + T * last + store
//! steady(n) = max(intervals - n * interval, (F - n) / F * sram)
//! last      = max(span + drain, sram / F)           filling and draining included
//! ```
//!
//! `intervals` is the sum over all folds of the least distance to the next one, `interval` the greatest of them, and
//! `span` the array's own: `max(K, r)` and `K + R + C - 2` for output stationary, `max(M, r)` and `2R + C + M - 2` for
//! weight stationary, `max(N, r)` and `2R + C + N - 2` for input stationary, `ceil(K / dot_width)` and the same for a
//! vector engine, with r of R rows in use in the fold; where the SRAMs demand that M or N be cut, they are those of the
//! part.
//!
//! `sram` is the time in which all operands leave their SRAMs, each through a port of its own, and sums enter and leave
//! theirs. `load` and `store` are what the layer moves from and to the outside ([`Traffic`]), in whole bursts, at the
//! rate of the memory: at most so many bursts are on their way at a time, each for `latency` cycles; S are the tiles
//! that hold complete sums. What is left with memories that take no time, `intervals - interval + span + drain`, are the
//! compute cycles; the rest stalls. Cycles are saturated: a layer that takes more than [`u64::MAX`] takes as many.

use super::Schedule;
use super::mapping::Folds;
use super::rate::Rate;
use super::traffic::Traffic;
use crate::Memory;

pub(super) fn schedule(folds: &Folds, traffic: &Traffic, memory: &Memory) -> Schedule {
    let all = folds.all();
    if all == 0 {
        return Schedule::default();
    }
    let rate = Rate::outside(memory);
    let outside = |bits: u128, shares: u64| rate.cycles(bits, 1, shares);
    let (load, store) = (outside(traffic.load, 1), outside(traffic.store, 1));
    let ports = Ports::new(traffic, memory, all);
    let last = folds.whole().max(ports.cycles(1));
    // Where nothing comes from outside, nothing is waited for.
    let latency = if traffic.load > 0 { memory.dram_latency_cycles } else { 0 };
    let compute = compute_cycles(folds);
    let inside = steady(folds, &ports, 1).saturating_add(last);
    let transfers = if memory.double_buffer { load.max(store) } else { load.saturating_add(store) };
    let busy = [ports.cycles(all), transfers];
    let schedule = |lead: u64, fold: u64, gap: u64, of_group: u64, cycles: u64| Schedule {
        lead: latency.saturating_add(lead),
        fold,
        of_tile: folds.of_tile as u64,
        gap,
        group: (folds.count as u64).saturating_mul(fold).saturating_add(of_group.saturating_mul(gap)),
        last: u64::MAX,
        compute,
        inside,
        busy,
        cycles: latency.saturating_add(cycles),
    };
    if memory.double_buffer {
        let (first, end) =
            (outside(traffic.load, traffic.tiles[0]), outside(traffic.store, traffic.tiles[1]));
        let between = steady(folds, &ports, 1).max(load.saturating_sub(first)).max(store.saturating_sub(end));
        let fold = between.checked_div(all - 1).unwrap_or(last);
        let cycles = [first, between, last, end].into_iter().fold(0, u64::saturating_add);
        return schedule(first, fold, 0, 0, cycles);
    }
    let tiles = folds.tiles();
    let between = steady(folds, &ports, tiles);
    // In their own tiles, folds follow each other; between two tiles the array drains, and the memory has its turn.
    let fold = between.checked_div(all.saturating_sub(tiles)).unwrap_or(folds.interval as u64);
    let (first, end) = (load / tiles, store / tiles);
    let gap = [first, last - fold.min(last), end].into_iter().fold(0, u64::saturating_add);
    let cycles = [load, between, tiles.saturating_mul(last), store].into_iter().fold(0, u64::saturating_add);
    schedule(first, fold, gap, tiles / (folds.groups as u64).max(1), cycles)
}

/// Cycles with memories that take no time: folds as close as they can follow each other, the last one drained.
pub(super) fn compute_cycles(folds: &Folds) -> u64 {
    let last = if folds.all() == 0 { 0 } else { folds.whole() };
    folds.intervals.saturating_sub(folds.interval as u64).saturating_add(last)
}

/// Cycles from the first fold of each tile to the last one's, in `tiles` tiles.
fn steady(folds: &Folds, ports: &Ports, tiles: u64) -> u64 {
    let followers = folds.all().saturating_sub(tiles);
    let least = followers.saturating_mul(folds.steps as u64);
    let intervals = folds.intervals.saturating_sub(tiles.saturating_mul(folds.interval as u64));
    intervals.max(least).max(ports.cycles(followers))
}

/// The ports between the SRAMs and the array.
struct Ports {
    /// Bits of the whole layer, of activations, weights and sums, with the rate of each port.
    each: [(u128, Rate); 3],
    folds: u64,
}

impl Ports {
    fn new(traffic: &Traffic, memory: &Memory, folds: u64) -> Self {
        let operands = Rate::of(memory.sram_bytes_per_cycle);
        let sums = Rate::of(memory.accumulator_bytes_per_cycle);
        let [activations, weights, of_sums] = traffic.reads;
        Self { each: [(activations, operands), (weights, operands), (of_sums, sums)], folds }
    }

    /// Cycles in which the slowest of them serves so many folds.
    fn cycles(&self, folds: u64) -> u64 {
        self.each.iter().map(|(bits, rate)| rate.cycles(*bits, folds, self.folds)).max().unwrap_or(0)
    }
}
