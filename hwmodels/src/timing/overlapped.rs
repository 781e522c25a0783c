//! Folds that follow each other without draining the array, and stalls from slow memories.
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
//! `intervals` is the sum over all folds of the minimum distance to the next one, and `interval` is the
//! largest of these distances. With r of R rows in use, the minimum distance and `span` are:
//!
//! - output stationary: `max(K, r)` and `K + R + C - 2`
//! - weight stationary: `max(M, r)` and `2R + C + M - 2`
//! - input stationary: `max(N, r)` and `2R + C + N - 2`
//! - vector engine: both `ceil(K / dot_width)`
//!
//! If the SRAMs require that M or N be cut, the size of the part replaces it.
//!
//! `sram` is the time in which all operands leave their SRAMs, each through its own port, and sums enter and
//! leave theirs. `load` and `store` are the data that the layer moves from and to external memory
//! ([`Traffic`]), in whole bursts, at the rate of the memory. The number of outstanding bursts is limited,
//! and each takes `latency` cycles. S is the number of tiles that hold complete sums.
//!
//! Compute cycles are the cycles of the best tiles with ideal memories: `intervals - interval + span + drain`
//! of the tiles with the shortest compute time, and without double buffering the drains of the fewest tiles.
//! The remaining cycles are stalls. Cycles saturate at [`u64::MAX`].

use super::Doubled;
use super::mapping::Folds;
use super::rate::Rate;
use super::schedule::Schedule;
use super::traffic::Traffic;
use crate::Memory;

/// Speed of a memory.
#[derive(Debug, Clone, Copy)]
enum Pace {
    Half,
    AsIs,
    Twice,
    NoTime,
}

/// Paces of operand ports, accumulator port and external memory.
#[derive(Debug, Clone, Copy)]
struct Paces {
    operands: Pace,
    sums: Pace,
    outside: Pace,
}

/// Fewest cycles of a set of tiles when resources are faster.
#[derive(Debug, Clone, Copy)]
pub(super) struct Faster {
    /// Cycles with ideal memories.
    pub compute: u64,
    /// Cycles with an ideal external memory.
    pub inside: u64,
    pub doubled: Doubled,
}

/// Cycles of each resource for its part of a layer. Memories count at half their speed; all other speeds then
/// follow without a second rounding.
pub(super) struct Parts {
    folds: Folds,
    double_buffer: bool,
    /// Number of tiles between which the array drains; at least one.
    tiles: u64,
    latency: u64,
    /// Cycles to load everything, and to load an average tile.
    load: [u64; 2],
    store: [u64; 2],
    /// Cycles of folds that follow others without draining: on the array, and on the ports of activations,
    /// weights and sums.
    follow: u64,
    ports_follow: [u64; 3],
    /// Cycles of a fold that drains.
    last: u64,
    ports_last: [u64; 3],
    /// Cycles of all folds.
    ports: [u64; 3],
}

impl Pace {
    /// Converts cycles at half the pace to cycles at this pace.
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
    /// Returns the minimum of both in each field.
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
            // Without loads there is no latency to wait for.
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

    /// Returns the cycles of the layer.
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

    /// Returns the cycles of all folds that follow others, and of one that drains, including the port traffic
    /// meanwhile.
    fn array_at(&self, paces: Paces) -> (u64, u64) {
        let between = self.follow.max(paces.ports(self.ports_follow));
        (between, self.last.max(paces.ports(self.ports_last)))
    }

    /// Returns the busy cycles of each port.
    pub fn ports(&self) -> [u64; 3] {
        self.ports.map(|cycles| Pace::AsIs.of(cycles))
    }

    pub fn faster(&self) -> Faster {
        let at = |paces| self.cycles_at(paces);
        Faster {
            compute: at(Paces::COMPUTE),
            inside: at(Paces::INSIDE),
            doubled: Doubled {
                // An array that is twice as fast sees memories at half the pace.
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
            transfers: [load, store],
            cycles: self.cycles(),
        };
        if self.double_buffer {
            let between = between.max(load.saturating_sub(first)).max(store.saturating_sub(end));
            return schedule(first, between.checked_div(all - 1).unwrap_or(last), 0, 0);
        }
        let tiles = self.tiles;
        // Within a tile, folds follow each other. Between two tiles the array drains and the memory
        // transfers.
        let fold = between.checked_div(all.saturating_sub(tiles)).unwrap_or(folds.interval as u64);
        let (first, end) = (load / tiles, store / tiles);
        let gap = [first, last - fold.min(last), end].into_iter().fold(0, u64::saturating_add);
        schedule(first, fold, gap, tiles / (folds.groups as u64).max(1))
    }
}

/// Returns the cycles with memories that hold everything and take no time: folds at the minimum distance, and
/// a final drain.
pub(super) fn compute_cycles(folds: &Folds) -> u64 {
    let last = if folds.all() == 0 { 0 } else { folds.whole() };
    folds.intervals.saturating_sub(folds.interval as u64).saturating_add(last)
}

/// Ports between the SRAMs and the array.
struct Ports {
    /// Twice the bits of the whole layer (activations, weights, sums), with the rate of each port.
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

    /// Returns the cycles in which each port serves `folds` folds at half its pace.
    fn cycles(&self, folds: u64) -> [u64; 3] {
        self.each.map(|(bits, rate)| rate.cycles(bits, folds, self.folds))
    }
}
