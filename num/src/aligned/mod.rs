//! Sums of floating-point products as matrix units add them.
//!
//! Aligned, truncated sums: the terms of one addition are products and the incoming accumulator. They are shifted to the
//! largest exponent among them, cut to a number of fraction bits, and added as integers; the sum becomes a
//! floating-point code. Sources: arXiv 2511.10909 and its model, microsoft/MMA-Sim; DeepSeek-V3 technical report,
//! section 3.5.2. In addition, sums in a fixed-point register (`fixed`), and ordinary additions (`ordinary`).

mod any;
mod dot;
mod fixed;
mod ordinary;
mod rule;
mod units;

pub use any::FloatDot;
pub use dot::AlignedDot;
pub use fixed::{FixedDot, RegisterUse};
pub use ordinary::OrdinaryDot;
pub use rule::{AlignedRule, AlignedSum, Incoming, Term};
pub use units::{BlockScales, MatrixUnit};
