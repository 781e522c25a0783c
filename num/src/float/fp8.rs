//! Formats of 8 bits with a sign: OCP FP8 (e4m3fn, e5m2), and those of AMD and Graphcore (fnuz: one zero, one NaN).

use super::format::{FloatFormat, Specials};

/// OCP 8-bit Floating Point Specification 1.0; largest 448.
pub const E4M3FN: FloatFormat = FloatFormat::new("e4m3fn", 4, 3, 7, Specials::LastIsNan);
/// OCP 8-bit Floating Point Specification 1.0; largest 57344.
pub const E5M2: FloatFormat = FloatFormat::new("e5m2", 5, 2, 15, Specials::Ieee);
/// arXiv 2206.02915; largest 240.
pub const E4M3FNUZ: FloatFormat = FloatFormat::new("e4m3fnuz", 4, 3, 8, Specials::NegativeZeroIsNan);
/// arXiv 2206.02915; largest 57344.
pub const E5M2FNUZ: FloatFormat = FloatFormat::new("e5m2fnuz", 5, 2, 16, Specials::NegativeZeroIsNan);
