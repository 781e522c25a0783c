//! The accelerator file as it is written: what is read from YAML and printed back. Nothing here is checked
//! beyond its type; every key may be missing.

mod bounded;
mod entries;
mod values;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_yaml::Value;

pub(crate) use bounded::Budget;
pub use bounded::SetMap;
pub(crate) use entries::Entries;
pub(crate) use values::{BiasBits, Bits, Integer, Name, Number, OpName, TermsFile};

use crate::keys::{
    ArrayFile, BiasFile, LevelFile, MemoryFile, OperandsFile, PackingFile, ProductFile, RequantizeFile,
    TimingFile,
};
use crate::{Axis, Dataflow};

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
    /// The keys that a file may have, in their order.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        static KEYS: LazyLock<Value> =
            LazyLock::new(|| serde_yaml::to_value(AcceleratorFile::default()).unwrap_or_default());
        KEYS.as_mapping().into_iter().flat_map(|keys| keys.keys()).filter_map(Value::as_str)
    }
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

/// How lanes share an adder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackingKind {
    /// They do not.
    None,
    /// Two output channels in that of a DSP48E2.
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
