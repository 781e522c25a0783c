//! guardbit's own operators, which its files define as functions.

use guardbit_graph::DType;

/// The domain of these operators.
pub(super) const DOMAIN: &str = "guardbit";

/// Operators that choose scales of blocks, and the dtypes of the scales.
pub(super) const BLOCK_SCALES: [(&str, DType); 2] =
    [("MxBlockScale", DType::Float8E8M0), ("NvBlockScale", DType::Float8E4M3Fn)];
