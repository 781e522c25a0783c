//! Integer formats of a run-time width and the widths that values need.

use crate::Direction;

/// Narrowest width of a register.
pub const MIN_BITS: u32 = 2;
/// Widest width of a register.
pub const MAX_BITS: u32 = 64;

/// A width outside [`MIN_BITS`]`..=`[`MAX_BITS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a width of {bits} bits is outside {MIN_BITS}..={MAX_BITS}")]
pub struct WidthError {
    /// The width that was asked for.
    pub bits: u64,
}

/// The format of a register: its width and whether its top bit is a sign (two's complement).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format {
    bits: u32,
    signed: bool,
}

impl Format {
    /// A format of `bits` bits.
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

    /// Two's complement of `bits` bits.
    ///
    /// # Errors
    /// [`WidthError`] if `bits` is outside `2..=64`.
    pub fn signed(bits: u32) -> Result<Self, WidthError> {
        Self::new(bits, true)
    }

    /// Width in bits, sign included.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Whether the top bit is a sign.
    pub fn is_signed(self) -> bool {
        self.signed
    }

    /// Least value: `-2^(bits-1)`, or 0 when unsigned.
    pub fn min(self) -> i128 {
        if self.signed { -(1i128 << (self.bits - 1)) } else { 0 }
    }

    /// Greatest value: `2^(bits-1) - 1`, or `2^bits - 1` when unsigned.
    pub fn max(self) -> i128 {
        if self.signed { (1i128 << (self.bits - 1)) - 1 } else { (1i128 << self.bits) - 1 }
    }

    /// Which rail `value` crosses, if any.
    pub fn misfit(self, value: i128) -> Option<Direction> {
        if value > self.max() {
            Some(Direction::High)
        } else if value < self.min() {
            Some(Direction::Low)
        } else {
            None
        }
    }

    /// Whether `value` can be held.
    #[inline]
    pub fn holds(self, value: i128) -> bool {
        self.misfit(value).is_none()
    }

    /// `value` modulo `2^bits`, read back in this format.
    pub fn wrap(self, value: i128) -> i128 {
        (value - self.min()).rem_euclid(1i128 << self.bits) + self.min()
    }
}

/// The least width that holds `value`: two's complement if `signed`, else plain binary. `required(0)` is 1.
///
/// No unsigned width holds a negative value: that is said with 65, one more than the widest register.
///
/// Integer arithmetic on bit lengths, as FINN's data types do it (Xilinx/finn, `datatype.py`).
pub fn required_bits(value: i128, signed: bool) -> u32 {
    let magnitude = if value < 0 { !value } else { value };
    let length = i128::BITS - magnitude.leading_zeros();
    match (signed, value < 0) {
        (true, _) => length + 1,
        (false, false) => length.max(1),
        (false, true) => MAX_BITS + 1,
    }
}
