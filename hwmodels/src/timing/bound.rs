//! Names the resource that limits the speed of a layer.

use std::fmt;

use super::Cost;
use crate::{Accelerator, Memory};

/// Bottleneck of a layer: the resource that saves the most cycles when it becomes twice as fast.
///
/// Four resources are compared ([`Doubled`]): the array, the ports of both operands
/// (`memory.sram_bytes_per_cycle`), the port of the sums (`memory.accumulator_bytes_per_cycle`) and the
/// external memory. Sizes of memories and of the array are not compared, because they also change the amount
/// of data moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// The array, if at least half of its products in the compute cycles belong to the layer.
    Compute,
    /// The array, if less than half of its products in the compute cycles belong to the layer: the mapping
    /// wastes it.
    Mapping,
    /// Ports of the operands; the port of the activations is busier.
    ActivationPort,
    /// Ports of the operands; the port of the weights is busier.
    WeightPort,
    /// Port of the sums that wait in their SRAM.
    AccumulatorPort,
    /// External memory.
    Dram,
}

/// Cycles of a layer when one resource is twice as fast, each with the tiles that are best in that case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Doubled {
    /// The array: all its work takes half the cycles.
    pub array: u64,
    /// Ports of activations and weights.
    pub operand_ports: u64,
    /// Port of the sums.
    pub accumulator_port: u64,
    /// External memory: twice the rate, half the latency.
    pub dram: u64,
}

impl Bound {
    /// All bounds, in the order in which tables list them.
    pub const ALL: [Self; 6] = [
        Self::Compute,
        Self::Mapping,
        Self::ActivationPort,
        Self::WeightPort,
        Self::AccumulatorPort,
        Self::Dram,
    ];

    /// Returns the bottleneck of a layer with this cost.
    pub fn of(cost: &Cost) -> Self {
        Self::of_all([cost])
    }

    /// Returns the bottleneck of layers that run one after the other: the resource that leaves the fewest
    /// total cycles when it is twice as fast. A tie goes to the resource that is busy longer, then to the
    /// first of [`ALL`](Self::ALL).
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

    /// Returns the name used in tables.
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

    /// Returns a description in words.
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

    /// Returns the accelerator key that sets the speed of the resource; `None` for the array, whose speed is
    /// set by the clock.
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
    /// Returns the doubled cycles for a convention that counts the array alone.
    pub(super) fn without_memories(cycles: u64) -> Self {
        Self { array: cycles.div_ceil(2), operand_ports: cycles, accumulator_port: cycles, dram: cycles }
    }

    /// Evaluates `cycles` on accelerators with other memories. A faster array is modelled as memories that
    /// are half as fast, followed by halving the cycles.
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

    /// Returns the cycles when the resource of `bound` is twice as fast.
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

    /// Returns a cost from ideal and compute cycles, busy cycles of the ports and of the external memory, and
    /// cycles with the array, the operand ports, the accumulator port and the external memory twice as fast.
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
        // Ties go to the resource that is busy longer, then to the first.
        check(cost([50, 100], [101, 0, 0], 102, [100; 4]), Bound::Dram);
        check(cost([50, 100], [100, 0, 0], 100, [100; 4]), Bound::Compute);
    }

    /// A network is bound by the resource that helps all layers together, which need not bind any single
    /// layer.
    #[test]
    fn layers_together() {
        let first = cost([50, 100], [0; 3], 0, [50, 60, 100, 100]);
        let second = cost([50, 100], [9, 0, 0], 0, [100, 60, 100, 50]);
        assert_eq!([&first, &second].map(Bound::of), [Bound::Compute, Bound::Dram]);
        assert_eq!(Bound::of_all([&first, &second]), Bound::ActivationPort);
    }
}
