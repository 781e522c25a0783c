//! Types of codes.

use std::fmt;
use std::str::FromStr;

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
}

/// Error for an unknown name of a dtype.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown dtype `{0}`; the dtypes are int4, uint4, int8, uint8, int16, uint16, int32, int64, float32")]
pub struct UnknownDType(String);

impl DType {
    /// Every dtype.
    pub const ALL: [Self; 9] = [
        Self::Int4,
        Self::UInt4,
        Self::Int8,
        Self::UInt8,
        Self::Int16,
        Self::UInt16,
        Self::Int32,
        Self::Int64,
        Self::Float32,
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
        }
    }

    /// Returns NumPy's name of the element type that holds these codes in files. Codes of 4 bits are stored in bytes.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Int4 => Self::Int8.name(),
            Self::UInt4 => Self::UInt8.name(),
            other => other.name(),
        }
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
        }
    }

    /// Returns whether codes are words that hold real values.
    pub fn is_float(self) -> bool {
        self == Self::Float32
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
    use super::*;

    #[test]
    fn elements_of_files_hold_the_codes() {
        let found = DType::ALL.map(|dtype| (dtype.name(), dtype.file_name(), dtype.file_bytes()));
        let small = [("int4", "int8", 1), ("uint4", "uint8", 1), ("int8", "int8", 1), ("uint8", "uint8", 1)];
        let large =
            [("int16", "int16", 2), ("uint16", "uint16", 2), ("int32", "int32", 4), ("int64", "int64", 8)];
        assert_eq!(found.to_vec(), [&small[..], &large, &[("float32", "float32", 4)]].concat());
    }
}
