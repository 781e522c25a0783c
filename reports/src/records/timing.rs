//! How long one inference takes.

use guardbit_hwmodels::{ArrayKind, MacLayer, Program};
use serde::{Deserialize, Serialize};

/// How long the accelerated layers of one inference take, one after the other. What the host runs is not counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkTiming {
    /// How cycles are counted: `overlapped` and `ethos_u` with the memory's stalls, `scalesim_v3` without.
    pub convention: String,
    /// Cycles.
    pub cycles: u64,
    /// Those of them in which the array waits for memory.
    pub stall_cycles: u64,
    /// Time at the clock, in microseconds.
    pub latency_us: f64,
    /// Inferences per second, one after the other; `None` if they take no time.
    pub throughput_per_s: Option<f64>,
    /// Inferences per second where each layer has an array of its own and all work at once, as in arrays of kind
    /// `folded`: bounded by the slowest layer. `None` for other arrays.
    pub pipelined_per_s: Option<f64>,
}

impl NetworkTiming {
    /// The sum over the accelerated layers of a program, and the greatest of them.
    pub fn new(program: &Program) -> Self {
        let sum = |of: fn(&MacLayer) -> u64| program.mac_layers().map(of).sum();
        let times = || program.mac_layers().map(|layer| layer.timing.cost.microseconds);
        let total: f64 = times().sum();
        let folded = program.accelerator.array.kind == ArrayKind::Folded;
        Self {
            convention: program.accelerator.timing.name().to_owned(),
            cycles: sum(|layer| layer.timing.cycles),
            stall_cycles: sum(|layer| layer.timing.cost.stall_cycles),
            latency_us: rounded(total, 6),
            throughput_per_s: per_second(total),
            pipelined_per_s: if folded { per_second(times().fold(0.0, f64::max)) } else { None },
        }
    }
}

/// How often something of that many microseconds happens in a second.
fn per_second(microseconds: f64) -> Option<f64> {
    (microseconds > 0.0).then(|| rounded(1e6 / microseconds, 3))
}

/// A clock makes no finer figures than a picosecond, and decimals stay short.
fn rounded(value: f64, decimals: i32) -> f64 {
    let unit = 10f64.powi(decimals);
    (value * unit).round() / unit
}
