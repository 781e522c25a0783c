//! Test vectors for RTL, and the golden model of a MAC unit, beat by beat.
//!
//! ```
//! use guardbit::graph::DType;
//! use guardbit::rtl_vectors::{GoldenModel, LayerParameters};
//!
//! let layer = LayerParameters {
//!     terms: 2,
//!     activation: DType::Int8,
//!     activation_zero_point: 0,
//!     weight: DType::Int8,
//!     weight_zero_point: 0,
//! };
//! let mut unit = GoldenModel::from_accelerator("fpga-int14-os", &layer)?;
//! unit.step(&[100], &[100])?;
//! // 14 bits hold at most 8191, and the accumulator saturates.
//! assert_eq!(unit.level(0).map(|level| (level.acc, level.exact, level.high)), Some((8191, 10000, true)));
//! # Ok::<(), guardbit::rtl_vectors::GoldenError>(())
//! ```

pub use guardbit_rtl_vectors::*;
