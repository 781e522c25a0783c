//! `manifest.json`: what a bundle says about itself. The JSON Schema is made from these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the bundle format.
pub const SCHEMA: u32 = 2;
/// Name of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// Name of its schema.
pub const MANIFEST_SCHEMA: &str = "manifest.schema.json";

/// Name of the accelerator's file: complete, as it resolves for the layer.
pub const ACCELERATOR: &str = "accelerator.yaml";

/// A bundle of test vectors for one layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// From what it was made.
    pub source: Source,
    /// The layer.
    pub layer: LayerInfo,
    /// What the RTL has to compute.
    pub arithmetic: Arithmetic,
    /// How data gets in and out.
    pub interface: Interface,
    /// What the cycle model predicts for the layer on the whole array.
    pub timing: Timing,
    /// Every file but this one.
    pub files: Vec<FileInfo>,
    /// Test cases in the order of the beats: each is one dot product.
    pub cases: Vec<Case>,
    /// What the cases reach.
    pub coverage: Coverage,
    /// Tiles of the layer for the whole array; none where there is no design of it.
    pub array: Option<ArrayInfo>,
    /// Why there are none.
    pub array_absent: Option<String>,
    /// SHA-256 of this file with these 64 digits replaced by zeros.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
}

/// Who wrote a bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// `guardbit`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// From what a bundle was made: the same source gives the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The network's file name.
    pub model: String,
    /// SHA-256 of the network as it was read: the graph with its weights.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub model_sha256: String,
    /// The accelerator.
    pub accelerator: String,
    /// SHA-256 of the resolved accelerator without its name and description.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub accelerator_sha256: String,
    /// Where activations came from.
    pub input: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Real dot products asked for.
    pub cases: usize,
}

/// The layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayerInfo {
    /// Index over all operations of the network.
    pub index: usize,
    /// Name: that of its output tensor.
    pub name: String,
    /// Operation.
    pub op: String,
    /// Products per dot product, padding included.
    #[schemars(range(min = 1))]
    pub terms: usize,
    /// Dot products per inference.
    pub dots: usize,
    /// Output channels.
    pub channels: usize,
    /// The activations' codes.
    pub input: TensorInfo,
    /// The weights' codes.
    pub weight: TensorInfo,
    /// The output's codes.
    pub output: TensorInfo,
    /// Which activations an output element reads.
    pub window: WindowInfo,
}

/// Type and zero points of codes: real = scale * (code - zero point).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TensorInfo {
    /// `int8`, `uint8`, ...
    pub dtype: String,
    /// One, or one per output channel.
    pub zero_points: Vec<i64>,
}

/// Which activations an output element reads: output row `h` reads window row `i` at input row
/// `h * stride + i * dilation - pad`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowInfo {
    /// Images per inference.
    pub batch: usize,
    /// `[rows, columns, channels]` of the input.
    pub input: [usize; 3],
    /// `[rows, columns, channels]` of the output.
    pub output: [usize; 3],
    /// `[rows, columns, channels per group]` of the window.
    pub kernel: [usize; 3],
    /// Step of the window, rows and columns.
    pub stride: [usize; 2],
    /// Distance between cells of the window, rows and columns.
    pub dilation: [usize; 2],
    /// Padding cells before the first row and column.
    pub pad: [usize; 2],
    /// Groups of channels.
    pub groups: usize,
}

/// What the RTL has to compute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arithmetic {
    /// The activation as the multiplier sees it.
    pub activation: Operand,
    /// The weight as the multiplier sees it.
    pub weight: Operand,
    /// Where zero points are taken off: `subtract` (before the multiplier: operands are `x - zx`, `w - zw`) or `fold`.
    #[schemars(extend("enum" = ["subtract", "fold"]))]
    pub zero_point: String,
    /// Order of the window's axes, slowest first, and the walk: beats carry operands in this order already.
    pub reduction_order: String,
    /// The multiplier's output: fitted, then shifted right.
    pub product: Stage,
    /// Accumulation levels, innermost first.
    #[schemars(length(min = 1))]
    pub levels: Vec<LevelInfo>,
    /// The bias.
    pub bias: BiasInfo,
    /// From sums to codes.
    pub requantize: RequantizeInfo,
}

/// A signed operand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Operand {
    /// Width in two's complement.
    #[schemars(range(min = 1, max = 64))]
    pub bits: u32,
    /// Least value.
    pub min: i64,
    /// Greatest value.
    pub max: i64,
}

/// A register that values are fitted to, and the bits dropped behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// Width; none: as wide as it takes.
    #[schemars(range(min = 1, max = 64))]
    pub bits: Option<u32>,
    /// Whether the top bit is a sign.
    pub signed: bool,
    /// Overflow mode; none where there is no width.
    #[schemars(extend("enum" = [
        "wrap", "saturate", "saturate_symmetric", "saturate_zero", "sticky", "observe", "trap", null
    ]))]
    pub overflow: Option<String>,
    /// Low bits dropped after the fit.
    pub shift: u32,
    /// How they are dropped.
    #[schemars(extend("enum" = [
        "floor", "toward_zero", "half_up", "half_down", "half_away", "half_to_zero", "half_even", "half_odd"
    ]))]
    pub round: String,
    /// Width in two's complement of the port behind it: the widest value that can pass.
    pub port_bits: u32,
}

/// An accumulation level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct LevelInfo {
    /// Name.
    pub name: String,
    /// `serial` or `tree`.
    #[schemars(extend("enum" = ["serial", "tree"]))]
    pub reduce: String,
    /// How a tree pairs its values: `adjacent` (an odd last value passes to the next round); none for a serial level.
    #[schemars(extend("enum" = ["adjacent", null]))]
    pub pairing: Option<String>,
    /// Values in a run; none: all.
    #[schemars(range(min = 1))]
    pub terms: Option<usize>,
    /// `each_add` or `hand_over`.
    #[schemars(extend("enum" = ["each_add", "hand_over"]))]
    pub check: String,
    /// Width, overflow mode, and the bits dropped at the hand-over.
    #[serde(flatten)]
    pub stage: Stage,
    /// Width of a word of `exp_acc_NAME`.
    pub acc_bits: u32,
    /// Whether that word is two's complement.
    pub acc_signed: bool,
    /// Least value that the mode leaves alone; none for a level as wide as it takes.
    pub min: Option<i64>,
    /// Greatest value that the mode leaves alone.
    pub max: Option<i64>,
    /// Least value that any prefix of this layer's terms can have, from the operands' ranges.
    pub bound_min: i64,
    /// Greatest such value.
    pub bound_max: i64,
}

/// The bias.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct BiasInfo {
    /// `none`, `post` (an adder after the last level), `preload` (first value of the last level's register) or
    /// `post_requantize`.
    #[schemars(extend("enum" = ["none", "post", "preload", "post_requantize"]))]
    pub at: String,
    /// What the bias, or the sum with it, is fitted to: of `post` the adder behind the last level, of `preload` the last
    /// level's register when it is loaded, of `post_requantize` the register of the scaled bias.
    #[serde(flatten)]
    pub stage: Stage,
    /// Bits dropped of a bias at unit 1 to have it in the unit of the place where it joins: the shifts before it.
    pub unit_shift: u32,
    /// How they are dropped: as in the last stage before it that shifts.
    pub unit_round: String,
    /// Width in two's complement of a word of `stim_bias`.
    pub input_bits: u32,
    /// Least word that the layer can show there.
    pub word_min: i64,
    /// Greatest such word.
    pub word_max: i64,
}

/// From sums to codes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequantizeInfo {
    /// Scheme by name.
    pub scheme: String,
    /// Its identifier.
    pub id: String,
    /// The code before the clamp, of a sum `x`: `z` is the zero point, `m` and `e` are `stim_mult` and `stim_exp`, `M` is
    /// the case's multiplier times `2^unit_shift`.
    pub formula: String,
    /// Bits that all stages drop together.
    pub unit_shift: u32,
    /// Added after scaling.
    pub zero_point: i64,
    /// Least output code.
    pub clamp_min: i64,
    /// Greatest output code.
    pub clamp_max: i64,
    /// Width of an output word in two's complement.
    pub out_bits: u32,
    /// Width in two's complement of a word of `stim_mult`.
    pub mult_bits: u32,
    /// The multiplier is `mult * 2^(exp - mult_point)`.
    pub mult_point: u32,
    /// Whether the reference RTL has this scheme: if not, `exp_out` is not replayed by the built-in benches.
    pub in_rtl: bool,
}

/// How data gets in and out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    /// Products per beat.
    #[schemars(range(min = 1, max = 48))]
    pub lanes: usize,
    /// `dense` (lanes at their width) or `byte_slot` (each lane sign-extended to whole bytes).
    pub packing: Packing,
    /// Bits from one activation lane to the next.
    pub activation_slot: u32,
    /// Bits from one weight lane to the next.
    pub weight_slot: u32,
    /// Where lane 0 lies.
    pub lane_order: String,
    /// Fields of a control word.
    pub ctrl: Vec<Field>,
    /// Fields of a flags word.
    pub flags: Vec<Field>,
    /// How beats are handed over.
    pub handshake: String,
    /// What clearing means.
    pub clear: String,
    /// Reset.
    pub reset: String,
    /// Clock cycles from an accepted beat to the accumulators that contain it.
    pub acc_latency: u32,
    /// Clock cycles from a dot product's last beat to its output.
    pub out_latency: u32,
}

/// How lanes lie in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// One after the other.
    #[default]
    Dense,
    /// Each sign-extended to whole bytes.
    ByteSlot,
}

/// A field of a word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Name.
    pub name: String,
    /// Its least significant bit.
    pub lsb: u32,
    /// Width.
    pub bits: u32,
}

/// What the cycle model predicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Dataflow of the array.
    pub dataflow: String,
    /// Rows of the array.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// Cycles of the layer in one inference.
    pub cycles: u64,
    /// Beats that one processing element needs for one dot product.
    pub beats_per_dot: usize,
}

/// A file of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileInfo {
    /// Path within the bundle.
    pub path: String,
    /// What it is.
    pub role: String,
    /// Words, for data.
    pub words: Option<usize>,
    /// Bits of a word.
    pub bits: Option<u32>,
    /// Values of a word; value 0 lies in the least significant bits.
    pub lanes: Option<usize>,
    /// Bits of a value.
    pub lane_bits: Option<u32>,
    /// Bits from one value to the next; in a `.bin` whole bytes.
    pub slot_bits: Option<u32>,
    /// Hexadecimal digits of a word, for `.mem`.
    pub digits: Option<usize>,
    /// Whether a value is two's complement.
    pub signed: Option<bool>,
    /// What a word is made of, for AXI4-Stream transfers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<Field>>,
    /// SHA-256 of the file.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
}

/// One dot product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Identifier, unique in the bundle.
    pub id: String,
    /// `real` or `corner`.
    #[schemars(extend("enum" = ["real", "corner"]))]
    pub group: String,
    /// Corner class, or how a real one was chosen.
    pub class: String,
    /// For a real one: sample and output element `[n, h, w, c]`.
    pub place: Option<[usize; 5]>,
    /// Bias in unit 1; none where nothing is added.
    pub bias: Option<i64>,
    /// Factor of the sum of the activations that joins the bias.
    pub input_sum_factor: i64,
    /// The real multiplier of the requantization.
    pub multiplier: f64,
    /// First beat.
    pub first_beat: usize,
    /// Beats, bubbles included.
    pub beats: usize,
    /// Products that are sent.
    pub terms: usize,
    /// Word of `exp_sum` and `exp_out`; none for a dot product that is cut off by the next one's clear.
    pub out_word: Option<usize>,
    /// What is expected.
    pub expected: Expected,
}

/// What a dot product does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Per level: beats with an overflow above.
    pub high: Vec<u64>,
    /// Per level: beats with an overflow below.
    pub low: Vec<u64>,
    /// Exact sum at unit 1 of the products that were sent, a preloaded bias included.
    pub exact: i64,
    /// What the last level delivers.
    pub sum: Option<i64>,
    /// The output code.
    pub code: Option<i32>,
}

/// A part of the layer that streams through the whole array: the files of `array/`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayInfo {
    /// `output_stationary` or `weight_stationary`.
    pub dataflow: String,
    /// Rows of the array.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// The sample that activations are from.
    pub sample: usize,
    /// First output pixel of the part, over the rows and columns of the layer's output.
    pub first_pixel: usize,
    /// Output pixels of the part.
    pub pixels: usize,
    /// Output channels of a group.
    pub channels: usize,
    /// Groups of the layer; corner tiles count theirs from here on.
    pub groups: usize,
    /// Fillings of the array in the order of time.
    pub tiles: Vec<Tile>,
    /// Beats: words of `stim_a` (a lane per row), `stim_w` (a lane per column) and `ctrl`.
    pub beats: usize,
    /// Words of `exp_sum` and `exp_mask` (a lane per column): the n-th holds the n-th sum that leaves every column.
    pub words: usize,
    /// The row whose sum leaves a column first: `bottom_row_first` (line `j` of a tile's words is row `rows - 1 - j`), or
    /// `pixels` (line `j` is the tile's pixel `j`).
    #[schemars(extend("enum" = ["bottom_row_first", "pixels"]))]
    pub word_order: String,
    /// Fields of a control word.
    pub ctrl: Vec<Field>,
    /// Beats of the tiles with real operands, which come first. Corner tiles follow once the array is empty.
    pub real_beats: usize,
    /// Words of their sums.
    pub real_words: usize,
    /// When.
    pub cycles: ArrayCycleInfo,
}

/// A filling of the array. Pixels, channels and groups count within the part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// The group.
    pub group: usize,
    /// First pixel.
    pub first_pixel: usize,
    /// Pixels.
    pub pixels: usize,
    /// First channel.
    pub first_channel: usize,
    /// Channels: columns in use, from column 0 on.
    pub channels: usize,
    /// First product of the dot products, in the order of addition.
    pub first_term: usize,
    /// Products.
    pub terms: usize,
    /// The beat of its first step; weights that stay are loaded in the beats before.
    pub first_beat: usize,
    /// First word of its sums; none where later tiles add to them.
    pub first_word: Option<usize>,
    /// Words of its sums.
    pub words: usize,
    /// `real`, or what the operands of a corner tile do: level, rail, path. Its group holds no other tiles than those
    /// of the same dot products.
    pub class: String,
}

/// The cycles of the array over the tiles with real operands, as the cycle model has them, with a memory that takes no
/// time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayCycleInfo {
    /// `overlapped` or `scalesim_v3`.
    pub convention: String,
    /// Before a tile's first step: loading what stays.
    pub preload: usize,
    /// From the first element's first step to the last element's.
    pub fill: usize,
    /// Steps of one element in a tile.
    pub steps: usize,
    /// From one tile's start to the next one's.
    pub period: usize,
    /// In which sums leave after the last addition.
    pub drain: usize,
    /// From the first operand to the last sum, what the replay measures.
    pub cycles: u64,
    /// What the convention counts of them: compute cycles of a layer of this size.
    pub model: u64,
    /// Why these two differ.
    pub difference: Option<String>,
}

/// What the cases reach.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Bins that are hit.
    pub hit: usize,
    /// Bins that could be hit and are not.
    pub missed: usize,
    /// Bins proved unreachable.
    pub unreachable: usize,
    /// Every bin.
    pub bins: Vec<Bin>,
}

/// A coverage bin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bin {
    /// The level; empty for the whole unit.
    pub level: String,
    /// Name.
    pub name: String,
    /// Cases that hit it.
    pub cases: usize,
    /// Why it cannot be hit.
    pub unreachable: Option<String>,
}

/// The JSON Schema of the manifest.
pub fn manifest_schema() -> String {
    let schema = schemars::schema_for!(Manifest);
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}
