//! What a register does with a result that it cannot hold.
//!
//! One file per mode. To add one: write its file, add its line to `modes!`. All that differs between modes follows from
//! there; a way of treating values beyond the rails that no mode had is a variant of [`Beyond`].

use std::fmt;
use std::str::FromStr;

use crate::Format;

/// Registers the modes: variant and file. Their order is that of the manual, and of the codes in the RTL.
macro_rules! modes {
    ($($(#[$doc:meta])* $variant:ident = $file:ident;)*) => {
        $(mod $file;)*

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
    /// Two's complement: the value modulo `2^bits`.
    Wrap = wrap;
    /// The rail that was crossed.
    Saturate = saturate;
    /// As [`Saturate`](Self::Saturate), but the rails are `+-(2^(bits-1) - 1)`.
    SaturateSymmetric = saturate_symmetric;
    /// Zero.
    SaturateZero = saturate_zero;
    /// The rail that was crossed first, until the register is cleared.
    Sticky = sticky;
    /// The value stays exact; overflow is only noted.
    Observe = observe;
    /// The simulation stops.
    Trap = trap;
}

/// All that a mode is.
struct Mode {
    /// The name used in files.
    name: &'static str,
    /// What a register holds of a value beyond its rails, in words for documents.
    meaning: &'static str,
    /// Whether the lower rail of a signed register is the negative of the upper one.
    symmetric: bool,
    /// What a register holds of a value beyond its rails.
    beyond: Beyond,
}

/// What a register holds of a value beyond its rails.
#[derive(Debug, Clone, Copy)]
pub enum Beyond {
    /// The value: it stays exact.
    Exact,
    /// The value modulo `2^bits`.
    Wrapped,
    /// The rail that it crossed.
    Rail,
    /// The same, and further addends are ignored until the register is cleared.
    Latched,
    /// What the rails alone decide: one value above, one below.
    Chosen {
        /// The value, which the format holds.
        value: fn(Rails) -> i128,
        /// The same in SystemVerilog and VHDL: an expression of `rail`, `min`, `max` and `zero`.
        hdl: &'static str,
    },
}

/// The rails of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rails {
    /// The least value that the mode leaves alone.
    pub min: i128,
    /// The greatest.
    pub max: i128,
    /// The one that was crossed.
    pub rail: i128,
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
    /// The name used in files.
    pub fn name(self) -> &'static str {
        self.mode().name
    }

    /// The number used for it in the RTL.
    pub fn code(self) -> u32 {
        self as u32
    }

    /// Whether the lower rail of a signed register is `-(2^(bits-1) - 1)`.
    pub fn is_symmetric(self) -> bool {
        self.mode().symmetric
    }

    /// What a register holds of a value beyond its rails, in words for documents.
    pub fn meaning(self) -> &'static str {
        self.mode().meaning
    }

    /// What a register holds of a value beyond its rails.
    pub fn beyond(self) -> Beyond {
        self.mode().beyond
    }

    /// Whether the value stays exact, so that overflow is an event and no error.
    pub fn keeps_exact(self) -> bool {
        matches!(self.beyond(), Beyond::Exact)
    }

    /// Whether a register that has overflowed ignores further addends until it is cleared.
    pub fn latches(self) -> bool {
        matches!(self.beyond(), Beyond::Latched)
    }

    /// What a register holds of a value beyond its rails: `exact` is the value, `wrapped` the value modulo `2^bits`.
    pub fn held(self, exact: i128, wrapped: i128, rails: Rails) -> i128 {
        match self.beyond() {
            Beyond::Exact => exact,
            Beyond::Wrapped => wrapped,
            Beyond::Rail | Beyond::Latched => rails.rail,
            Beyond::Chosen { value, .. } => value(rails),
        }
    }

    /// The same in SystemVerilog and VHDL: an expression of `exact`, `wrapped`, `rail`, `min`, `max` and `zero`.
    pub fn hdl(self) -> &'static str {
        match self.beyond() {
            Beyond::Exact => "exact",
            Beyond::Wrapped => "wrapped",
            Beyond::Rail | Beyond::Latched => "rail",
            Beyond::Chosen { hdl, .. } => hdl,
        }
    }

    /// The least and greatest value that this mode leaves alone.
    pub fn limits(self, format: Format) -> (i128, i128) {
        let min = if self.is_symmetric() && format.is_signed() { -format.max() } else { format.min() };
        (min, format.max())
    }

    /// One exact result written into a register of `format`.
    ///
    /// A mode that [latches](Self::latches) has no memory here: it is [`Accumulator`](crate::Accumulator) that
    /// remembers.
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

    /// Bounds of what a register of `format` can hold after exact results from `min` to `max`: the whole format where
    /// something lies beyond a rail and becomes a value that depends on how far.
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

/// A name that is no overflow mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown overflow mode `{0}`; the modes are {modes}", modes = Overflow::ALL.map(Overflow::name).join(", "))]
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
