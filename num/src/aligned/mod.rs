//! Aligned, truncated sums: how matrix units add floating-point products in one narrow integer register.
//!
//! The terms of one addition are products and the incoming accumulator. They are shifted to the largest exponent among
//! them, cut to a number of fraction bits, and added as integers; the sum becomes a floating-point code. Sources: arXiv
//! 2511.10909 and its model, microsoft/MMA-Sim; DeepSeek-V3 technical report, section 3.5.2.

mod dot;
mod rule;
mod units;

pub use dot::AlignedDot;
pub use rule::{AlignedRule, AlignedSum, Incoming, Term};
pub use units::{BlockScales, MatrixUnit};
