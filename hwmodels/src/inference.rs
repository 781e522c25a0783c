//! Time of a whole inference on the accelerator and its host.

use crate::{Program, Step};

/// Cycles of one inference, in the accelerator's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InferenceCycles {
    /// Cycles of the layers on the accelerator, one after the other.
    pub accelerator: u64,
    /// Cycles of the operations on the host, one after the other.
    pub host: u64,
    /// Cycles of the inference if accelerator and host work at the same time. Each runs its operations in
    /// order, and an operation begins when its inputs are available and the previous operation on its side
    /// has ended.
    pub overlapped: u64,
}

impl InferenceCycles {
    /// Returns the cycles of all operations, one after the other.
    pub fn total(self) -> u64 {
        self.accelerator.saturating_add(self.host)
    }

    /// Returns the cycles of a program.
    pub fn of(program: &Program) -> Self {
        let mut cycles = Self::default();
        // Times at which tensors are available, and at which each side is free.
        let mut made = vec![0u64; program.graph.tensors().len()];
        let [mut accelerator_free, mut host_free] = [0u64; 2];
        for ((id, node), step) in program.graph.nodes_with_ids().zip(&program.steps) {
            let ready = node.inputs.iter().flatten().map(|input| made[input.index()]).max().unwrap_or(0);
            let (takes, sum, free) = match step {
                Step::Mac(layer) => (layer.timing.cycles, &mut cycles.accelerator, &mut accelerator_free),
                Step::Host(_) => {
                    let takes = program.host_time(id).map_or(0, |time| time.cycles);
                    (takes, &mut cycles.host, &mut host_free)
                }
            };
            *sum = sum.saturating_add(takes);
            // An operation that takes no time does not wait for the other operations of its side.
            let end = if takes == 0 { ready } else { ready.max(*free).saturating_add(takes) };
            if takes > 0 {
                *free = end;
            }
            made[node.output.index()] = end;
            cycles.overlapped = cycles.overlapped.max(end);
        }
        cycles
    }
}
