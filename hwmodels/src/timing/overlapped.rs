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
//! `store` are a fold's even share of what the layer moves from and to the outside: every operand once, or once
//! per pass through the array if it does not fit its SRAM (half of it with double buffering); every output
//! once. Sums that spill from the accumulator SRAM are not counted.

use guardbit_graph::Window;

use super::Schedule;
use super::gemm::Widths;
use super::mapping::{Fold, Mapping};
use crate::Memory;

pub(super) fn schedule(mapping: &Mapping, window: &Window, widths: Widths, memory: &Memory) -> Schedule {
    let fold = mapping.fold();
    let folds = fold.count as u64 * fold.groups as u64;
    if folds == 0 {
        return Schedule { lead: 0, fold: 0, group: 0, last: 0, cycles: 0 };
    }
    let traffic = Traffic::new(&fold, window, widths, memory);
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
        cycles: lead + (folds - 1) * period + last + store,
    }
}

/// Bytes that a layer moves.
struct Traffic {
    /// From outside, in the whole layer.
    load: f64,
    /// To the outside, in the whole layer.
    store: f64,
    /// From the SRAMs of activations and weights, in one fold.
    reads: [f64; 2],
}

impl Traffic {
    fn new(fold: &Fold, window: &Window, widths: Widths, memory: &Memory) -> Self {
        let bytes = |elements: usize, bits: u32| elements as f64 * f64::from(bits) / 8.0;
        let activations = bytes(window.batch * window.input.iter().product::<usize>(), widths.activation);
        let weights = bytes(window.terms() * window.channels(), widths.weight);
        let usable = if memory.double_buffer { 512.0 } else { 1024.0 };
        let loaded = |bytes: f64, kib: f64, passes: usize| {
            if bytes <= kib * usable { bytes } else { bytes * passes as f64 }
        };
        Self {
            load: loaded(activations, memory.activation_kib, fold.passes[0])
                + loaded(weights, memory.weight_kib, fold.passes[1]),
            store: bytes(window.dots(), widths.output),
            reads: [bytes(fold.reads[0], widths.activation), bytes(fold.reads[1], widths.weight)],
        }
    }
}

fn cycles(bytes: f64, bytes_per_cycle: f64) -> u64 {
    (bytes / bytes_per_cycle).ceil() as u64
}
