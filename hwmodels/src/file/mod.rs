//! The accelerator file as it is written: what is read from YAML and printed back. Nothing here is checked
//! beyond its type; every key may be missing.

mod bounded;
mod entries;
mod values;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use guardbit_num::{Overflow, Rounding, Scheme};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_yaml::Value;

pub(crate) use bounded::Budget;
pub use bounded::SetMap;
pub(crate) use entries::Entries;
pub(crate) use values::{BiasBits, Bits, Integer, Name, Number, OpName, TermsFile};

use crate::{
    ArrayKind, Axis, BiasPlace, Check, Dataflow, Fixup, OutputFit, Reduce, TimingConvention, ZeroPoint,
};

/// An accelerator that runs quantized networks on narrow accumulators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "guardbit accelerator", extend("required" = ["schema"]))]
pub(crate) struct AcceleratorFile {
    /// Version of this file format: 1. Every file states it.
    #[schemars(range(min = 1, max = 1))]
    pub schema: Option<Integer>,
    /// Name of the accelerator. Default: the name of the file.
    pub name: Option<String>,
    /// One line for lists.
    pub description: Option<String>,
    /// Preset or file (relative to this one) to start from: maps merge key by key, lists replace the whole list there.
    #[schemars(schema_with = "crate::schema::bases")]
    pub extends: Option<String>,
    /// Clock in MHz, 0.000001..=1000000000. Default: 300.
    #[schemars(range(min = 0.000001, max = 1000000000))]
    pub clock_mhz: Option<Number>,
    /// The array of processing elements.
    pub array: Option<ArrayFile>,
    /// Which operand stays in the array; decides when and where things happen, and the accumulation levels if
    /// `accumulation` is missing. Default: output_stationary.
    pub dataflow: Option<Name<Dataflow>>,
    /// Operations that the accelerator runs; the host runs the others exactly. Default: all
    /// multiply-accumulate operations.
    #[serde(default, deserialize_with = "bounded::short")]
    pub offload: Option<Vec<OpName>>,
    /// How operands reach the multiplier.
    pub operands: Option<OperandsFile>,
    /// In which order the products of a dot product are added: axes, slowest first, or a map with `walk`.
    /// Default: [kh, kw, ic].
    pub reduction_order: Option<OrderFile>,
    /// The multiplier's output.
    pub product: Option<ProductFile>,
    /// Accumulation levels, innermost first, 16 at most; the last one takes `all`. Default: derived from the dataflow, all
    /// of them wide enough for everything.
    #[schemars(length(min = 1, max = 16))]
    #[serde(default, deserialize_with = "bounded::short")]
    pub accumulation: Option<Vec<LevelFile>>,
    /// The bias adder.
    pub bias: Option<BiasFile>,
    /// From sums to output codes.
    pub requantize: Option<RequantizeFile>,
    /// How cycles are counted.
    pub timing: Option<TimingFile>,
    /// Memories beside the array.
    pub memory: Option<MemoryFile>,
    /// Lanes that share one adder.
    pub packing: Option<PackingFile>,
    /// Overrides for single layers, by name or index: dotted keys with their values, as
    /// `accumulation.acc.bits: 16`.
    #[schemars(with = "Option<BTreeMap<String, BTreeMap<String, serde_json::Value>>>")]
    pub layers: Option<Entries<Entries<Value>>>,
}

impl AcceleratorFile {
    /// Whether a file may have that key.
    pub fn has_key(key: &str) -> bool {
        static KEYS: LazyLock<Value> =
            LazyLock::new(|| serde_yaml::to_value(AcceleratorFile::default()).unwrap_or_default());
        KEYS.as_mapping().is_some_and(|keys| keys.contains_key(key))
    }
}

/// Size of the array of processing elements: at most 1048576 of them in all cores.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArrayFile {
    /// Rows, 1..=65536. Default: 16.
    #[schemars(range(min = 1, max = 65536))]
    pub rows: Option<Integer>,
    /// Columns, 1..=65536. Default: 16.
    #[schemars(range(min = 1, max = 65536))]
    pub cols: Option<Integer>,
    /// Products that one processing element adds in one step, 1..=65536. Default: 1.
    #[schemars(range(min = 1, max = 65536))]
    pub dot_width: Option<Integer>,
    /// What the lanes of a vector engine hold. outputs: any outputs, in the order of the output tensor. channels:
    /// channels of one pixel, groups one after the other. folded: channels of one pixel, of all groups. block:
    /// rows hold pixels of a small rectangle, columns hold channels. Default: outputs.
    pub kind: Option<Name<ArrayKind>>,
    /// Arrays of this size that share the output channels, 1..=64. Default: 1.
    #[schemars(range(min = 1, max = 64))]
    pub cores: Option<Integer>,
    /// Least number of pixels for which an array of channels keeps its weights, 1..=65536. Default: 1.
    #[schemars(range(min = 1, max = 65536))]
    pub stripe: Option<Integer>,
}

/// How operands reach the multiplier.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperandsFile {
    /// subtract: the multiplier sees codes less their zero points. fold: it sees raw codes, and constants join
    /// the bias. Default: subtract.
    pub zero_point: Option<Name<ZeroPoint>>,
}

/// The order of addition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(with = "OrderShape")]
pub(crate) struct OrderFile {
    /// The axes, slowest first.
    pub axes: Option<Vec<Name<Axis>>>,
    /// How the flattened axes are walked.
    pub walk: Option<Name<WalkKind>>,
    /// Distance of a strided walk.
    pub stride: Option<Integer>,
    /// Length of the blocks into which the input channels are cut.
    pub ic_block: Option<Integer>,
}

/// How a flat sequence is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkKind {
    Forward,
    Reverse,
    Stride,
}

/// The multiplier's output: fitted, then shifted right.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProductFile {
    /// Width, 2..=64, or auto: exact. Default: auto.
    pub bits: Option<Bits>,
    /// What happens to a product that does not fit. Default: saturate.
    pub overflow: Option<Name<Overflow>>,
    /// Whether the top bit is a sign. Default: true.
    pub signed: Option<bool>,
    /// Low bits dropped, 0..=31. Default: 0.
    #[schemars(range(min = 0, max = 31))]
    pub shift: Option<Integer>,
    /// How they are dropped. Default: floor.
    pub round: Option<Name<Rounding>>,
}

/// One accumulation level.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LevelFile {
    /// Name, unique among the levels. Default: acc for a single level, else required.
    pub name: Option<String>,
    /// How a run is reduced. Default: serial.
    pub reduce: Option<Name<Reduce>>,
    /// Length of a run: a number, rows, cols, dot_width or all. Default: all. The last level takes all.
    pub terms: Option<TermsFile>,
    /// Width of the accumulator, 2..=64, or auto: never overflows. Default: auto.
    pub bits: Option<Bits>,
    /// What happens to a sum that does not fit. Default: saturate.
    pub overflow: Option<Name<Overflow>>,
    /// Whether the top bit is a sign. Default: true.
    pub signed: Option<bool>,
    /// Where overflow is looked for: each_add, or hand_over (exact inside, fitted once). Default: each_add.
    pub check: Option<Name<Check>>,
    /// Low bits dropped when the result is handed on, 0..=31. Default: 0.
    #[schemars(range(min = 0, max = 31))]
    pub shift: Option<Integer>,
    /// How they are dropped. Default: floor.
    pub round: Option<Name<Rounding>>,
}

/// The bias adder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BiasFile {
    /// post: after the last level. preload: initial value of the last level. post_requantize: scaled on its
    /// own. Default: post.
    pub at: Option<Name<BiasPlace>>,
    /// Width of the adder, 2..=64, or auto. from_model: 32, and 64 in layers whose bias has 64 bits in the model.
    /// Default: from_model.
    pub bits: Option<BiasBits>,
    /// What happens to a sum that does not fit. Default: saturate.
    pub overflow: Option<Name<Overflow>>,
}

/// From sums to output codes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequantizeFile {
    /// from_model keeps what the model's runtime does; a scheme replaces it. Default: from_model.
    pub scheme: Option<Name<Option<Scheme>>>,
    /// What happens to a result that does not fit the output's dtype, in the exact run too. saturate: clamped. wrap: its
    /// low bits are kept; a fused activation clips before. Default: saturate.
    pub output: Option<Name<OutputFit>>,
}

/// How cycles are counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimingFile {
    /// overlapped: tiles follow each other without draining the array, memory stalls count. scalesim_v3: as
    /// SCALE-Sim 3.0.0 counts compute cycles. ethos_u: as Arm's compiler for Ethos-U55 estimates NPU cycles, with an
    /// array of kind block. Default: overlapped.
    pub convention: Option<Name<TimingConvention>>,
}

/// Memories beside the array.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryFile {
    /// SRAM for activations in KiB, 0.000001..=1000000000; six decimals count. Default: 256.
    #[schemars(range(min = 0.000001, max = 1000000000))]
    pub activation_kib: Option<Number>,
    /// SRAM for weights in KiB, 0.000001..=1000000000; six decimals count. Default: 256.
    #[schemars(range(min = 0.000001, max = 1000000000))]
    pub weight_kib: Option<Number>,
    /// SRAM for sums in KiB, 0.000001..=1000000000; six decimals count. Default: 64.
    #[schemars(range(min = 0.000001, max = 1000000000))]
    pub accumulator_kib: Option<Number>,
    /// Whether the next tile loads while one computes. Default: true.
    pub double_buffer: Option<bool>,
    /// Bytes per cycle between the SRAM of activations and the array, and as many between that of weights and it,
    /// 0.000001..=1000000000; six decimals count. Default: 16.
    #[schemars(range(min = 0.000001, max = 1000000000))]
    pub sram_bytes_per_cycle: Option<Number>,
    /// Bytes per cycle between the SRAM for sums and the array, written and read, 0.000001..=1000000000; six decimals
    /// count. Default: 128.
    #[schemars(range(min = 0.000001, max = 1000000000))]
    pub accumulator_bytes_per_cycle: Option<Number>,
    /// Bytes per cycle from outside, 0.000001..=1000000000; six decimals count. Default: 8.
    #[schemars(range(min = 0.000001, max = 1000000000))]
    pub dram_bytes_per_cycle: Option<Number>,
    /// Cycles before the first byte from outside, 0..=1000000000. Default: 100.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub dram_latency_cycles: Option<Integer>,
    /// Bytes of a burst, 1..=65536: every transfer from and to the outside is rounded up to whole bursts. Default: 1.
    #[schemars(range(min = 1, max = 65536))]
    pub dram_burst_bytes: Option<Integer>,
    /// Bursts that can be on their way at a time, each for dram_latency_cycles, 0..=65536; 0: no limit. Default: 0.
    #[schemars(range(min = 0, max = 65536))]
    pub dram_outstanding_bursts: Option<Integer>,
}

/// Lanes that share one adder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PackingFile {
    /// none: every lane has its own. dsp48e2_int8x2: two output channels share the 48-bit adder of a DSP48E2,
    /// 18 bits for the first of them; the innermost level is that adder. Default: none.
    pub kind: Option<Name<PackingKind>>,
    /// Of dsp48e2_int8x2. none: a negative low lane takes 1 from the high lane. lut: the low lane's sign is added
    /// to the high lane when the lanes leave the adder. Default: lut.
    pub fixup: Option<Name<Fixup>>,
}

/// How lanes share an adder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PackingKind {
    None,
    Dsp48e2Int8x2,
}

/// The two ways to write an order.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum OrderShape {
    /// The axes, slowest first, each once; walked forward.
    Axes(#[schemars(length(equal = 3))] Vec<Name<Axis>>),
    /// Axes and walk.
    Walk(OrderMap),
}

/// Axes and walk.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OrderMap {
    /// The axes, slowest first, each once. Default: [kh, kw, ic].
    #[schemars(length(equal = 3))]
    #[serde(default, deserialize_with = "bounded::short")]
    axes: Option<Vec<Name<Axis>>>,
    /// forward, reverse, or stride: i, i+n, i+2n, ... for i = 0..n. Default: forward.
    walk: Option<Name<WalkKind>>,
    /// The n of a strided walk, 1..=65536.
    #[schemars(range(min = 1, max = 65536))]
    stride: Option<Integer>,
    /// Cuts the input channels into blocks of this length, 0..=65536, which are slower than every axis. Default: 0,
    /// no blocks.
    #[schemars(range(min = 0, max = 65536))]
    ic_block: Option<Integer>,
}

impl From<OrderMap> for OrderFile {
    fn from(OrderMap { axes, walk, stride, ic_block }: OrderMap) -> Self {
        Self { axes, walk, stride, ic_block }
    }
}
