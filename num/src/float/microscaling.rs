//! Elements of 4 and 6 bits, and scales of blocks: OCP Microscaling Formats 1.0, and the scale of NVFP4.

use super::format::{FloatFormat, Specials};

/// Element of MXFP6; largest 28.
pub const E3M2: FloatFormat = FloatFormat::new("e3m2", 3, 2, 3, Specials::None);
/// Element of MXFP6; largest 7.5.
pub const E2M3: FloatFormat = FloatFormat::new("e2m3", 2, 3, 1, Specials::None);
/// Element of MXFP4 and NVFP4; largest 6.
pub const E2M1: FloatFormat = FloatFormat::new("e2m1", 2, 1, 1, Specials::None);
/// Scale of OCP blocks: a power of two from `2^-127` to `2^127`.
pub const UE8M0: FloatFormat = FloatFormat {
    signed: false,
    has_zero: false,
    ..FloatFormat::new("ue8m0", 8, 0, 127, Specials::LastIsNan)
};
/// Scale of NVFP4: e4m3fn without its sign; largest 448.
pub const UE4M3: FloatFormat =
    FloatFormat { signed: false, ..FloatFormat::new("ue4m3", 4, 3, 7, Specials::LastIsNan) };
