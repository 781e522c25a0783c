//! What keeps a layer from being faster.

use std::fmt;

use super::Cost;

/// What a layer waits for most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Its products: the array works for the longest time, and half of it or more does.
    Compute,
    /// How it lies on the array, which works for the longest time while less than half of it does.
    Mapping,
    /// The ports between the SRAMs and the array.
    Sram,
    /// The memory outside.
    Dram,
}

impl Bound {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Compute, Self::Mapping, Self::Sram, Self::Dram];

    /// Of a layer with this cost: that of array, ports and memory outside which is busy for the most cycles; the first of
    /// equals.
    pub fn of(cost: &Cost) -> Self {
        if cost.dram_cycles > cost.compute_cycles.max(cost.sram_cycles) {
            return Self::Dram;
        }
        if cost.sram_cycles > cost.compute_cycles {
            return Self::Sram;
        }
        if cost.ideal_cycles.saturating_mul(2) >= cost.compute_cycles { Self::Compute } else { Self::Mapping }
    }

    /// The name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Mapping => "mapping",
            Self::Sram => "sram",
            Self::Dram => "dram",
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

    /// Of a layer that keeps array, ports and memory outside busy for so many cycles, of which its products need `ideal`.
    fn check([ideal, array, ports, outside]: [u64; 4], bound: Bound) {
        let cost = Cost {
            ideal_cycles: ideal,
            compute_cycles: array,
            sram_cycles: ports,
            dram_cycles: outside,
            ..Cost::default()
        };
        assert_eq!(Bound::of(&cost), bound, "{cost:?}");
    }

    #[test]
    fn the_first_of_equals_bounds() {
        check([50, 100, 100, 100], Bound::Compute);
        check([49, 100, 100, 100], Bound::Mapping);
        check([50, 100, 101, 101], Bound::Sram);
        check([50, 100, 101, 102], Bound::Dram);
        check([50, 100, 100, 101], Bound::Dram);
    }
}
