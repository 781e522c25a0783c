//! What a layer costs: cycles, bytes, time.

use guardbit_graph::Window;

use super::Schedule;
use super::mapping::product;
use super::rate::BYTE;
use super::traffic::Traffic;
use crate::Array;

/// What one inference costs in one layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Cycles with a memory that takes no time.
    pub compute_cycles: u64,
    /// The other cycles.
    pub stall_cycles: u64,
    /// Those of them that would be left with a memory outside that takes no time.
    pub stall_sram_cycles: u64,
    /// The others: those that wait for the memory outside.
    pub stall_dram_cycles: u64,
    /// Products, padding included.
    pub macs: u64,
    /// Products that the array could have made in all cycles.
    pub capacity: u64,
    /// Bytes between the chip and its outside memory.
    pub dram_bytes: u64,
    /// Bytes between the SRAMs and the array: operands, outputs, and sums that wait in their SRAM.
    pub sram_bytes: u64,
    /// Time at the clock, in microseconds.
    pub microseconds: f64,
}

impl Cost {
    pub(super) fn new(
        schedule: &Schedule,
        traffic: &Traffic,
        window: &Window,
        array: Array,
        clock_mhz: f64,
    ) -> Self {
        let per_cycle = product([array.rows, array.cols, array.dot_width]);
        let Schedule { compute, inside, cycles, .. } = *schedule;
        Self {
            compute_cycles: compute,
            stall_cycles: cycles.saturating_sub(compute),
            stall_sram_cycles: inside.saturating_sub(compute),
            stall_dram_cycles: cycles.saturating_sub(inside),
            macs: product([window.dots(), window.terms()]),
            capacity: cycles.saturating_mul(per_cycle),
            dram_bytes: bytes(traffic.load.saturating_add(traffic.store)),
            sram_bytes: bytes(traffic.sram),
            microseconds: cycles as f64 / clock_mhz,
        }
    }

    /// The part of the array's products that the layer needs, from 0 to 1.
    pub fn utilization(&self) -> f64 {
        if self.capacity == 0 { 0.0 } else { self.macs as f64 / self.capacity as f64 }
    }
}

/// Whole bytes.
fn bytes(bits: u128) -> u64 {
    u64::try_from(bits.div_ceil(BYTE)).unwrap_or(u64::MAX)
}
