//! The sizing of one network.

use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::tables::{SizeChannelRow, SizeGridRow, SizeLevelRow, SizeRateRow, SizeRow};

/// All that is reported of one sizing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Inputs that attain the bounds by weights.
    pub witnesses: Vec<WitnessRecord>,
    /// What the network does on the samples at the recommended widths.
    pub recommended: Outcome,
}

/// An input that attains a layer's bound by its weights, or comes nearest to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessRecord {
    /// Index of the node.
    pub index: usize,
    /// Name of the layer.
    pub layer: String,
    /// Short name of the layer.
    pub name: String,
    /// The output that it drives to the bound: `[n, h, w, c]`.
    pub out: [usize; 4],
    /// The sum there.
    pub sum: i128,
    /// Bits that hold it: one less does not.
    pub bits: u32,
    /// Whether the sum is the bound. Where the window of every output hangs over the edge, padding is in its way.
    pub attained: bool,
}
