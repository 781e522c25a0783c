//! Formats of 16 to 32 bits: IEEE 754 and formats with the exponent of float32.

use super::format::{FloatFormat, Specials};

/// IEEE 754 binary16.
pub const FLOAT16: FloatFormat = FloatFormat::new("float16", 5, 10, 15, Specials::Ieee);
/// The upper half of a float32.
pub const BFLOAT16: FloatFormat = FloatFormat::new("bfloat16", 8, 7, 127, Specials::Ieee);
/// The upper 19 bits of a float32: operands of matrix units.
pub const TF32: FloatFormat = FloatFormat::new("tf32", 8, 10, 127, Specials::Ieee);
/// The upper 22 bits of a float32: accumulators of 8-bit matrix units.
pub const E8M13: FloatFormat = FloatFormat::new("e8m13", 8, 13, 127, Specials::Ieee);
/// IEEE 754 binary32.
pub const FLOAT32: FloatFormat = FloatFormat::new("float32", 8, 23, 127, Specials::Ieee);
