//! Rounding right shifts, which drop low bits.

use std::fmt;
use std::str::FromStr;

/// The rounding of a right shift.
///
/// The names follow AMD's UG1399 (`ap_fixed` quantization modes), spelled out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rounding {
    /// Toward minus infinity: the low bits are truncated.
    #[default]
    Floor,
    /// Toward zero.
    TowardZero,
    /// To nearest, ties toward plus infinity.
    HalfUp,
    /// To nearest, ties toward minus infinity.
    HalfDown,
    /// To nearest, ties away from zero.
    HalfAway,
    /// To nearest, ties toward zero.
    HalfToZero,
    /// To nearest, ties to the even neighbour.
    HalfEven,
    /// To nearest, ties to the odd neighbour.
    HalfOdd,
}

impl Rounding {
    /// Every rounding, in the order of the manual.
    pub const ALL: [Self; 8] = [
        Self::Floor,
        Self::TowardZero,
        Self::HalfUp,
        Self::HalfDown,
        Self::HalfAway,
        Self::HalfToZero,
        Self::HalfEven,
        Self::HalfOdd,
    ];

    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::TowardZero => "toward_zero",
            Self::HalfUp => "half_up",
            Self::HalfDown => "half_down",
            Self::HalfAway => "half_away",
            Self::HalfToZero => "half_to_zero",
            Self::HalfEven => "half_even",
            Self::HalfOdd => "half_odd",
        }
    }

    /// Returns the number used for the rounding in the RTL.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Returns `value / 2^shift`, rounded. `shift` must be below 127.
    pub fn shift_right(self, value: i128, shift: u32) -> i128 {
        if shift == 0 {
            return value;
        }
        let floor = value >> shift;
        let rest = value - (floor << shift);
        let half = 1i128 << (shift - 1);
        let up = match self {
            Self::Floor => false,
            Self::TowardZero => value < 0 && rest != 0,
            _ if rest != half => rest > half,
            Self::HalfUp => true,
            Self::HalfDown => false,
            Self::HalfAway => value >= 0,
            Self::HalfToZero => value < 0,
            Self::HalfEven => floor & 1 == 1,
            Self::HalfOdd => floor & 1 == 0,
        };
        floor + i128::from(up)
    }
}

/// Returns `value / 2^shift`, rounded up with a probability equal to the dropped fraction.
///
/// The result is `floor((value + r) / 2^shift)`, where `r` is the low `shift` bits of the random `word`. `shift` must
/// be below 64.
pub fn stochastic_shift_right(value: i128, shift: u32, word: u64) -> i128 {
    (value + i128::from(word & ((1 << shift) - 1))) >> shift
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rounding {
    type Err = UnknownRounding;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| UnknownRounding(name.into()))
    }
}

/// Error for an unknown name of a rounding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown rounding `{0}`; the roundings are {names}", names = Rounding::ALL.map(Rounding::name).join(", "))]
pub struct UnknownRounding(String);
