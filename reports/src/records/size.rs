//! The sizing of one network.

use serde::{Deserialize, Serialize};

use super::CoverageRecord;
use crate::tables::{SizeChannelRow, SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow};
use crate::{ScoreFigures, Width};

/// All that is reported of one sizing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeRecord {
    /// The model, as it is called in the report.
    pub model: String,
    /// The accelerator, as it is called in the report.
    pub hw: String,
    /// The error budget, in words.
    pub budget: Option<String>,
    /// The tool that gave LUTs and flip-flops, with its version and what it mapped to.
    pub area: Option<String>,
    /// `size.csv`.
    pub layers: Vec<SizeRow>,
    /// `size_channels.csv`.
    pub channels: Vec<SizeChannelRow>,
    /// `size_levels.csv`.
    pub levels: Vec<SizeLevelRow>,
    /// `size_grid.csv`.
    pub grid: Vec<SizeGridRow>,
    /// `size_rates.csv`.
    pub rates: Vec<SizeRateRow>,
    /// Inputs that attain the bounds by weights, one per level of every layer.
    pub witnesses: Vec<WitnessRecord>,
    /// What the network does on the samples at the recommended widths.
    pub recommended: ScoreFigures,
    /// What the accelerator runs of the network: these layers alone are sized.
    pub coverage: CoverageRecord,
    /// One design for all layers that the accelerator runs: the widest recommended register of every level.
    pub design: Vec<DesignLevel>,
    /// What a reader has to know of the budget's figures, as sentences.
    pub remarks: Vec<String>,
}

/// A level of a design that runs all layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesignLevel {
    /// Name of the level.
    pub level: String,
    /// The width that every layer can do with.
    pub bits: Width,
}

/// An input that attains the bound of a layer's level by its weights, or comes nearest to it.
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
    /// The run of the level that it drives to the bound.
    pub run: usize,
    /// The output whose run it is: `[n, h, w, c]`.
    pub out: [usize; 4],
    /// The sum there, in the level's unit.
    pub sum: i128,
    /// Bits that hold it: one less does not.
    pub bits: u32,
    /// Whether the sum is the bound. Where the window of every output hangs over the edge, padding is in its way.
    pub attained: bool,
    /// The file of the layer's input.
    pub file: String,
}
