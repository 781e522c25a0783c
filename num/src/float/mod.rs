//! Floating-point formats of 4 to 32 bits: codes, their values, and rounding of a value to a code.
//!
//! A format is one row of a table ([`FloatFormat`]): the widths of its exponent and fraction, its bias, and which codes
//! are not finite. The formats of 8 bits are in `fp8`, those of microscaling in `microscaling`, the others in `wide`.

mod arithmetic;
mod format;
pub(crate) mod fp8;
pub(crate) mod microscaling;
mod pairwise;
pub(crate) mod wide;

use std::str::FromStr;

pub(crate) use arithmetic::{nearest_single, reduced};
pub(crate) use format::scaled;
pub use format::{Decoded, Dyadic, FloatFormat, FloatOverflow, FloatRounding, Specials};
pub use pairwise::{PairwiseDot, RoundedSum};

impl FloatFormat {
    /// IEEE 754 binary32.
    pub const FLOAT32: Self = wide::FLOAT32;

    /// Every format.
    pub const ALL: [Self; 14] = [
        fp8::E4M3FN,
        fp8::E5M2,
        fp8::E4M3FNUZ,
        fp8::E5M2FNUZ,
        microscaling::E3M2,
        microscaling::E2M3,
        microscaling::E2M1,
        microscaling::UE8M0,
        microscaling::UE4M3,
        wide::FLOAT16,
        wide::BFLOAT16,
        wide::TF32,
        wide::E8M13,
        wide::FLOAT32,
    ];
}

impl FromStr for FloatFormat {
    type Err = UnknownFloatFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|format| format.name == name)
            .ok_or_else(|| UnknownFloatFormat(name.into()))
    }
}

/// Error for an unknown name of a floating-point format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown floating-point format `{0}`; the formats are {names}",
    names = FloatFormat::ALL.map(FloatFormat::name).join(", ")
)]
pub struct UnknownFloatFormat(String);
