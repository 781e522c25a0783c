//! `layout.json`: where the codes, constants and expected values of whole layers lie, and when the array works on which
//! of them. The JSON Schema is generated from these types.

use guardbit_files::ListedSettings;
use guardbit_hwmodels::Dataflow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::image::Placement;
use crate::manifest::{Arithmetic, FileInfo, LayerInfo, Tool, choice};

/// Version of the format.
pub const SCHEMA: u32 = 1;
/// Name of the file.
pub const LAYOUT: &str = guardbit_files::Manifest::Layout.file();
/// Name of its JSON Schema.
pub const LAYOUT_SCHEMA: &str = "layout.schema.json";

/// Memory images of whole layers for one sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// Who wrote it.
    pub tool: Tool,
    /// From what it was made.
    pub source: ImageSource,
    /// The settings of the export: options by name.
    #[serde(default, skip_serializing_if = "ListedSettings::is_empty")]
    pub settings: ListedSettings,
    /// Order of the codes in images: `nhwc`, `nchw` or `blocked:N`.
    pub order: String,
    /// Activation tensors that the layers read and write. A tensor that one layer writes and another one reads has one image.
    pub images: Vec<Image>,
    /// The layers, in order of execution.
    #[schemars(length(min = 1))]
    pub layers: Vec<LayerLayout>,
    /// Operations of the network that have no layer here, in order of execution.
    pub others: Vec<OtherInfo>,
    /// Activations that stay in the SRAM between layers.
    pub memory: MemoryPlan,
    /// The memory outside of the accelerator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dram: Option<Dram>,
    /// Every file but this one.
    pub files: Vec<FileInfo>,
    /// SHA-256 of this file with these 64 digits replaced by zeros.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
}

/// From what images were made: the same source gives the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageSource {
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
    /// Index of the sample, from 0 on.
    pub sample: usize,
}

/// Image of an activation tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Name of the tensor.
    pub tensor: String,
    /// The file.
    pub file: String,
    /// Where the code of `[image, row, column, channel]` lies.
    pub place: Placement,
    /// Folder of the layer that writes it; none: it is an input, or the host writes it.
    pub writer: Option<String>,
    /// Folders of the layers that read it.
    pub readers: Vec<String>,
}

/// A layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayerLayout {
    /// Folder of its files.
    pub folder: String,
    /// The layer.
    pub layer: LayerInfo,
    /// What the hardware has to compute.
    pub arithmetic: Arithmetic,
    /// Index in `images` of the activations.
    pub input: usize,
    /// The weights.
    pub weights: WeightLayout,
    /// File with a word per product, in the order of addition: the window cell, `(row * columns + column) * channels + channel`.
    pub order: String,
    /// File with a word per output channel: the bias at unit 1, folded zero-point terms included.
    pub bias: String,
    /// File with a word per output channel: the significand of the multiplier.
    pub mult: String,
    /// File with a word per output channel: the exponent of the multiplier.
    pub exp: String,
    /// File with a word per output channel: the zero point of its weights.
    pub zero_points: String,
    /// Index in `images` of the output.
    pub output: usize,
    /// File with the delivered sum of every output, placed like its code.
    pub sums: String,
    /// File with the overflows of every output, placed like its code: bits `2 i` (high) and `2 i + 1` (low) of level `i`, then
    /// one bit for the product and one for the bias.
    pub overflow: String,
    /// The reference design that runs the layer.
    pub design: Design,
    /// Why it is not an array.
    pub array_absent: Option<String>,
    /// Cycles of the layer.
    pub cycles: LayerCycles,
    /// Tiles in the order of time: fillings of the array.
    pub tiles: Vec<Tile>,
    /// Why there are none.
    pub tiles_absent: Option<String>,
    /// File with the sums that tiles leave unfinished in the accumulators: bits `0 .. acc_bits - 1` are the register of the
    /// last level, the bit above is 1 if it is stuck (`sticky`). Per tile, a word per pixel and channel, channels fastest.
    pub spill: Option<String>,
}

/// Weights of a layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WeightLayout {
    /// Constants.
    Constant {
        /// The file.
        file: String,
        /// Where the code of `[output, row, column, input]` lies.
        place: Placement,
    },
    /// A second activation tensor.
    Activations {
        /// Index in `images`.
        image: usize,
        /// First value of the weights of each image, as index in the order of the tensor's axes.
        starts: Vec<usize>,
        /// Distance between neighbours along `[output, row, column, input]`, as such an index.
        strides: [usize; 4],
    },
}

/// Reference design of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// `gb_os_array`.
    OutputStationaryArray,
    /// `gb_ws_array`.
    WeightStationaryArray,
    /// `gb_unit`, one dot product after the other.
    Unit,
}

/// Cycles of a layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayerCycles {
    /// Dataflow of the array.
    #[serde(with = "choice")]
    #[schemars(with = "String")]
    pub dataflow: Dataflow,
    /// Rows of the array, of all cores.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// What the reference design takes, from the first operand to the last sum; the bench measures it.
    pub design: u64,
    /// What the model counts with ideal memories.
    pub compute: u64,
    /// What the model counts with this accelerator's memories.
    pub layer: u64,
}

/// A filling of the array: products `terms` of the outputs at `pixels` and `channels`. Ranges are `[first, end)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tile {
    /// Index of the part of the layer that the SRAMs hold at a time.
    pub block: u64,
    /// Core that runs it.
    pub core: usize,
    /// Which of the tiles with these outputs it is.
    pub pass: usize,
    /// Number of tiles with these outputs.
    pub passes: usize,
    /// Output pixels: `(image * rows + row) * columns + column`, of one image if both operands are activations.
    pub pixels: [usize; 2],
    /// Output channels; those of image `n` begin at `n * channels` if both operands are activations.
    pub channels: [usize; 2],
    /// Products in the order of addition.
    pub terms: [usize; 2],
    /// Cycles of the model, from the first addition to the last one.
    pub cycles: [u64; 2],
    /// Cycle in which the reference array starts it; none if the reference design is no array.
    pub start: Option<u64>,
    /// Least and greatest word that it reads of the input image; none if it reads padding only.
    pub reads: Option<[usize; 2]>,
    /// Least and greatest word that it reads of the weights.
    pub weights: [usize; 2],
    /// Least and greatest word that it writes of the output image; none if its sums are not finished.
    pub writes: Option<[usize; 2]>,
    /// First word of `spill`; none if its sums are finished.
    pub spill: Option<usize>,
}

/// An operation without a layer here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherInfo {
    /// Index over all operations of the network.
    pub index: usize,
    /// Name: that of its output tensor.
    pub name: String,
    /// Operation.
    pub op: String,
    /// Why it has no layer.
    pub reason: String,
}

/// Activations that stay in the SRAM of activations (`memory.residency`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryPlan {
    /// Bits of the SRAM; none: unlimited.
    pub bits: Option<u64>,
    /// The tensors, in the order in which they are produced.
    pub residents: Vec<ResidentInfo>,
}

/// Tensor that stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResidentInfo {
    /// Name of the tensor.
    pub tensor: String,
    /// Index of the operation that produces it.
    pub from: usize,
    /// Index of the last operation on the accelerator that reads it.
    pub until: usize,
    /// First bit in the SRAM: the lowest that is free as long as the tensor stays; none if it fits in parts only.
    pub address: Option<u64>,
    /// Size in bits.
    pub bits: u64,
    /// Whether it is stored outside too.
    pub is_stored: bool,
}

/// Memory outside of the accelerator, in one file: constants, inputs, and room for what the layers write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// The file: a word per line, whose byte 0 is in the least significant bits.
    pub file: String,
    /// Bytes of a word of the file.
    pub word_bytes: usize,
    /// Number of which every address is a multiple.
    pub alignment: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// What lies where, in ascending order.
    pub regions: Vec<DramRegion>,
    /// Files of the images that stay in the SRAM at the addresses of `memory` and have no region.
    pub on_chip: Vec<String>,
}

/// Words of a file in the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DramRegion {
    /// The file.
    pub file: String,
    /// Address of its first byte.
    pub address: u64,
    /// Bytes of each of its words, the least significant first; unused high bits are 0.
    pub word_bytes: usize,
    /// Number of its words, one after the other.
    pub words: usize,
    /// Whether the memory holds the words at the start. Otherwise it holds 0, and a layer writes them.
    pub is_given: bool,
}

/// Returns the JSON Schema of `layout.json`.
pub fn layout_schema() -> String {
    serde_json::to_string_pretty(&schemars::schema_for!(Layout)).unwrap_or_default() + "\n"
}
