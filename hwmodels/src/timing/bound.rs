//! What keeps a layer from being faster.

use std::fmt;

use super::Cost;
use crate::{Accelerator, Memory};

/// What a layer waits for most: the resource that shortens it most if it is twice as fast.
///
/// Four resources are compared ([`Doubled`]): the array, the ports of both operands (`memory.sram_bytes_per_cycle`), the port of the
/// sums (`memory.accumulator_bytes_per_cycle`) and the memory outside. Sizes of memories and of the array are not compared:
/// they change what is moved as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The array, of whose products in the compute cycles half or more are the layer's.
    Compute,
    /// The array, of whose products in the compute cycles less than half are the layer's: how the layer lies on it.
    Mapping,
    /// The ports of the operands; that of the activations is busier.
    ActivationPort,
    /// The ports of the operands; that of the weights is busier.
    WeightPort,
    /// The port of the sums that wait in their SRAM.
    AccumulatorPort,
    /// The memory outside.
    Dram,
}

/// Cycles of a layer of which one resource is twice as fast, with the tiles that are best then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Doubled {
    /// The array: everything that it does takes half the cycles.
    pub array: u64,
    /// The ports of activations and weights.
    pub operand_ports: u64,
    /// The port of sums.
    pub accumulator_port: u64,
    /// The memory outside: twice the rate, half the latency.
    pub dram: u64,
}

impl Bound {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::Compute,
        Self::Mapping,
        Self::ActivationPort,
        Self::WeightPort,
        Self::AccumulatorPort,
        Self::Dram,
    ];

    /// Returns what binds a layer with this cost.
    pub fn of(cost: &Cost) -> Self {
        Self::of_all([cost])
    }

    /// Returns what binds layers that run one after the other: the resource that leaves the fewest cycles in all of them
    /// together when it is twice as fast. Of equals the one that is busy for longer, then the first of [`ALL`](Self::ALL).
    pub fn of_all<'a>(costs: impl IntoIterator<Item = &'a Cost>) -> Self {
        let mut all = Cost::default();
        for cost in costs {
            all.add(cost);
        }
        let Cost { doubled, port_cycles: [activations, weights, sums], .. } = all;
        let array = if all.ideal_cycles.saturating_mul(2) >= all.compute_cycles {
            Self::Compute
        } else {
            Self::Mapping
        };
        let operands = if activations >= weights { Self::ActivationPort } else { Self::WeightPort };
        let resources = [
            (array, doubled.array, all.compute_cycles),
            (operands, doubled.operand_ports, activations.max(weights)),
            (Self::AccumulatorPort, doubled.accumulator_port, sums),
            (Self::Dram, doubled.dram, all.dram_cycles),
        ];
        let least = resources.into_iter().min_by_key(|&(_, cycles, busy)| (cycles, std::cmp::Reverse(busy)));
        least.map_or(array, |(bound, ..)| bound)
    }

    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Mapping => "mapping",
            Self::ActivationPort => "activation_port",
            Self::WeightPort => "weight_port",
            Self::AccumulatorPort => "accumulator_port",
            Self::Dram => "dram",
        }
    }

    /// What it is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Compute => "products",
            Self::Mapping => "mapping to the array",
            Self::ActivationPort => "activation port",
            Self::WeightPort => "weight port",
            Self::AccumulatorPort => "sum port",
            Self::Dram => "external memory",
        }
    }

    /// The key of the accelerator that says how fast the resource is; `None` for the array, whose speed is that of the clock.
    pub fn key(self) -> Option<&'static str> {
        match self {
            Self::Compute | Self::Mapping => None,
            Self::ActivationPort | Self::WeightPort => Some("memory.sram_bytes_per_cycle"),
            Self::AccumulatorPort => Some("memory.accumulator_bytes_per_cycle"),
            Self::Dram => Some("memory.dram_bytes_per_cycle"),
        }
    }
}

impl Doubled {
    /// Where a convention counts the cycles of the array alone.
    pub(super) fn without_memories(cycles: u64) -> Self {
        Self { array: cycles.div_ceil(2), operand_ports: cycles, accumulator_port: cycles, dram: cycles }
    }

    /// What `cycles` says of accelerators with other memories. An array that is twice as fast sees memories that are half as fast.
    pub(super) fn measured(accelerator: &Accelerator, cycles: impl Fn(&Accelerator) -> u64) -> Self {
        let with = |memory: Memory| cycles(&Accelerator { memory, ..accelerator.clone() });
        let memory = accelerator.memory;
        Self {
            array: with(Memory {
                sram_bytes_per_cycle: memory.sram_bytes_per_cycle / 2.0,
                accumulator_bytes_per_cycle: memory.accumulator_bytes_per_cycle / 2.0,
                dram_bytes_per_cycle: memory.dram_bytes_per_cycle / 2.0,
                dram_latency_cycles: memory.dram_latency_cycles.saturating_mul(2),
                ..memory
            })
            .div_ceil(2),
            operand_ports: with(Memory { sram_bytes_per_cycle: memory.sram_bytes_per_cycle * 2.0, ..memory }),
            accumulator_port: with(Memory {
                accumulator_bytes_per_cycle: memory.accumulator_bytes_per_cycle * 2.0,
                ..memory
            }),
            dram: with(Memory {
                dram_bytes_per_cycle: memory.dram_bytes_per_cycle * 2.0,
                dram_latency_cycles: memory.dram_latency_cycles.div_ceil(2),
                ..memory
            }),
        }
    }

    /// Cycles with the resource of a bound twice as fast.
    pub fn of(&self, bound: Bound) -> u64 {
        match bound {
            Bound::Compute | Bound::Mapping => self.array,
            Bound::ActivationPort | Bound::WeightPort => self.operand_ports,
            Bound::AccumulatorPort => self.accumulator_port,
            Bound::Dram => self.dram,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With so many ideal and compute cycles, cycles in which ports and memory outside are busy, and cycles with array, operand
    /// ports, accumulator port and memory outside twice as fast.
    fn cost([ideal, array]: [u64; 2], port_cycles: [u64; 3], outside: u64, doubled: [u64; 4]) -> Cost {
        let [of_array, operand_ports, accumulator_port, dram] = doubled;
        Cost {
            ideal_cycles: ideal,
            compute_cycles: array,
            port_cycles,
            dram_cycles: outside,
            doubled: Doubled { array: of_array, operand_ports, accumulator_port, dram },
            ..Cost::default()
        }
    }

    #[test]
    fn what_helps_most_bounds() {
        let check = |cost: Cost, bound: Bound| assert_eq!(Bound::of(&cost), bound, "{cost:?}");
        check(cost([50, 100], [0; 3], 0, [60, 100, 100, 100]), Bound::Compute);
        check(cost([49, 100], [0; 3], 0, [60, 100, 100, 100]), Bound::Mapping);
        check(cost([50, 100], [90, 80, 0], 0, [60, 59, 100, 100]), Bound::ActivationPort);
        check(cost([50, 100], [80, 90, 0], 0, [60, 59, 100, 100]), Bound::WeightPort);
        check(cost([50, 100], [0; 3], 0, [60, 100, 59, 100]), Bound::AccumulatorPort);
        check(cost([50, 100], [0; 3], 0, [60, 100, 100, 59]), Bound::Dram);
        // Of equals that which is busy for longer, then the first.
        check(cost([50, 100], [101, 0, 0], 102, [100; 4]), Bound::Dram);
        check(cost([50, 100], [100, 0, 0], 100, [100; 4]), Bound::Compute);
    }

    /// A network is bound by what helps all layers together, which need not bind any of them.
    #[test]
    fn layers_together() {
        let first = cost([50, 100], [0; 3], 0, [50, 60, 100, 100]);
        let second = cost([50, 100], [9, 0, 0], 0, [100, 60, 100, 50]);
        assert_eq!([&first, &second].map(Bound::of), [Bound::Compute, Bound::Dram]);
        assert_eq!(Bound::of_all([&first, &second]), Bound::ActivationPort);
    }
}
