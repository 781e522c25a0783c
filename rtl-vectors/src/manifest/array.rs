//! Tiles for the whole array.

use guardbit_hwmodels::{Dataflow, TimingConvention};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Field, choice};

/// A part of the layer that streams through the whole array: the files of `array/`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayInfo {
    /// `output_stationary` or `weight_stationary`.
    #[serde(with = "choice")]
    #[schemars(with = "String")]
    pub dataflow: Dataflow,
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
    pub tiles: Vec<TileInfo>,
    /// Beats: words of `stim_a` (a lane per row), `stim_w` (a lane per column) and `ctrl`.
    pub beats: usize,
    /// Words of `exp_sum` and `exp_mask` (a lane per column): the n-th holds the n-th sum that leaves every column.
    pub words: usize,
    /// The row whose sum leaves a column first: `bottom_row_first` (line `j` of a tile's words is row `rows - 1 - j`), or
    /// `pixels` (line `j` is the tile's pixel `j`).
    #[schemars(with = "String", extend("enum" = ["bottom_row_first", "pixels"]))]
    pub word_order: WordOrder,
    /// Fields of a control word.
    pub ctrl: Vec<Field>,
    /// Beats of the tiles with real operands, which come first. Corner tiles follow once the array is empty.
    pub real_beats: usize,
    /// Words of their sums.
    pub real_words: usize,
    /// When.
    pub cycles: ArrayCycleInfo,
}

/// The order in which the sums of a tile leave a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WordOrder {
    /// The bottom row's first: sums that stay in the array.
    BottomRowFirst,
    /// Pixel after pixel.
    Pixels,
}

/// A filling of the array. Pixels, channels and groups count within the part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tile")]
pub struct TileInfo {
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
    #[serde(with = "choice")]
    #[schemars(with = "String")]
    pub convention: TimingConvention,
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
