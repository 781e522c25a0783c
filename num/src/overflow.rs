//! What a register does with a result that it cannot hold.

use std::fmt;
use std::str::FromStr;

use crate::Format;

/// The overflow mode of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Two's complement: the value modulo `2^bits`.
    Wrap,
    /// The rail that was crossed.
    Saturate,
    /// As [`Saturate`](Self::Saturate), but the rails are `+-(2^(bits-1) - 1)`.
    SaturateSymmetric,
    /// Zero.
    SaturateZero,
    /// The rail that was crossed first, until the register is cleared.
    Sticky,
    /// The value stays exact; overflow is only noted.
    Observe,
    /// The simulation stops.
    Trap,
}

/// The rail that an exact result crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// Above the greatest value.
    High,
    /// Below the least value.
    Low,
}

/// A value after it was made to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// What the register holds.
    pub value: i128,
    /// The rail that the exact value crossed, if it did not fit.
    pub overflow: Option<Direction>,
}

impl Overflow {
    /// Every mode, in the order of the manual.
    pub const ALL: [Self; 7] = [
        Self::Wrap,
        Self::Saturate,
        Self::SaturateSymmetric,
        Self::SaturateZero,
        Self::Sticky,
        Self::Observe,
        Self::Trap,
    ];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrap => "wrap",
            Self::Saturate => "saturate",
            Self::SaturateSymmetric => "saturate_symmetric",
            Self::SaturateZero => "saturate_zero",
            Self::Sticky => "sticky",
            Self::Observe => "observe",
            Self::Trap => "trap",
        }
    }

    /// The least and greatest value that this mode leaves alone.
    pub fn limits(self, format: Format) -> (i128, i128) {
        match self {
            Self::SaturateSymmetric if format.is_signed() => (-format.max(), format.max()),
            _ => (format.min(), format.max()),
        }
    }

    /// One exact result written into a register of `format`.
    ///
    /// [`Sticky`](Self::Sticky) behaves as [`Saturate`](Self::Saturate) here: it is [`Accumulator`](crate::Accumulator)
    /// that remembers. [`Observe`](Self::Observe) and [`Trap`](Self::Trap) leave the value exact.
    pub fn fit(self, exact: i128, format: Format) -> Fit {
        let (low, high) = self.limits(format);
        let overflow = if exact > high {
            Some(Direction::High)
        } else if exact < low {
            Some(Direction::Low)
        } else {
            return Fit { value: exact, overflow: None };
        };
        let value = match self {
            Self::Wrap => format.wrap(exact),
            Self::Saturate | Self::SaturateSymmetric | Self::Sticky => exact.clamp(low, high),
            Self::SaturateZero => 0,
            Self::Observe | Self::Trap => exact,
        };
        Fit { value, overflow }
    }
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Overflow {
    type Err = UnknownOverflow;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| UnknownOverflow(name.into()))
    }
}

/// A name that is no overflow mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown overflow mode `{0}`; the modes are wrap, saturate, saturate_symmetric, saturate_zero, sticky, observe, trap"
)]
pub struct UnknownOverflow(String);

impl Direction {
    /// `high` or `low`, as in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Low => "low",
        }
    }
}
