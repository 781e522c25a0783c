//! Time of a whole inference on the accelerator and its host.

use crate::timing::{Bound, HostTime};
use crate::{Host, Program, Resource, Step};

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
                Step::Float(layer) => (layer.timing.cycles, &mut cycles.accelerator, &mut accelerator_free),
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

/// Resource that bounds an inference whose host and accelerator work one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InferenceBound {
    /// Resource of the accelerator.
    Accelerator(Bound),
    /// Host: its operations and its memory.
    Host,
}

/// Bound of an inference, or of its layers on the accelerator, and the effect of doubling it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// Resource that saves the most cycles if it is twice as fast.
    pub bound: InferenceBound,
    /// Cycles of the accelerator, and of the host if it counts.
    pub cycles: u64,
    /// Cycles with the resource twice as fast.
    pub doubled: u64,
}

impl InferenceBound {
    /// Name of the host in tables.
    pub const HOST: &'static str = "host";

    /// Returns the name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accelerator(bound) => bound.name(),
            Self::Host => Self::HOST,
        }
    }
}

impl Binding {
    /// Returns the bound of the layers on the accelerator, without the host; `None` if they take no time.
    pub fn of_accelerator(program: &Program) -> Option<Self> {
        let costs = || program.timed_layers().map(|layer| &layer.timing.cost);
        let mut layers = costs().peekable();
        layers.peek()?;
        let bound = Bound::of_all(layers);
        let doubled = costs().map(|cost| cost.doubled.of(bound));
        let cycles = InferenceCycles::of(program).accelerator;
        let doubled = doubled.fold(0, u64::saturating_add);
        (cycles > 0).then_some(Self { bound: InferenceBound::Accelerator(bound), cycles, doubled })
    }

    /// Returns the bound of a program, accelerator and host one after the other; `None` if an inference takes
    /// no time.
    pub fn of(program: &Program) -> Option<Self> {
        let InferenceCycles { accelerator, host, .. } = InferenceCycles::of(program);
        let cycles = accelerator.saturating_add(host);
        let quick = Resource::Host.doubled(&program.accelerator);
        let of_host = |accelerator: &crate::Accelerator| {
            let nodes = program.graph.nodes_with_ids().zip(&program.steps);
            let on_host =
                nodes.filter(|(_, step)| matches!(step, Step::Host(host) if *host != Host::OfLayer));
            let takes = |node| HostTime::new(accelerator, program.graph.work(node)).cycles;
            on_host.map(|((node, _), _)| takes(node)).fold(0, u64::saturating_add)
        };
        let host_doubled = quick.map_or(host, |quick| of_host(&quick));
        let of_accelerator = Self::of_accelerator(program).map(|own| Self {
            bound: own.bound,
            cycles,
            doubled: own.doubled.saturating_add(host),
        });
        let of_host =
            Self { bound: InferenceBound::Host, cycles, doubled: accelerator.saturating_add(host_doubled) };
        let all = of_accelerator.into_iter().chain((host > 0).then_some(of_host));
        all.filter(|_| cycles > 0).min_by_key(|binding| binding.doubled)
    }

    /// Returns the cycles with the resource twice as fast, divided by the cycles without.
    pub fn ratio(&self) -> f64 {
        self.doubled as f64 / self.cycles as f64
    }
}
