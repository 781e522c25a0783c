//! `manifest.json` of a floating-point layer. It is a manifest of its own kind, with the parts of the integer one that
//! both have.

use guardbit_files::ListedSettings;
use guardbit_num::{FloatFormat, Rounding, Specials};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::formats::has_zero;
use crate::manifest::choice::{self, names};
use crate::manifest::{CaseGroup, Field, FileInfo, Packing, SCHEMA, Source, Tool, WindowInfo, schema_text};

/// Value of `kind`.
pub const FLOAT_KIND: &str = "float";

/// A bundle of test vectors for one floating-point layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FloatManifest {
    /// Version of this format.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: u32,
    /// `float`. Bundles of integer layers have no such field.
    #[schemars(extend("const" = FLOAT_KIND))]
    pub kind: String,
    /// Who wrote it.
    pub tool: Tool,
    /// From what it was made.
    pub source: Source,
    /// The settings of the export: options by name.
    #[serde(default, skip_serializing_if = "ListedSettings::is_empty")]
    pub settings: ListedSettings,
    /// The layer.
    pub layer: FloatLayerInfo,
    /// What the RTL has to compute.
    pub arithmetic: FloatArithmetic,
    /// How data gets in and out.
    pub interface: FloatInterface,
    /// Every file but this one.
    pub files: Vec<FileInfo>,
    /// Test cases in the order of the beats: each is one dot product.
    pub cases: Vec<FloatCase>,
    /// How many values a bench compares.
    pub compared: FloatCompared,
    /// What the beats reach.
    pub coverage: Vec<FloatBin>,
    /// SHA-256 of this file with these 64 digits replaced by zeros.
    #[serde(default)]
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
}

/// The layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FloatLayerInfo {
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
    /// Type of the activations' codes.
    pub input: String,
    /// Type of the weights' codes.
    pub weight: String,
    /// Which activations an output element reads.
    pub window: WindowInfo,
}

/// A floating-point format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormatInfo {
    /// Name.
    pub name: String,
    /// Bits of the exponent, below the sign if there is one: scales of blocks have none.
    pub exponent_bits: u32,
    /// Bits of the fraction.
    pub fraction_bits: u32,
    /// A normal number is `2^(exponent field - bias) * 1.fraction`. Without fraction bits every number is one.
    pub bias: i32,
    /// Codes that are not finite: `ieee`, `last_is_nan`, `negative_zero_is_nan` or `none`.
    pub specials: String,
}

impl FormatInfo {
    /// Returns the description of a signed format with zero, or of scales.
    pub fn of(format: FloatFormat) -> Self {
        let specials = match format.specials() {
            Specials::Ieee => "ieee",
            Specials::LastIsNan => "last_is_nan",
            Specials::NegativeZeroIsNan => "negative_zero_is_nan",
            Specials::None => "none",
        };
        Self {
            name: format.name().into(),
            exponent_bits: format.bits() - u32::from(format.is_signed()) - format.fraction_bits(),
            fraction_bits: format.fraction_bits(),
            bias: has_zero(format) as i32 - format.least_exponent(),
            specials: specials.into(),
        }
    }

    /// Returns the width of a code with a sign.
    pub fn bits(&self) -> u32 {
        1 + self.exponent_bits + self.fraction_bits
    }
}

/// Scales of blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScaleInfo {
    /// The scales of activations.
    pub activation: FormatInfo,
    /// The scales of weights.
    pub weight: FormatInfo,
    /// Products that are added exactly to one term, at most, which share their scales; none: each product is a term with
    /// scales of its own.
    pub group_terms: Option<usize>,
}

/// What the RTL has to compute: `float_accumulation` of the accelerator, and the formats of the operands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FloatArithmetic {
    /// The activations.
    pub activation: FormatInfo,
    /// The weights.
    pub weight: FormatInfo,
    /// Scales of blocks, if the unit multiplies products by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scales: Option<ScaleInfo>,
    /// Products of one addition.
    #[schemars(range(min = 1))]
    pub terms: usize,
    /// Bits kept of each term below the largest exponent.
    pub fraction_bits: u32,
    /// Rounding of a term.
    #[serde(with = "choice")]
    #[schemars(with = "String", extend("enum" = names(Rounding::ALL)))]
    pub align_round: Rounding,
    /// Whether the accumulator is added after the products instead of as one more term.
    pub apart: bool,
    /// Whether even and odd products are added separately first.
    pub interleaved: bool,
    /// Bits kept of the sum of the products; none if the accumulator is a term.
    pub sum_bits: Option<u32>,
    /// Bits kept of the accumulator.
    pub accumulator_bits: Option<u32>,
    /// Distance of exponents up to which the accumulator counts; none: any.
    pub reach: Option<u32>,
    /// The accumulator.
    pub result: FormatInfo,
    /// Rounding of the sum to the accumulator.
    #[serde(with = "choice")]
    #[schemars(with = "String", extend("enum" = names(Rounding::ALL)))]
    pub result_round: Rounding,
    /// Whether a negative sum that rounds to zero is -0.
    pub negative_zero: bool,
    /// Code of NaN.
    pub nan: u32,
    /// Additions after which the accumulator is added to the float32 sum; none: never.
    pub promote_additions: Option<usize>,
}

/// How data gets in and out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FloatInterface {
    /// Products per beat: those of one addition.
    #[schemars(range(min = 1, max = 64))]
    pub lanes: usize,
    /// `dense` (lanes at their width) or `byte_slot` (each lane zero-extended to whole bytes).
    pub packing: Packing,
    /// Bits from one activation lane to the next.
    pub activation_slot: u32,
    /// Bits from one weight lane to the next.
    pub weight_slot: u32,
    /// Bits from one scale of activations to the next, and from one of weights to the next, if there are scales: one per
    /// lane, or one per group of lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale_slots: Option<[u32; 2]>,
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
    /// Clock cycles from an accepted beat to the accumulator that contains it.
    pub acc_latency: u32,
    /// Clock cycles from a beat to the float32 sum, and from a dot product's last beat to its result.
    pub sum_latency: u32,
}

/// A dot product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FloatCase {
    /// Name.
    pub id: String,
    /// Whether it is from the network or solved for.
    #[schemars(with = "String", extend("enum" = ["real", "corner"]))]
    pub group: CaseGroup,
    /// Why it was chosen: for a corner case the bin that it reaches, or the fault that it shows.
    pub class: String,
    /// Of a real case: sample, image, row, column and channel of the output.
    pub place: Option<[usize; 5]>,
    /// First beat.
    pub first_beat: usize,
    /// Beats, bubbles included.
    pub beats: usize,
    /// Products that are sent. Corner cases have lengths of their own.
    pub terms: usize,
    /// Word of `exp_sum`; none for a dot product that is cut off by the next one's clear.
    pub out_word: Option<usize>,
    /// Beats in which a term lost bits.
    pub cut: usize,
    /// Beats in which a nonzero term became zero.
    pub vanished: usize,
    /// Code of the result: a float32 with promotion, otherwise in the accumulator's format.
    pub sum: Option<u32>,
}

/// How many values a bench compares: a bench that compares fewer fails.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FloatCompared {
    /// Accumulators with their flags.
    pub acc: u64,
    /// Float32 sums after each beat; 0 without promotion.
    pub total: u64,
    /// Results.
    pub sum: u64,
}

/// What beats reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FloatBin {
    /// Name.
    pub name: String,
    /// Cases that reach it with a positive number, and those with a negative one. What has no sign counts as positive.
    pub cases: [usize; 2],
    /// Why no case can reach it, if that is proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
}

/// Returns the JSON Schema of the manifest.
pub fn float_manifest_schema() -> String {
    schema_text(&schemars::schema_for!(FloatManifest))
}
