//! Sizing of one network.

use serde::{Deserialize, Serialize};

use super::CoverageRecord;
use crate::tables::{
    SizeBitsRow, SizeChannelRow, SizeFloatRow, SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow,
};
use crate::{ScoreFigures, Width};

/// All results of one sizing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeRecord {
    /// Name of the model in the report.
    pub model: String,
    /// Name of the accelerator in the report.
    pub hw: String,
    /// Error budget in words.
    pub budget: Option<String>,
    /// Tool that counted LUTs and flip-flops, with its version and target.
    pub area: Option<String>,
    /// Rows of `size.csv`.
    pub layers: Vec<SizeRow>,
    /// Rows of `size_channels.csv`.
    pub channels: Vec<SizeChannelRow>,
    /// Rows of `size_levels.csv`.
    pub levels: Vec<SizeLevelRow>,
    /// Rows of `size_grid.csv`.
    pub grid: Vec<SizeGridRow>,
    /// Rows of `size_rates.csv`.
    pub rates: Vec<SizeRateRow>,
    /// Rows of `size_bits.csv`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fraction_bits: Vec<SizeBitsRow>,
    /// Rows of `size_float.csv`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub float_layers: Vec<SizeFloatRow>,
    /// Inputs that attain the bounds by weights, one per level of every layer.
    pub witnesses: Vec<WitnessRecord>,
    /// Results on the samples at the recommended widths.
    pub recommended: ScoreFigures,
    /// Part of the network that the accelerator runs; only these layers are sized.
    pub coverage: CoverageRecord,
    /// Design for all layers that the accelerator runs: the greatest recommended width of every level, or, if these
    /// exceed the budget in all layers, a wider one that does not.
    pub design: Vec<DesignLevel>,
    /// Remarks on the budget's figures, as sentences.
    pub remarks: Vec<String>,
}

/// Level of a design that runs all layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesignLevel {
    /// Name of the level.
    pub level: String,
    /// Width that suffices for every layer.
    pub bits: Width,
}

/// Input that attains the bound by weights of a layer's level, or comes as close to it as possible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessRecord {
    /// Index of the node.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Short name of the layer.
    pub name: String,
    /// Name of the level.
    pub level: String,
    /// Index of the run of the level that the input drives to the bound.
    pub run: usize,
    /// Position `[n, h, w, c]` of the output that contains this run.
    pub out: [usize; 4],
    /// Sum of this run, in the level's unit.
    pub sum: i128,
    /// Least number of bits that holds the sum.
    pub bits: u32,
    /// Whether the sum equals the bound. It cannot if the window of every output includes padding.
    pub attained: bool,
    /// File with the layer's input.
    pub file: String,
}

impl SizeRecord {
    /// Returns the recommended fraction bits of floating-point layers, if there are any.
    pub fn recommended_fraction_bits(&self) -> Option<u32> {
        self.fraction_bits.iter().find(|row| row.recommended).map(|row| row.fraction_bits)
    }
}
