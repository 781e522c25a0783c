//! Overflow modes: what a register does with a result that does not fit.
//!
//! Each mode is one file. To add a mode, write its file, its `mod` line and its line in `modes!`. Everything else
//! follows from there. A new way of treating values beyond the rails is a variant of [`Beyond`].

mod observe;
mod saturate;
mod saturate_symmetric;
mod saturate_zero;
mod sticky;
mod trap;
mod wrap;

use std::fmt;
use std::str::FromStr;

use crate::Format;

/// Registers the modes: variant and file. Their order is the order in the manual and of the codes in the RTL.
macro_rules! modes {
    ($($(#[$doc:meta])* $variant:ident = $file:ident;)*) => {
        /// The overflow mode of a register.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Overflow {
            $($(#[$doc])* $variant,)*
        }

        impl Overflow {
            /// Every mode, in the order of the manual.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            const fn mode(self) -> &'static Mode {
                match self { $(Self::$variant => &$file::MODE,)* }
            }
        }
    };
}

modes! {
    /// Two's complement wrap: the register holds the value modulo `2^bits`.
    Wrap = wrap;
    /// Saturation: the register holds the rail that was crossed.
    Saturate = saturate;
    /// Saturation to symmetric rails, `+-(2^(bits-1) - 1)`.
    SaturateSymmetric = saturate_symmetric;
    /// The register holds zero after an overflow.
    SaturateZero = saturate_zero;
    /// The register holds the rail that was crossed first, until it is cleared.
    Sticky = sticky;
    /// The value stays exact; the overflow is only counted.
    Observe = observe;
    /// The simulation stops at the first overflow.
    Trap = trap;
}

/// The properties of an overflow mode.
struct Mode {
    /// The name used in files.
    name: &'static str,
    /// The value of a register after an overflow, as a phrase for documents.
    meaning: &'static str,
    /// Whether the lower rail of a signed register is the negative of the upper one.
    symmetric: bool,
    /// The value of a register after an overflow.
    beyond: Beyond,
}

/// The value of a register if the exact value is beyond its rails.
#[derive(Debug, Clone, Copy)]
pub enum Beyond {
    /// The exact value.
    Exact,
    /// The value modulo `2^bits`.
    Wrapped,
    /// The rail that the value crossed.
    Rail,
    /// The rail that the value crossed; the register ignores further addends until it is cleared.
    Latched,
    /// A value that depends only on the rails: one for values above, one for values below.
    Chosen {
        /// Returns the value, which must fit the format.
        value: fn(Rails) -> i128,
        /// The value in SystemVerilog and VHDL: an expression of `rail`, `min`, `max` and `zero`.
        hdl: &'static str,
    },
}

/// The rails of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rails {
    /// The least value that the mode does not change.
    pub min: i128,
    /// The greatest value that the mode does not change.
    pub max: i128,
    /// The rail that was crossed.
    pub rail: i128,
}

/// The direction of an overflow: which rail an exact result crossed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// The result is above the greatest value.
    High,
    /// The result is below the least value.
    Low,
}

/// The outcome of writing an exact value into a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    /// The value that the register holds.
    pub value: i128,
    /// The rail that the exact value crossed, or `None` if it fits.
    pub overflow: Option<Direction>,
}

impl Overflow {
    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        self.mode().name
    }

    /// Returns the number used for the mode in the RTL.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Returns whether the lower rail of a signed register is `-(2^(bits-1) - 1)`.
    pub fn is_symmetric(self) -> bool {
        self.mode().symmetric
    }

    /// Returns what a register holds after an overflow, as a phrase for documents.
    pub fn meaning(self) -> &'static str {
        self.mode().meaning
    }

    /// Returns what a register holds after an overflow.
    pub fn beyond(self) -> Beyond {
        self.mode().beyond
    }

    /// Returns whether the value stays exact, so that an overflow is an event but changes no value.
    pub fn keeps_exact(self) -> bool {
        matches!(self.beyond(), Beyond::Exact)
    }

    /// Returns whether a register that has overflowed ignores further addends until it is cleared.
    pub fn latches(self) -> bool {
        matches!(self.beyond(), Beyond::Latched)
    }

    /// Returns what a register holds after an overflow. `exact` is the value, `wrapped` the value modulo `2^bits`.
    pub fn held(self, exact: i128, wrapped: i128, rails: Rails) -> i128 {
        match self.beyond() {
            Beyond::Exact => exact,
            Beyond::Wrapped => wrapped,
            Beyond::Rail | Beyond::Latched => rails.rail,
            Beyond::Chosen { value, .. } => value(rails),
        }
    }

    /// Returns what a register holds after an overflow, as an expression in SystemVerilog and VHDL.
    ///
    /// The expression uses `exact`, `wrapped`, `rail`, `min`, `max` and `zero`.
    pub fn hdl(self) -> &'static str {
        match self.beyond() {
            Beyond::Exact => "exact",
            Beyond::Wrapped => "wrapped",
            Beyond::Rail | Beyond::Latched => "rail",
            Beyond::Chosen { hdl, .. } => hdl,
        }
    }

    /// Returns the least and the greatest value that this mode does not change.
    pub fn limits(self, format: Format) -> (i128, i128) {
        let min = if self.is_symmetric() && format.is_signed() { -format.max() } else { format.min() };
        (min, format.max())
    }

    /// Returns the outcome of writing one exact result into a register of `format`.
    ///
    /// The method has no memory, even if the mode [latches](Self::latches). [`Accumulator`](crate::Accumulator) keeps
    /// the state of such a register.
    #[inline]
    pub fn fit(self, exact: i128, format: Format) -> Fit {
        let (min, max) = self.limits(format);
        let (overflow, rail) = if exact > max {
            (Direction::High, max)
        } else if exact < min {
            (Direction::Low, min)
        } else {
            return Fit { value: exact, overflow: None };
        };
        let value = self.held(exact, format.wrap(exact), Rails { min, max, rail });
        Fit { value, overflow: Some(overflow) }
    }

    /// Returns the bounds of what a register of `format` can hold after exact results from `min` to `max`.
    ///
    /// The bounds are those of the whole format if an overflow is possible and the mode wraps.
    pub fn fit_range(self, min: i128, max: i128, format: Format) -> (i128, i128) {
        let (low, high) = self.limits(format);
        if low <= min && max <= high {
            return (min, max);
        }
        match self.beyond() {
            Beyond::Exact => (min, max),
            Beyond::Wrapped => (format.min(), format.max()),
            Beyond::Rail | Beyond::Latched | Beyond::Chosen { .. } => {
                let inside = [min.clamp(low, high), max.clamp(low, high)];
                let fitted = [min, max].map(|end| self.fit(end, format).value);
                let ends = [inside, fitted].concat();
                ends.iter()
                    .fold((ends[0], ends[0]), |(least, greatest), &end| (least.min(end), greatest.max(end)))
            }
        }
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

/// Error for an unknown name of an overflow mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown overflow mode `{0}`; the modes are {modes}", modes = Overflow::ALL.map(Overflow::name).join(", "))]
pub struct UnknownOverflow(String);

impl Direction {
    /// Returns the name used in files: `high` or `low`.
    pub fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Low => "low",
        }
    }
}
