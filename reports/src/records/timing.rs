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
        let total: f64 = times().sum();
        let folded = program.accelerator.array.kind == ArrayKind::Folded;
        Self {
            convention: program.accelerator.timing.convention.name().to_owned(),
            cycles: sum(|layer| layer.timing.cycles),
            stall_cycles: sum(|layer| layer.timing.cost.stall_cycles),
            stall_sram_cycles: sum(|layer| layer.timing.cost.stall_sram_cycles),
            stall_dram_cycles: sum(|layer| layer.timing.cost.stall_dram_cycles),
            latency_us: rounded(total, 6),
            throughput_per_s: per_second(total),
            tiles: program.mac_layers().map(TileRecord::new).collect(),
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
