//! Time of operations on the host: for each operation, the slower of arithmetic and memory.

use guardbit_graph::Work;

use super::rate::{BYTE, Rate, scaled};
use crate::Accelerator;

/// Time of one operation on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostTime {
    /// Amount of work.
    pub work: Work,
    /// Cycles of the accelerator's clock, comparable with the cycles of its layers.
    pub cycles: u64,
    /// Resource that limits the operation.
    pub bound: HostBound,
}

/// Resource that limits an operation on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostBound {
    /// The lanes.
    Lanes,
    /// The memory.
    Memory,
    /// None: the operation takes no time.
    Nothing,
}

impl HostBound {
    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Memory => "memory",
            Self::Nothing => "nothing",
        }
    }
}

impl HostTime {
    /// Returns the time of `work` on the host of an accelerator: `max(ceil(operations / (lanes *
    /// ops_per_cycle)), ceil(bytes / bytes_per_cycle))` host cycles, converted to cycles of the accelerator
    /// and rounded up. Saturates at [`u64::MAX`].
    pub fn new(accelerator: &Accelerator, work: Work) -> Self {
        let host = &accelerator.host;
        // Operations use the rate arithmetic of bytes.
        let operations = u128::from(work.operations) * BYTE;
        let computing = Rate::of(host.ops_per_cycle).cycles(operations, 1, host.lanes as u64);
        let moving = Rate::of(host.bytes_per_cycle).cycles(u128::from(work.bytes) * BYTE, 1, 1);
        let own = computing.max(moving);
        let [clock, host_clock] =
            [accelerator.clock_mhz, host.clock_mhz.unwrap_or(accelerator.clock_mhz)].map(scaled);
        let cycles = (u128::from(own) * clock).div_ceil(host_clock.max(1));
        Self {
            work,
            cycles: u64::try_from(cycles).unwrap_or(u64::MAX),
            bound: match own {
                0 => HostBound::Nothing,
                _ if computing >= moving => HostBound::Lanes,
                _ => HostBound::Memory,
            },
        }
    }
}
