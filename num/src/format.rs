//! Integer formats with a width chosen at run time, and the widths that values require.

use crate::Direction;

/// Smallest width of a register, in bits.
pub const MIN_BITS: u32 = 2;
/// Largest width of a register, in bits.
pub const MAX_BITS: u32 = 64;

/// Error for a width outside [`MIN_BITS`]`..=`[`MAX_BITS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a width of {bits} bits is outside {MIN_BITS}..={MAX_BITS}")]
pub struct WidthError {
    /// The requested width.
    pub bits: u64,
}

/// The format of a register: its width, and whether it is signed (two's complement).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format {
    bits: u32,
    signed: bool,
}

impl Format {
    /// Creates a format of `bits` bits.
    ///
    /// # Errors
    /// [`WidthError`] if `bits` is outside `2..=64`.
    pub fn new(bits: u32, signed: bool) -> Result<Self, WidthError> {
        if (MIN_BITS..=MAX_BITS).contains(&bits) {
            Ok(Self { bits, signed })
        } else {
            Err(WidthError { bits: bits.into() })
        }
    }

    /// Creates a two's complement format of `bits` bits.
    ///
    /// # Errors
    /// [`WidthError`] if `bits` is outside `2..=64`.
    pub fn signed(bits: u32) -> Result<Self, WidthError> {
        Self::new(bits, true)
    }

    /// Returns the width in bits, sign included.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Returns whether the top bit is a sign.
    pub fn is_signed(self) -> bool {
        self.signed
    }

    /// Returns the least value: `-2^(bits-1)`, or 0 if unsigned.
    pub fn min(self) -> i128 {
        if self.signed { -(1i128 << (self.bits - 1)) } else { 0 }
    }

    /// Returns the greatest value: `2^(bits-1) - 1`, or `2^bits - 1` if unsigned.
    pub fn max(self) -> i128 {
        if self.signed { (1i128 << (self.bits - 1)) - 1 } else { (1i128 << self.bits) - 1 }
    }

    /// Returns the rail that `value` crosses, or `None` if it fits.
    pub fn misfit(self, value: i128) -> Option<Direction> {
        if value > self.max() {
            Some(Direction::High)
        } else if value < self.min() {
            Some(Direction::Low)
        } else {
            None
        }
    }

    /// Returns whether `value` fits this format.
    #[inline]
    pub fn holds(self, value: i128) -> bool {
        self.misfit(value).is_none()
    }

    /// Returns `value` modulo `2^bits`, read in this format.
    pub fn wrap(self, value: i128) -> i128 {
        (value - self.min()).rem_euclid(1i128 << self.bits) + self.min()
    }
}

/// Returns the least width that holds `value`, in two's complement if `signed`, otherwise in unsigned binary.
///
/// Returns 1 for 0. Returns 65 (`MAX_BITS + 1`) for a negative value when `signed` is false.
///
/// The computation uses integer bit lengths, like the data types of FINN (Xilinx/finn, `datatype.py`).
pub fn required_bits(value: i128, signed: bool) -> u32 {
    let magnitude = if value < 0 { !value } else { value };
    let length = i128::BITS - magnitude.leading_zeros();
    match (signed, value < 0) {
        (true, _) => length + 1,
        (false, false) => length.max(1),
        (false, true) => MAX_BITS + 1,
    }
}
