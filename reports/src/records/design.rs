//! The accelerator as a page draws it, and what every layer moves and takes on it.

use guardbit_hwmodels::timing::Moved;
use guardbit_hwmodels::{Accelerator, Program, Step, Terms, TimedLayer};
use serde::{Deserialize, Serialize};

use crate::Width;
use crate::tables::register;

/// Accelerator of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DesignRecord {
    /// Clock in MHz.
    pub clock_mhz: f64,
    /// Rows of an array.
    pub rows: usize,
    /// Columns of an array.
    pub cols: usize,
    /// Products that a processing element adds per step.
    pub dot_width: usize,
    /// Number of arrays.
    pub cores: usize,
    /// Operand that stays in the array.
    pub dataflow: String,
    /// KiB of the SRAMs for activations, weights and sums.
    pub sram_kib: [f64; 3],
    /// Bytes per cycle between these SRAMs and the array.
    pub port_bytes: [f64; 3],
    /// Bytes per cycle of the external memory.
    pub dram_bytes: f64,
    /// Cycles before its first byte.
    pub dram_latency: u64,
    /// Whether the next tile is loaded while the current one is computed.
    pub double_buffer: bool,
    /// Accumulation levels, innermost first.
    pub levels: Vec<LevelDesign>,
    /// Accumulation of floating-point products, in few and in more words, if the accelerator has it.
    pub float: Option<[String; 2]>,
    /// 32-bit elements that the host processes in parallel.
    pub host_lanes: usize,
    /// Layers on the accelerator, in order of execution.
    pub layers: Vec<LayerDesign>,
}

/// Accumulation level of an accelerator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelDesign {
    /// Its name.
    pub name: String,
    /// How it reduces a run, e.g. `serial`.
    pub reduce: String,
    /// Values that one run adds; `None` for all.
    pub terms: Option<usize>,
    /// Width.
    pub bits: Width,
    /// Overflow mode; `None` if it cannot overflow.
    pub overflow: Option<String>,
}

/// What one layer moves and takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerDesign {
    /// Index of the layer over all operations of the graph.
    pub index: usize,
    /// Stages of its datapath in words, in the order of the data.
    pub stages: Vec<String>,
    /// Busy cycles of the ports of activations, weights and sums.
    pub port_cycles: [u64; 3],
    /// Bytes per inference along every path: activations, weights, sums and outputs between SRAM and array, then
    /// activations, weights, constants and outputs between the chip and external memory.
    pub moved_bytes: [u64; 8],
    /// Number of its tiles, over all groups.
    pub tiles: u64,
    /// Cycles in which tiles start, at most 60: if there are more tiles, every n-th starts here.
    pub tile_starts: Vec<u64>,
}

/// Greatest number of starts of tiles of a layer.
pub const MOST_STARTS: u64 = 60;

/// Paths of the data, in the order of [`LayerDesign::moved_bytes`].
pub const PATHS: [&str; 8] = [
    "activations from SRAM",
    "weights from SRAM",
    "sums to and from SRAM",
    "outputs to SRAM",
    "activations from DRAM",
    "weights from DRAM",
    "constants from DRAM",
    "outputs to DRAM",
];

impl DesignRecord {
    /// Returns the record of a program.
    pub fn new(program: &Program) -> Self {
        let stages = program.steps.iter().filter_map(|step| match step {
            Step::Host(_) => None,
            Step::Mac(layer) => Some(layer.datapath.stages()),
            Step::Float(layer) => Some(layer.accumulation.stages()),
        });
        let layers =
            program.timed_layers().zip(stages).map(|(layer, stages)| LayerDesign::new(&layer, stages));
        let layers = layers.collect();
        Self { layers, ..Self::of(&program.accelerator) }
    }

    /// Returns the record of an accelerator without layers.
    pub fn of(accelerator: &Accelerator) -> Self {
        let Accelerator { array, memory, datapath, clock_mhz, host, .. } = accelerator;
        let level = |level: &guardbit_hwmodels::Level| {
            let (bits, overflow) = register(level.register);
            let terms = match level.terms {
                Terms::Count(count) => Some(count),
                Terms::All => None,
            };
            LevelDesign { name: level.name.clone(), reduce: level.reduce.to_string(), terms, bits, overflow }
        };
        let operands = memory.sram_bytes_per_cycle;
        Self {
            clock_mhz: *clock_mhz,
            rows: array.rows,
            cols: array.cols,
            dot_width: array.dot_width,
            cores: array.cores,
            dataflow: accelerator.dataflow.to_string(),
            sram_kib: [memory.activation_kib, memory.weight_kib, memory.accumulator_kib],
            port_bytes: [operands, operands, memory.accumulator_bytes_per_cycle],
            dram_bytes: memory.dram_bytes_per_cycle,
            dram_latency: memory.dram_latency_cycles,
            double_buffer: memory.double_buffer,
            levels: datapath.levels.iter().map(level).collect(),
            float: accelerator.float.map(|float| [float.short(), float.to_string()]),
            host_lanes: host.lanes,
            layers: Vec::new(),
        }
    }
}

impl LayerDesign {
    fn new(layer: &TimedLayer<'_>, stages: Vec<String>) -> Self {
        let cost = &layer.timing.cost;
        let Moved {
            activations,
            weights,
            sums,
            outputs,
            loaded_activations,
            loaded_weights,
            loaded_constants,
            stored,
        } = cost.moved;
        let moved = [
            activations,
            weights,
            sums,
            outputs,
            loaded_activations,
            loaded_weights,
            loaded_constants,
            stored,
        ];
        let spans = layer.timing.spans(MOST_STARTS);
        Self {
            index: layer.node.index(),
            stages,
            port_cycles: cost.port_cycles,
            tiles: layer.timing.tiles(),
            tile_starts: spans.tiles.iter().map(|span| span.cycles.start).collect(),
            moved_bytes: moved.map(|bits| u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)),
        }
    }
}
