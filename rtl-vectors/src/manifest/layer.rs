//! The layer of a bundle: its types and geometry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arithmetic::{is_one, one};

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
    /// Whether the weights are activations: every image has its own, and a case's bias includes `-zx * sum(w)` where zero points
    /// are folded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub two_activations: bool,
    /// The output's codes.
    pub output: TensorInfo,
    /// Which activations an output element reads.
    pub window: WindowInfo,
    /// Bits of all biases, multipliers and shifts of the layer, which the cycle model loads once.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub constant_bits: u64,
}

fn is_zero(bits: &u64) -> bool {
    *bits == 0
}

/// Type, range and zero points of codes: real = scale * (code - zero point).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TensorInfo {
    /// `int8`, `uint8`, ...
    pub dtype: String,
    /// Least and greatest code, where they are fewer than those of the dtype.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[i32; 2]>,
    /// Distance between neighbouring codes, where it is not 1: 2 for bipolar codes, which are -1 and 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub step: u32,
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
