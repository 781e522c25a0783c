//! How long one inference takes.

use guardbit_hwmodels::{ArrayKind, MacLayer, Memory, Program};
use serde::{Deserialize, Serialize};

use crate::numbers::rounded;

/// How long the accelerated layers of one inference take, one after the other. What the host runs is not counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NetworkTiming {
    /// How cycles are counted: `overlapped` and `ethos_u` with the memory's stalls, `scalesim_v3` without.
    pub convention: String,
    /// Cycles.
    pub cycles: u64,
    /// Those of them in which the array waits for memory.
    pub stall_cycles: u64,
    /// Those of them that would be left with a memory outside that takes no time.
    pub stall_sram_cycles: u64,
    /// The others: those that wait for the memory outside.
    pub stall_dram_cycles: u64,
    /// Time at the clock, in microseconds.
    pub latency_us: f64,
    /// Inferences per second, one after the other; `None` if they take no time.
    pub throughput_per_s: Option<f64>,
    /// Inferences per second where each layer has an array of its own and all work at once, as in arrays of kind
    /// `folded`: bounded by the slowest layer. `None` for other arrays.
    pub pipelined_per_s: Option<f64>,
    /// What the SRAMs hold at a time, layer after layer.
    pub tiles: Vec<TileRecord>,
    /// Products of the accelerated layers, padding included.
    #[serde(default)]
    pub macs: u64,
    /// Products that the arrays can make in a cycle.
    #[serde(default)]
    pub peak_macs_per_cycle: u64,
    /// Bytes per cycle from and to the outside, at most.
    #[serde(default)]
    pub dram_bytes_per_cycle: f64,
    /// Operations that the host runs, whose time is not counted.
    #[serde(default)]
    pub host: Vec<HostRecord>,
}

/// An operation that the host runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Index over all operations of the graph.
    pub index: usize,
    /// Short name.
    pub name: String,
    /// The operation.
    pub op: String,
    /// Elements of its output.
    pub elements: usize,
}

impl HostRecord {
    /// Those of a program, in order.
    fn all(program: &Program) -> Vec<Self> {
        let graph = &program.graph;
        let hosted = graph.nodes_with_ids().filter(|(node, _)| program.mac_layer(*node).is_none());
        let record = |(node, own): (guardbit_graph::NodeId, &guardbit_graph::Node)| Self {
            index: node.index(),
            name: graph.short_name(node).to_owned(),
            op: own.op.name().to_owned(),
            elements: graph.tensor(own.output).ty.len(),
        };
        hosted.map(record).collect()
    }

    /// How many there are of each kind: `add 3, softmax 1`.
    pub fn counted(hosted: &[Self]) -> String {
        let mut kinds: Vec<(&str, usize)> = Vec::new();
        for one in hosted {
            match kinds.iter_mut().find(|(op, _)| *op == one.op) {
                Some((_, count)) => *count += 1,
                None => kinds.push((&one.op, 1)),
            }
        }
        kinds.iter().map(|(op, count)| format!("{op} {count}")).collect::<Vec<_>>().join(", ")
    }
}

/// What the SRAMs hold at a time in one layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TileRecord {
    /// Index of the layer over all operations of the graph.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Short name of the layer.
    pub name: String,
    /// Output pixels.
    pub pixels: usize,
    /// Output channels, of one group and one core.
    pub channels: usize,
    /// Products per dot product.
    pub terms: usize,
    /// Tiles of the layer, of one core.
    pub count: usize,
    /// `channels_outer`: all pixels of some channels, then the next channels; `pixels_outer`: the other way round.
    pub order: String,
    /// Bytes of activations.
    pub activation_bytes: u64,
    /// Bytes of weights.
    pub weight_bytes: u64,
    /// Bytes of sums.
    pub sum_bytes: u64,
    /// Whether all of it fits the memories, twice with double buffering.
    pub fits: bool,
}

impl TileRecord {
    /// The tile of a layer.
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
    /// The sum over the accelerated layers of a program, and the greatest of them.
    pub fn new(program: &Program) -> Self {
        let sum = |of: fn(&MacLayer) -> u64| program.mac_layers().map(of).sum();
        let times = || program.mac_layers().map(|layer| layer.timing.cost.microseconds);
        // A sum of none would be -0.
        let total = times().fold(0.0, |total, time| total + time);
        let array = program.accelerator.array;
        let folded = program.accelerator.array.kind == ArrayKind::Folded;
        Self {
            convention: program.accelerator.timing.convention.name().to_owned(),
            cycles: sum(|layer| layer.timing.cycles),
            stall_cycles: sum(|layer| layer.timing.cost.stall_cycles),
            stall_sram_cycles: sum(|layer| layer.timing.cost.stall_sram_cycles),
            stall_dram_cycles: sum(|layer| layer.timing.cost.stall_dram_cycles),
            // A clock makes no finer figures than a picosecond.
            latency_us: rounded(total, 6),
            throughput_per_s: per_second(total),
            tiles: program.mac_layers().map(TileRecord::new).collect(),
            macs: sum(|layer| layer.timing.cost.macs),
            peak_macs_per_cycle: [array.rows, array.cols, array.dot_width, array.cores]
                .into_iter()
                .fold(1, |all, size| all.saturating_mul(size as u64)),
            dram_bytes_per_cycle: outside_rate(&program.accelerator.memory),
            host: HostRecord::all(program),
            pipelined_per_s: if folded { per_second(times().fold(0.0, f64::max)) } else { None },
        }
    }
}

/// Bytes per cycle from the outside: those of the port, or of the bursts that can be on their way (Little's law).
fn outside_rate(memory: &Memory) -> f64 {
    let bursts = memory.dram_outstanding_bursts.filter(|_| memory.dram_latency_cycles > 0);
    let bound =
        bursts.map(|bursts| (bursts * memory.dram_burst_bytes) as f64 / memory.dram_latency_cycles as f64);
    bound.map_or(memory.dram_bytes_per_cycle, |bound| bound.min(memory.dram_bytes_per_cycle))
}

/// How often something of that many microseconds happens in a second.
fn per_second(microseconds: f64) -> Option<f64> {
    (microseconds > 0.0).then(|| rounded(1e6 / microseconds, 3))
}
