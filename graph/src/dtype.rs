//! Types of codes.

use std::fmt;
use std::str::FromStr;

use guardbit_num::FloatFormat;

/// The type of a tensor's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum DType {
    /// Codes from -8 to 7.
    Int4,
    /// Codes from 0 to 15.
    UInt4,
    /// Codes from -128 to 127.
    Int8,
    /// Codes from 0 to 255.
    UInt8,
    /// Codes from -32768 to 32767.
    Int16,
    /// Codes from 0 to 65535.
    UInt16,
    /// Codes of 32 bits in two's complement.
    Int32,
    /// Values of 64 bits in two's complement, only for constant biases. Activations and weights have at most 32 bits.
    Int64,
    /// Real values of a region left in float.
    ///
    /// A code is the 32-bit word of an IEEE-754 single ([`word_of`](crate::word_of), [`real_of`](crate::real_of)).
    /// Such a tensor has no quantization, and every word is allowed.
    Float32,
    /// Codes of 16 bits: IEEE 754 binary16.
    Float16,
    /// Codes of 16 bits: the upper half of a float32.
    BFloat16,
    /// Codes of 8 bits: OCP FP8, largest 448, without infinity.
    Float8E4M3Fn,
    /// Codes of 8 bits: OCP FP8, largest 57344.
    Float8E5M2,
    /// Codes of 8 bits: largest 240, one zero, one NaN.
    Float8E4M3FnUz,
    /// Codes of 8 bits: largest 57344, one zero, one NaN.
    Float8E5M2FnUz,
    /// Codes of 8 bits: powers of two, the scales of OCP microscaling blocks.
    Float8E8M0,
    /// Codes of 4 bits: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
    Float4E2M1,
}

/// Error for an unknown name of a dtype.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype `{0}`; the dtypes are {names}", names = DType::ALL.map(DType::name).join(", "))]
pub struct UnknownDType(String);

impl DType {
    /// Every dtype.
    pub const ALL: [Self; 17] = [
        Self::Int4,
        Self::UInt4,
        Self::Int8,
        Self::UInt8,
        Self::Int16,
        Self::UInt16,
        Self::Int32,
        Self::Int64,
        Self::Float32,
        Self::Float16,
        Self::BFloat16,
        Self::Float8E4M3Fn,
        Self::Float8E5M2,
        Self::Float8E4M3FnUz,
        Self::Float8E5M2FnUz,
        Self::Float8E8M0,
        Self::Float4E2M1,
    ];

    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int4 => "int4",
            Self::UInt4 => "uint4",
            Self::Int8 => "int8",
            Self::UInt8 => "uint8",
            Self::Int16 => "int16",
            Self::UInt16 => "uint16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float32 => "float32",
            Self::Float16 => "float16",
            Self::BFloat16 => "bfloat16",
            Self::Float8E4M3Fn => "float8_e4m3fn",
            Self::Float8E5M2 => "float8_e5m2",
            Self::Float8E4M3FnUz => "float8_e4m3fnuz",
            Self::Float8E5M2FnUz => "float8_e5m2fnuz",
            Self::Float8E8M0 => "float8_e8m0",
            Self::Float4E2M1 => "float4_e2m1",
        }
    }

    /// Returns the type of integers with these codes and at least 8 bits, and itself for float32.
    pub fn storage(self) -> Self {
        match self {
            Self::Int4 => Self::Int8,
            Self::UInt4 => Self::UInt8,
            Self::Float16 | Self::BFloat16 => Self::UInt16,
            _ if self.is_short_float() => Self::UInt8,
            _ => self,
        }
    }

    /// Returns NumPy's name of the element type that holds these codes in files. Codes of 4 bits are stored in bytes,
    /// and codes of short floating-point formats as unsigned integers.
    pub fn file_name(self) -> &'static str {
        self.storage().name()
    }

    /// Returns the size in bytes of an element in files.
    pub fn file_bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// Returns the width in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::Int4 | Self::UInt4 => 4,
            Self::Int8 | Self::UInt8 => 8,
            Self::Int16 | Self::UInt16 => 16,
            Self::Int32 | Self::Float32 => 32,
            Self::Int64 => 64,
            _ => self.float_format().map_or(32, FloatFormat::bits),
        }
    }

    /// Returns the floating-point format of the codes, or `None` for integers.
    pub fn float_format(self) -> Option<FloatFormat> {
        let name = match self {
            Self::Float32 => "float32",
            Self::Float16 => "float16",
            Self::BFloat16 => "bfloat16",
            Self::Float8E4M3Fn => "e4m3fn",
            Self::Float8E5M2 => "e5m2",
            Self::Float8E4M3FnUz => "e4m3fnuz",
            Self::Float8E5M2FnUz => "e5m2fnuz",
            Self::Float8E8M0 => "ue8m0",
            Self::Float4E2M1 => "e2m1",
            _ => return None,
        };
        name.parse().ok()
    }

    /// Returns whether codes are floating-point numbers, which have neither scale nor zero point.
    pub fn is_float(self) -> bool {
        self == Self::Float32 || self.is_short_float()
    }

    /// Returns whether codes are floating-point numbers of at most 16 bits.
    pub fn is_short_float(self) -> bool {
        match self {
            Self::Int4 | Self::UInt4 | Self::Int8 | Self::UInt8 | Self::Int16 | Self::UInt16 => false,
            Self::Int32 | Self::Int64 | Self::Float32 => false,
            Self::Float16 | Self::BFloat16 | Self::Float8E4M3Fn | Self::Float8E5M2 => true,
            Self::Float8E4M3FnUz | Self::Float8E5M2FnUz | Self::Float8E8M0 | Self::Float4E2M1 => true,
        }
    }

    /// Returns whether codes can be negative.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Int4 | Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 | Self::Float32)
    }

    /// Returns the least code. For int64, which has no codes, returns that of int32.
    #[inline]
    pub fn min(self) -> i32 {
        if self.is_signed() { i32::MIN >> (32 - self.bits().min(32)) } else { 0 }
    }

    /// Returns the greatest code. For int64, which has no codes, returns that of int32.
    #[inline]
    pub fn max(self) -> i32 {
        if self.is_signed() { i32::MAX >> (32 - self.bits().min(32)) } else { (1 << self.bits()) - 1 }
    }

    /// Returns `value` clamped to the codes of this type.
    pub fn saturate(self, value: i128) -> i32 {
        value.clamp(self.min().into(), self.max().into()) as i32
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|d| d.name() == name).ok_or_else(|| UnknownDType(name.into()))
    }
}

#[cfg(test)]
mod tests {
    use guardbit_num::Decoded;

    use super::*;
    use crate::RealCodes;

    #[test]
    fn elements_of_files_hold_the_codes() {
        let found = DType::ALL.map(|dtype| (dtype.name(), dtype.file_name(), dtype.file_bytes()));
        let small = [("int4", "int8", 1), ("uint4", "uint8", 1), ("int8", "int8", 1), ("uint8", "uint8", 1)];
        let large =
            [("int16", "int16", 2), ("uint16", "uint16", 2), ("int32", "int32", 4), ("int64", "int64", 8)];
        let floats = [
            ("float32", "float32", 4),
            ("float16", "uint16", 2),
            ("bfloat16", "uint16", 2),
            ("float8_e4m3fn", "uint8", 1),
            ("float8_e5m2", "uint8", 1),
            ("float8_e4m3fnuz", "uint8", 1),
            ("float8_e5m2fnuz", "uint8", 1),
            ("float8_e8m0", "uint8", 1),
            ("float4_e2m1", "uint8", 1),
        ];
        assert_eq!(found.to_vec(), [&small[..], &large, &floats].concat());
    }

    /// Every code of a short format is the nearest one to its own value.
    #[test]
    fn codes_of_short_floats_keep_their_values() {
        for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_short_float()) {
            let (format, codes) = (dtype.float_format().unwrap(), RealCodes::of(dtype).unwrap());
            assert_eq!((dtype.min(), dtype.max()), (0, (1 << format.bits()) - 1), "{dtype}");
            for code in dtype.min()..=dtype.max() {
                let (real, is_nan) = (codes.real(code), format.decode(code as u32) == Decoded::Nan);
                assert_eq!(real.is_nan(), is_nan, "{dtype}: {code:#x}");
                let same = codes.code(real, real.is_finite()) == code;
                assert!(is_nan || same, "{dtype}: {code:#x} is {real}");
            }
        }
    }
}
