//! How a register holds exact values, `rtl/gb_fit.sv`, with the faults of it.

use guardbit_num::{Overflow, Rails};

use crate::manifest::RegisterInfo;

/// Parameters of `gb_fit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fit {
    pub bits: u32,
    pub signed: bool,
    pub mode: Overflow,
    /// Whether the upper rail is one too low.
    pub off_by_one: bool,
    /// Whether a clamp goes to the wrong rail.
    pub swapped: bool,
    /// Whether the wrapped value replaces the rail that was crossed.
    pub rail_wraps: bool,
}

impl Fit {
    /// Returns the fit without a fault.
    pub fn new(bits: u32, signed: bool, mode: Overflow) -> Self {
        Self { bits, signed, mode, off_by_one: false, swapped: false, rail_wraps: false }
    }

    /// Returns the fit of a register; `None` if it is wide enough for all values.
    pub fn of(info: &RegisterInfo) -> Option<Self> {
        Some(Self::new(info.bits?, info.signed, info.overflow?))
    }

    /// Returns `MIN` and `MAX` of the module.
    pub fn rails(self) -> (i128, i128) {
        let top = self.bits - u32::from(self.signed);
        let max = (1i128 << top) - 1 - i128::from(self.off_by_one);
        let min = match (self.signed, self.mode.is_symmetric()) {
            (false, _) => 0,
            (true, true) => -max,
            (true, false) => -max - 1,
        };
        (min, max)
    }

    /// Returns the result and the flags `high` and `low`.
    pub fn apply(self, value: i128) -> (i128, (bool, bool)) {
        let (min, max) = self.rails();
        let (high, low) = (value > max, value < min);
        if !high && !low {
            return (value, (high, low));
        }
        let modulus = 1i128 << self.bits;
        let half = if self.signed { modulus / 2 } else { 0 };
        let wrapped = (value + half).rem_euclid(modulus) - half;
        let rail = match (self.rail_wraps, high != self.swapped) {
            (true, _) => wrapped,
            (false, true) => max,
            (false, false) => min,
        };
        (self.mode.held(value, wrapped, Rails { min, max, rail }), (high, low))
    }
}
