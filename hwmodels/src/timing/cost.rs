//! Cost of a layer: cycles, bytes and time.

use guardbit_graph::Window;

use super::Doubled;
use super::rate::BYTE;
use super::schedule::Schedule;
use super::search::Choice;
use super::sizes::product;
use crate::Array;

/// Cost of one layer in one inference.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// Cycles with ideal memories, with the tiles that are best in that case.
    pub compute_cycles: u64,
    /// Stall cycles: all other cycles.
    pub stall_cycles: u64,
    /// Stall cycles that would remain with an ideal external memory.
    pub stall_sram_cycles: u64,
    /// Stall cycles that wait for the external memory.
    pub stall_dram_cycles: u64,
    /// Cycles of the products alone on an array that is always full.
    pub ideal_cycles: u64,
    /// Cycles in which any port between the SRAMs and the array is busy; 0 if the convention does not count
    /// them.
    pub sram_cycles: u64,
    /// Busy cycles of the ports of activations, weights and sums.
    pub port_cycles: [u64; 3],
    /// Busy cycles of the external memory; 0 if the convention does not count them.
    pub dram_cycles: u64,
    /// Cycles when one resource is twice as fast.
    pub doubled: Doubled,
    /// Products, including padding.
    pub macs: u64,
    /// Products that the array could compute in all cycles.
    pub capacity: u64,
    /// Bytes moved between the chip and external memory.
    pub dram_bytes: u64,
    /// Bytes moved between the SRAMs and the array: operands, outputs, and sums that wait in their SRAM.
    pub sram_bytes: u64,
    /// Time at the clock, in microseconds.
    pub microseconds: f64,
    /// Bits moved along each path.
    pub moved: Moved,
}

/// Bits moved between memories and arrays in one inference of a layer, for all cores. Weights that are
/// activations count as weights between SRAM and array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    /// Activations from their SRAM to the array.
    pub activations: u128,
    /// Weights from their SRAM to the array.
    pub weights: u128,
    /// Sums to and from their SRAM.
    pub sums: u128,
    /// Outputs from the array to the SRAM of activations.
    pub outputs: u128,
    /// Activations loaded from external memory, in whole bursts.
    pub loaded_activations: u128,
    /// Weights loaded from external memory, in whole bursts.
    pub loaded_weights: u128,
    /// Biases and requantization constants loaded from external memory, in whole bursts.
    pub loaded_constants: u128,
    /// Outputs stored to external memory, in whole bursts.
    pub stored: u128,
}

impl Moved {
    /// Returns the bits between the SRAMs and the array.
    pub fn inside(&self) -> u128 {
        [self.activations, self.weights, self.sums, self.outputs].into_iter().fold(0, u128::saturating_add)
    }

    /// Returns the bits loaded from external memory.
    pub fn loaded(&self) -> u128 {
        let all = [self.loaded_activations, self.loaded_weights, self.loaded_constants];
        all.into_iter().fold(0, u128::saturating_add)
    }

    /// Returns the bits between the chip and external memory.
    pub fn outside(&self) -> u128 {
        self.loaded().saturating_add(self.stored)
    }

    /// Returns the bits to and from the SRAM of activations, on both of its sides.
    pub fn activation_sram(&self) -> u128 {
        let all = [self.activations, self.outputs, self.loaded_activations, self.stored];
        all.into_iter().fold(0, u128::saturating_add)
    }

    /// Returns the bits to and from the SRAM of weights, on both of its sides. They include constants on
    /// their way in.
    pub fn weight_sram(&self) -> u128 {
        self.weights.saturating_add(self.loaded_weights).saturating_add(self.loaded_constants)
    }
}

impl Cost {
    pub(super) fn new(
        Choice { schedule, traffic, ports, doubled, .. }: &Choice,
        window: &Window,
        array: Array,
        clock_mhz: f64,
    ) -> Self {
        let per_cycle = product([array.rows, array.cols, array.dot_width]);
        let Schedule { compute, inside, cycles, busy: [sram_cycles, dram_cycles], .. } = *schedule;
        let macs = product([window.dots(), window.terms()]);
        Self {
            compute_cycles: compute,
            stall_cycles: cycles.saturating_sub(compute),
            stall_sram_cycles: inside.saturating_sub(compute),
            stall_dram_cycles: cycles.saturating_sub(inside),
            ideal_cycles: macs.div_ceil(per_cycle.max(1)),
            sram_cycles,
            port_cycles: *ports,
            dram_cycles,
            doubled: *doubled,
            macs,
            capacity: cycles.saturating_mul(per_cycle),
            dram_bytes: bytes(traffic.moved.outside()),
            sram_bytes: bytes(traffic.moved.inside()),
            microseconds: cycles as f64 / clock_mhz,
            moved: traffic.moved,
        }
    }

    /// Adds the cycles of a layer that runs before or after.
    pub(super) fn add(&mut self, other: &Self) {
        let add = |own: &mut u64, more: u64| *own = own.saturating_add(more);
        add(&mut self.compute_cycles, other.compute_cycles);
        add(&mut self.ideal_cycles, other.ideal_cycles);
        add(&mut self.dram_cycles, other.dram_cycles);
        self.port_cycles.iter_mut().zip(other.port_cycles).for_each(|(own, more)| add(own, more));
        add(&mut self.doubled.array, other.doubled.array);
        add(&mut self.doubled.operand_ports, other.doubled.operand_ports);
        add(&mut self.doubled.accumulator_port, other.doubled.accumulator_port);
        add(&mut self.doubled.dram, other.doubled.dram);
    }

    /// Returns the fraction of the array's products that the layer needs, from 0 to 1.
    pub fn utilization(&self) -> f64 {
        if self.capacity == 0 { 0.0 } else { self.macs as f64 / self.capacity as f64 }
    }
}

/// Converts bits to whole bytes.
fn bytes(bits: u128) -> u64 {
    u64::try_from(bits.div_ceil(BYTE)).unwrap_or(u64::MAX)
}
