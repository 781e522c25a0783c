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
//! that hold complete sums. What the best tiles take with memories that take no time (`intervals - interval + span + drain`
//! of the tiles that compute for the least time, and without double buffering the drains of the fewest tiles) are the compute
//! cycles; the rest stalls. Cycles are saturated: a layer that takes more than [`u64::MAX`] takes as many.

use super::mapping::Folds;
use super::rate::Rate;
use super::traffic::Traffic;
use super::{Doubled, Schedule};
use crate::Memory;

/// How fast a memory is.
#[derive(Debug, Clone, Copy)]
enum Pace {
    Half,
    AsIs,
    Twice,
    NoTime,
}

/// The paces of operand ports, accumulator port and memory outside.
#[derive(Debug, Clone, Copy)]
struct Paces {
    operands: Pace,
    sums: Pace,
    outside: Pace,
}

/// The fewest cycles of some tiles, where resources are faster.
#[derive(Debug, Clone, Copy)]
pub(super) struct Faster {
    /// With memories that take no time.
    pub compute: u64,
    /// With a memory outside that takes no time.
    pub inside: u64,
    pub doubled: Doubled,
}

/// What each resource takes for its part of a layer. Cycles of memories are those of memories half as fast, from which all others
/// follow without another rounding.
pub(super) struct Parts {
    folds: Folds,
    double_buffer: bool,
    /// Tiles between which the array drains, one at least.
    tiles: u64,
    latency: u64,
    /// Of everything, and of a tile on average.
    load: [u64; 2],
    store: [u64; 2],
    /// Of folds that follow others without draining: the array, and the ports of activations, weights and sums.
    follow: u64,
    ports_follow: [u64; 3],
    /// Of a fold that drains.
    last: u64,
    ports_last: [u64; 3],
    /// Of all folds.
    ports: [u64; 3],
}

impl Pace {
    /// Of the cycles at half the pace.
    fn of(self, cycles: u64) -> u64 {
        match self {
            Self::Half => cycles,
            Self::AsIs => cycles.div_ceil(2),
            Self::Twice => cycles.div_ceil(4),
            Self::NoTime => 0,
        }
    }
}

impl Paces {
    const AS_THEY_ARE: Self = Self { operands: Pace::AsIs, sums: Pace::AsIs, outside: Pace::AsIs };
    const HALF: Self = Self { operands: Pace::Half, sums: Pace::Half, outside: Pace::Half };
    const INSIDE: Self = Self { outside: Pace::NoTime, ..Self::AS_THEY_ARE };
    const COMPUTE: Self = Self { operands: Pace::NoTime, sums: Pace::NoTime, ..Self::INSIDE };
    const OPERANDS: Self = Self { operands: Pace::Twice, ..Self::AS_THEY_ARE };
    const SUMS: Self = Self { sums: Pace::Twice, ..Self::AS_THEY_ARE };
    const OUTSIDE: Self = Self { outside: Pace::Twice, ..Self::AS_THEY_ARE };

    fn ports(&self, [activations, weights, sums]: [u64; 3]) -> u64 {
        self.operands.of(activations.max(weights)).max(self.sums.of(sums))
    }
}

impl Faster {
    /// The fewer cycles of both, each.
    pub fn least(self, other: Self) -> Self {
        let (a, b) = (self.doubled, other.doubled);
        let doubled = Doubled {
            array: a.array.min(b.array),
            operand_ports: a.operand_ports.min(b.operand_ports),
            accumulator_port: a.accumulator_port.min(b.accumulator_port),
            dram: a.dram.min(b.dram),
        };
        Self { compute: self.compute.min(other.compute), inside: self.inside.min(other.inside), doubled }
    }
}

impl Parts {
    pub fn new(folds: &Folds, traffic: &Traffic, memory: &Memory) -> Self {
        let rate = Rate::outside(memory);
        let outside = |bits: u128, shares: u64| rate.cycles(bits.saturating_mul(2), 1, shares);
        let all = folds.all();
        // With double buffering only the last fold drains.
        let tiles = if memory.double_buffer { 1 } else { folds.tiles().max(1) };
        let followers = all.saturating_sub(tiles);
        let least = followers.saturating_mul(folds.steps as u64);
        let intervals = folds.intervals.saturating_sub(tiles.saturating_mul(folds.interval as u64));
        let ports = Ports::new(traffic, memory, all.max(1));
        Self {
            folds: *folds,
            double_buffer: memory.double_buffer,
            tiles,
            // Where nothing comes from outside, nothing is waited for.
            latency: if traffic.load > 0 { memory.dram_latency_cycles.saturating_mul(2) } else { 0 },
            load: [outside(traffic.load, 1), outside(traffic.load, traffic.tiles[0].max(1))],
            store: [outside(traffic.store, 1), outside(traffic.store, traffic.tiles[1].max(1))],
            follow: intervals.max(least),
            ports_follow: ports.cycles(followers),
            last: folds.whole(),
            ports_last: ports.cycles(1),
            ports: ports.cycles(all),
        }
    }

    /// Cycles of the layer.
    pub fn cycles(&self) -> u64 {
        self.cycles_at(Paces::AS_THEY_ARE)
    }

    fn cycles_at(&self, paces: Paces) -> u64 {
        if self.folds.all() == 0 {
            return 0;
        }
        let (between, last) = self.array_at(paces);
        let [[load, first], [store, end]] =
            [self.load, self.store].map(|parts| parts.map(|cycles| paces.outside.of(cycles)));
        let latency = paces.outside.of(self.latency);
        let parts = if self.double_buffer {
            let between = between.max(load.saturating_sub(first)).max(store.saturating_sub(end));
            [latency, first, between, last, end]
        } else {
            [latency, load, between, self.tiles.saturating_mul(last), store]
        };
        parts.into_iter().fold(0, u64::saturating_add)
    }

    /// Cycles of all folds that follow others, and of one that drains, with what passes the ports meanwhile.
    fn array_at(&self, paces: Paces) -> (u64, u64) {
        let between = self.follow.max(paces.ports(self.ports_follow));
        (between, self.last.max(paces.ports(self.ports_last)))
    }

    /// Cycles in which each port has something to do.
    pub fn ports(&self) -> [u64; 3] {
        self.ports.map(|cycles| Pace::AsIs.of(cycles))
    }

    pub fn faster(&self) -> Faster {
        let at = |paces| self.cycles_at(paces);
        Faster {
            compute: at(Paces::COMPUTE),
            inside: at(Paces::INSIDE),
            doubled: Doubled {
                // Memories are half as fast, seen from an array that is twice as fast.
                array: at(Paces::HALF).div_ceil(2),
                operand_ports: at(Paces::OPERANDS),
                accumulator_port: at(Paces::SUMS),
                dram: at(Paces::OUTSIDE),
            },
        }
    }

    pub fn schedule(&self) -> Schedule {
        let folds = &self.folds;
        let all = folds.all();
        if all == 0 {
            return Schedule::default();
        }
        let (between, last) = self.array_at(Paces::AS_THEY_ARE);
        let as_is = |cycles: u64| Pace::AsIs.of(cycles);
        let ([load, first], [store, end]) = (self.load.map(as_is), self.store.map(as_is));
        let transfers = if self.double_buffer { load.max(store) } else { load.saturating_add(store) };
        let schedule = |lead: u64, fold: u64, gap: u64, of_group: u64| Schedule {
            lead: as_is(self.latency).saturating_add(lead),
            fold,
            of_tile: folds.of_tile as u64,
            gap,
            group: (folds.count as u64).saturating_mul(fold).saturating_add(of_group.saturating_mul(gap)),
            last: u64::MAX,
            compute: self.cycles_at(Paces::COMPUTE),
            inside: self.cycles_at(Paces::INSIDE),
            busy: [self.ports().into_iter().fold(0, u64::max), transfers],
            cycles: self.cycles(),
        };
        if self.double_buffer {
            let between = between.max(load.saturating_sub(first)).max(store.saturating_sub(end));
            return schedule(first, between.checked_div(all - 1).unwrap_or(last), 0, 0);
        }
        let tiles = self.tiles;
        // In their own tiles, folds follow each other; between two tiles the array drains, and the memory has its turn.
        let fold = between.checked_div(all.saturating_sub(tiles)).unwrap_or(folds.interval as u64);
        let (first, end) = (load / tiles, store / tiles);
        let gap = [first, last - fold.min(last), end].into_iter().fold(0, u64::saturating_add);
        schedule(first, fold, gap, tiles / (folds.groups as u64).max(1))
    }
}

/// Cycles with memories that hold everything and take no time: folds as close as they can follow each other, the last one drained.
pub(super) fn compute_cycles(folds: &Folds) -> u64 {
    let last = if folds.all() == 0 { 0 } else { folds.whole() };
    folds.intervals.saturating_sub(folds.interval as u64).saturating_add(last)
}

/// The ports between the SRAMs and the array.
struct Ports {
    /// Twice the bits of the whole layer, of activations, weights and sums, with the rate of each port.
    each: [(u128, Rate); 3],
    folds: u64,
}

impl Ports {
    fn new(traffic: &Traffic, memory: &Memory, folds: u64) -> Self {
        let operands = Rate::of(memory.sram_bytes_per_cycle);
        let sums = Rate::of(memory.accumulator_bytes_per_cycle);
        let [activations, weights, of_sums] = traffic.reads;
        let each = [(activations, operands), (weights, operands), (of_sums, sums)];
        Self { each: each.map(|(bits, rate)| (bits.saturating_mul(2), rate)), folds }
    }

    /// Cycles in which each of them serves so many folds at half its pace.
    fn cycles(&self, folds: u64) -> [u64; 3] {
        self.each.map(|(bits, rate)| rate.cycles(bits, folds, self.folds))
    }
}
