//! Type of codes with their zero point.

use std::fmt;
use std::str::FromStr;

use guardbit_graph::{CodeRange, DType};

/// Type of codes, and their zero point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeType {
    /// The type.
    pub dtype: DType,
    /// The zero point, which is one of its codes.
    pub zero_point: i32,
}

/// Text that is not a type of codes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CodeTypeError {
    /// Not a type of up to 16 bits.
    #[error("`{0}`: expected a type, with its zero point if it has one: {names}, or e.g. uint8:128", names = names())]
    Type(String),
    /// Zero point that is no code.
    #[error("`{text}`: the zero point of {dtype} is a whole number from {} to {}", range.min(), range.max())]
    ZeroPoint {
        /// The text.
        text: String,
        /// The type.
        dtype: DType,
        /// Its codes.
        range: CodeRange,
    },
}

/// Types that operands of a multiplier can have.
const TYPES: [DType; 6] = [DType::Int4, DType::UInt4, DType::Int8, DType::UInt8, DType::Int16, DType::UInt16];

fn names() -> String {
    TYPES.map(DType::name).join(", ")
}

impl FromStr for CodeType {
    type Err = CodeTypeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, zero_point) = text.split_once(':').unwrap_or((text, "0"));
        let dtype = TYPES.into_iter().find(|dtype| dtype.name() == name);
        let dtype = dtype.ok_or_else(|| CodeTypeError::Type(text.into()))?;
        let range = CodeRange::of(dtype);
        let zero_point = zero_point.parse().ok().filter(|z| (range.min()..=range.max()).contains(z));
        let zero_point =
            zero_point.ok_or_else(|| CodeTypeError::ZeroPoint { text: text.into(), dtype, range })?;
        Ok(Self { dtype, zero_point })
    }
}

impl fmt::Display for CodeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.dtype, self.zero_point)
    }
}
