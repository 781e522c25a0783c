//! Time of a whole inference on the accelerator and its host.

use crate::{Program, Step};

/// Cycles of one inference, all of them of the accelerator's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InferenceCycles {
    /// Of the layers on the accelerator, one after the other.
    pub accelerator: u64,
    /// Of the operations on the host, one after the other.
    pub host: u64,
    /// Until all of them are done, where both work at the same time: each takes its operations in their order, and each
    /// operation begins when its inputs are made and the one before it on its side has ended.
    pub overlapped: u64,
}

impl InferenceCycles {
    /// Of all of them, one after the other.
    pub fn total(self) -> u64 {
        self.accelerator.saturating_add(self.host)
    }

    /// Those of a program.
    pub fn of(program: &Program) -> Self {
        let mut cycles = Self::default();
        // When tensors are there, and when each side is free.
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
            // What takes no time waits for nobody.
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
