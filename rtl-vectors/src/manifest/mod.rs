//! `manifest.json`: the description of a bundle. The JSON Schema is generated from these types.

mod arithmetic;
mod array;
mod cases;
pub(crate) mod choice;
mod interface;
mod layer;

use guardbit_files::ListedSettings;
use guardbit_hwmodels::Dataflow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use arithmetic::{Arithmetic, BiasAt, BiasInfo, LevelInfo, Operand, RegisterInfo, RequantizeInfo};
pub use array::{ArrayCycleInfo, ArrayInfo, TileInfo, WordOrder};
pub use cases::{Bin, Case, CaseGroup, Compared, Coverage, Expected, Need};
pub use interface::{Field, Interface, Packing};
pub use layer::{LayerInfo, TensorInfo, WindowInfo};

/// Version of the bundle format.
pub const SCHEMA: u32 = 4;
/// Name of the manifest.
pub const MANIFEST: &str = guardbit_files::Manifest::Bundle.file();
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
    /// The settings of the export: options by name.
    #[serde(default, skip_serializing_if = "ListedSettings::is_empty")]
    pub settings: ListedSettings,
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
    /// How many values a bench compares.
    pub compared: Compared,
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

/// What the cycle model predicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// Dataflow of the array.
    #[serde(with = "choice")]
    #[schemars(with = "String")]
    pub dataflow: Dataflow,
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

/// Returns the JSON Schema of the manifest.
pub fn manifest_schema() -> String {
    schema_text(&schemars::schema_for!(Manifest))
}

pub(crate) fn schema_text(schema: &schemars::Schema) -> String {
    serde_json::to_string_pretty(schema).unwrap_or_default() + "\n"
}
