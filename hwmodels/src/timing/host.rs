//! Time of what the host runs: the slower of its arithmetic and its memory, operation after operation.

use guardbit_graph::Work;

use super::rate::{BYTE, Rate, scaled};
use crate::Accelerator;

/// What an operation takes on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostTime {
    /// What there is to do.
    pub work: Work,
    /// Cycles of the accelerator's clock, so that they can be added to those of its layers.
    pub cycles: u64,
    /// What takes them.
    pub bound: HostBound,
}

/// What an operation on the host waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostBound {
    /// Its lanes.
    Lanes,
    /// Its memory.
    Memory,
    /// Nothing: it takes no time.
    Nothing,
}

impl HostBound {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lanes => "lanes",
            Self::Memory => "memory",
            Self::Nothing => "nothing",
        }
    }
}

impl HostTime {
    /// The time of some work on the host of an accelerator:
    /// `max(ceil(operations / (lanes * ops_per_cycle)), ceil(bytes / bytes_per_cycle))` of its cycles, as cycles of the
    /// accelerator, rounded up; [`u64::MAX`] if they are more.
    pub fn new(accelerator: &Accelerator, work: Work) -> Self {
        let host = &accelerator.host;
        // An operation passes as a byte does.
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
