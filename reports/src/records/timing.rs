//! Time of one inference.

use guardbit_hwmodels::timing::Bound;
use guardbit_hwmodels::{
    ArrayKind, Binding, InferenceBound, InferenceCycles, MacLayer, Memory, Program, TimedLayer,
};
use serde::{Deserialize, Serialize};

use crate::Fraction;
use crate::numbers::{percentage, rounded};
use crate::tables::HostRow;

/// Time of one inference: the layers on the accelerator, and the operations that the host runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkTiming {
    /// Convention by which cycles are counted: `overlapped` and `ethos_u` include stalls of the memory,
    /// `scalesim_v3` does not.
    pub convention: String,
    /// Cycles of the layers on the accelerator, one after the other.
    pub cycles: u64,
    /// Cycles in which the array waits for memory; included in `cycles`.
    pub stall_cycles: u64,
    /// Stall cycles that would remain if external memory took no time.
    pub stall_sram_cycles: u64,
    /// Stall cycles caused by external memory: `stall_cycles` without `stall_sram_cycles`.
    pub stall_dram_cycles: u64,
    /// Cycles of the operations that the host runs, one after the other, in the accelerator's clock.
    #[serde(default)]
    pub host_cycles: u64,
    /// Cycles of one inference if host and accelerator work at the same time, as far as one does not wait for
    /// results of the other.
    #[serde(default)]
    pub overlapped_cycles: u64,
    /// Time of the layers on the accelerator, in microseconds.
    #[serde(default)]
    pub accelerator_us: f64,
    /// Time of the operations that the host runs, in microseconds.
    #[serde(default)]
    pub host_us: f64,
    /// Time of `overlapped_cycles`, in microseconds.
    #[serde(default)]
    pub overlapped_us: f64,
    /// Time of accelerator and host, one operation after the other, in microseconds.
    pub latency_us: f64,
    /// Inferences per second, one after the other; `None` if an inference takes no time.
    pub throughput_per_s: Option<f64>,
    /// Inferences per second if each layer has an array of its own and all arrays work at once, as in arrays
    /// of kind `folded`. It is bounded by the slowest layer, or by the sum of all host operations. `None` for
    /// other arrays.
    pub pipelined_per_s: Option<f64>,
    /// Resource that shortens an inference most if it is twice as fast: one of `bound` in bottlenecks.csv, or
    /// `host`. `None` if an inference takes no time.
    #[serde(default)]
    pub bound: Option<String>,
    /// Cycles of accelerator and host with that resource twice as fast, divided by the cycles without.
    #[serde(default)]
    pub bound_ratio: Option<f64>,
    /// Resource that shortens the layers on the accelerator most if it is twice as fast; equals `bound`
    /// unless the host bounds the inference. `None` if the layers take no time.
    #[serde(default)]
    pub accelerator_bound: Option<String>,
    /// Cycles of the accelerator with that resource twice as fast, divided by the cycles without.
    #[serde(default)]
    pub accelerator_bound_ratio: Option<f64>,
    /// Tile of every layer in the SRAMs, in the order of the layers.
    pub tiles: Vec<TileRecord>,
    /// Products of the accelerated layers, including padding.
    #[serde(default)]
    pub macs: u64,
    /// Greatest number of products per cycle of all arrays.
    #[serde(default)]
    pub peak_macs_per_cycle: u64,
    /// Greatest number of bytes per cycle from and to external memory.
    #[serde(default)]
    pub dram_bytes_per_cycle: f64,
    /// Operations that the host runs.
    #[serde(default)]
    pub host: Vec<HostRow>,
    /// Share of the cycles of an inference that resources save if they are twice as fast, greatest first; the host
    /// is one of them if it bounds the inference.
    #[serde(skip)]
    pub gains: Vec<(String, f64)>,
}

/// Part of a layer that the SRAMs hold at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TileRecord {
    /// Index of the layer over all operations of the graph.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Short name of the layer.
    pub name: String,
    /// Output pixels of a tile.
    pub pixels: usize,
    /// Output channels of a tile, for one group and one core.
    pub channels: usize,
    /// Products per dot product.
    pub terms: usize,
    /// Number of tiles of the layer, for one core.
    pub count: usize,
    /// Order of the tiles. `channels_outer`: all pixels of some channels, then the next channels.
    /// `pixels_outer`: all channels of some pixels, then the next pixels.
    pub order: String,
    /// Bytes of activations.
    pub activation_bytes: u64,
    /// Bytes of weights.
    pub weight_bytes: u64,
    /// Bytes of sums.
    pub sum_bytes: u64,
    /// Whether the tile fits the memories; with double buffering, whether it fits twice.
    pub fits: bool,
}

impl TileRecord {
    /// Returns the tile of a layer.
    pub fn new(layer: &MacLayer) -> Self {
        let tile = &layer.timing.tile;
        let [activation_bytes, weight_bytes, sum_bytes] = tile.bytes.map(|bytes| bytes.ceil() as u64);
        Self {
            index: layer.node.index(),
            layer: layer.name.clone(),
            name: layer.short_name.clone(),
            pixels: tile.pixels,
            channels: tile.channels,
            terms: tile.terms,
            count: tile.count,
            order: tile.order.name().to_owned(),
            activation_bytes,
            weight_bytes,
            sum_bytes,
            fits: tile.fits(),
        }
    }
}

impl NetworkTiming {
    /// Returns the time of a program.
    pub fn new(program: &Program) -> Self {
        let sum = |of: fn(TimedLayer<'_>) -> u64| program.timed_layers().map(of).sum();
        let times = || program.timed_layers().map(|layer| layer.timing.cost.microseconds);
        // The `sum` of an empty iterator is -0.0; `fold` starts at 0.0.
        let accelerator = times().fold(0.0, |total, time| total + time);
        let inference = InferenceCycles::of(program);
        let microseconds = |cycles: u64| cycles as f64 / program.accelerator.clock_mhz;
        let (host, overlapped) = (microseconds(inference.host), microseconds(inference.overlapped));
        let slowest = || times().fold(host, f64::max);
        let array = program.accelerator.array;
        let folded = program.accelerator.array.kind == ArrayKind::Folded;
        let [binding, own] = [Binding::of(program), Binding::of_accelerator(program)];
        Self {
            convention: program.accelerator.timing.convention.name().to_owned(),
            cycles: sum(|layer| layer.timing.cycles),
            host_cycles: inference.host,
            overlapped_cycles: inference.overlapped,
            stall_cycles: sum(|layer| layer.timing.cost.stall_cycles),
            stall_sram_cycles: sum(|layer| layer.timing.cost.stall_sram_cycles),
            stall_dram_cycles: sum(|layer| layer.timing.cost.stall_dram_cycles),
            // Figures finer than a picosecond would be rounding noise.
            accelerator_us: rounded(accelerator, 6),
            host_us: rounded(host, 6),
            overlapped_us: rounded(overlapped, 6),
            latency_us: rounded(accelerator + host, 6),
            throughput_per_s: per_second(accelerator + host),
            bound: binding.map(|binding| binding.bound.name().to_owned()),
            bound_ratio: binding.map(|binding| rounded(binding.ratio(), 6)),
            accelerator_bound: own.map(|binding| binding.bound.name().to_owned()),
            accelerator_bound_ratio: own.map(|binding| rounded(binding.ratio(), 6)),
            tiles: program.mac_layers().map(TileRecord::new).collect(),
            macs: sum(|layer| layer.timing.cost.macs),
            peak_macs_per_cycle: [array.rows, array.cols, array.dot_width, array.cores]
                .into_iter()
                .fold(1, |all, size| all.saturating_mul(size as u64)),
            dram_bytes_per_cycle: outside_rate(&program.accelerator.memory),
            host: HostRow::all(program),
            gains: gains(program),
            pipelined_per_s: if folded { per_second(slowest()) } else { None },
        }
    }
}

/// Returns the share of cycles that resources save if they are twice as fast, greatest first.
fn gains(program: &Program) -> Vec<(String, f64)> {
    let InferenceCycles { accelerator, host, .. } = InferenceCycles::of(program);
    let cycles = accelerator.saturating_add(host);
    let Some(binding) = Binding::of(program) else { return Vec::new() };
    let of_host = (binding.bound == InferenceBound::Host)
        .then(|| (binding.bound.name(), cycles.saturating_sub(binding.doubled)));
    // Names of resources that do not bound the layers; each has two bounds, by what it waits for.
    let resources = [
        (Bound::Compute, "array"),
        (Bound::ActivationPort, "operand ports"),
        (Bound::AccumulatorPort, Bound::AccumulatorPort.name()),
        (Bound::Dram, Bound::Dram.name()),
    ];
    let saved = |bound: Bound| {
        let doubled = program.timed_layers().map(|layer| layer.timing.cost.doubled.of(bound));
        accelerator.saturating_sub(doubled.fold(0, u64::saturating_add))
    };
    let own = Binding::of_accelerator(program)
        .map(|own| (own.bound.name(), own.cycles.saturating_sub(own.doubled)));
    let is_own = |resource: Bound| match own {
        Some((name, _)) => {
            let pairs = [(Bound::Compute, Bound::Mapping), (Bound::ActivationPort, Bound::WeightPort)];
            resource.name() == name
                || pairs.iter().any(|&(one, other)| resource == one && other.name() == name)
        }
        None => false,
    };
    let others = resources.into_iter().filter(|(bound, _)| !is_own(*bound));
    let others = others.map(|(bound, name)| (name, saved(bound)));
    let mut all: Vec<(&str, u64)> = of_host.into_iter().chain(own).chain(others).collect();
    all.sort_by_key(|(_, saved)| std::cmp::Reverse(*saved));
    // Where the host does not bound the inference, its rank among the others is unknown.
    let known = if host > 0 && of_host.is_none() { 1 } else { 2 };
    let share =
        |(name, saved): (&str, u64)| (name.to_owned(), rounded(saved as f64 / cycles.max(1) as f64, 6));
    all.into_iter().filter(|(_, saved)| *saved > 0).take(known).map(share).collect()
}

impl NetworkTiming {
    /// Returns what the two resources that save most if they are twice as fast save, e.g. `dram saves 18.1 % of the
    /// cycles, compute 2 %`; `None` if nothing saves anything.
    pub fn gains_text(&self) -> Option<String> {
        let mut gains = self.gains.iter().map(|(name, gain)| (name, percentage(Fraction::new(*gain))));
        let (name, gain) = gains.next()?;
        let next = gains.next().map_or(String::new(), |(name, gain)| format!(", {name} {gain}"));
        Some(format!("{name} saves {gain} of the cycles{next}"))
    }
}

/// Returns the bytes per cycle from external memory: the least of the port's width and the bursts in flight
/// (Little's law).
fn outside_rate(memory: &Memory) -> f64 {
    let bursts = memory.dram_outstanding_bursts.filter(|_| memory.dram_latency_cycles > 0);
    let bound =
        bursts.map(|bursts| (bursts * memory.dram_burst_bytes) as f64 / memory.dram_latency_cycles as f64);
    bound.map_or(memory.dram_bytes_per_cycle, |bound| bound.min(memory.dram_bytes_per_cycle))
}

/// Returns the rate per second of something that takes `microseconds`, or `None` if that is 0.
fn per_second(microseconds: f64) -> Option<f64> {
    (microseconds > 0.0).then(|| rounded(1e6 / microseconds, 3))
}
