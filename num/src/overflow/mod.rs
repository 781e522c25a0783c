//! What a register does with a result that it cannot hold.
//!
//! One file per mode. To add one: write its file, add its line to `modes!`.

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
    /// Whether the lower rail of a signed register is the negative of the upper one.
    symmetric: bool,
    /// What a register holds of a value beyond its rails.
    beyond: fn(Beyond) -> i128,
    /// The same in SystemVerilog and VHDL: an expression of `exact`, `wrapped`, `rail` and `zero`.
    hdl: &'static str,
    /// Whether what it holds beyond a rail depends on nothing but the rail.
    one_per_rail: bool,
    /// Whether it ignores further addends after the first overflow, until it is cleared.
    latches: bool,
    /// Whether the value stays exact.
    exact: bool,
}

impl Mode {
    /// What most modes are.
    const COMMON: Self = Self {
        name: "",
        symmetric: false,
        beyond: |beyond| beyond.rail,
        hdl: "rail",
        one_per_rail: true,
        latches: false,
        exact: false,
    };
}

/// A value beyond the rails of a register.
#[derive(Debug, Clone, Copy)]
struct Beyond {
    /// As it is.
    exact: i128,
    /// Modulo `2^bits`.
    wrapped: i128,
    /// The rail that it crossed.
    rail: i128,
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

    /// Whether the value stays exact, so that overflow is an event and no error.
    pub fn keeps_exact(self) -> bool {
        self.mode().exact
    }

    /// Whether a register that has overflowed ignores further addends until it is cleared.
    pub fn latches(self) -> bool {
        self.mode().latches
    }

    /// What a register holds of a value beyond its rails: `exact` is the value, `wrapped` the value modulo `2^bits`,
    /// `rail` the rail that it crossed.
    pub fn beyond(self, exact: i128, wrapped: i128, rail: i128) -> i128 {
        (self.mode().beyond)(Beyond { exact, wrapped, rail })
    }

    /// The same in SystemVerilog and VHDL: an expression of `exact`, `wrapped`, `rail` and `zero`.
    pub fn hdl(self) -> &'static str {
        self.mode().hdl
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
    pub fn fit(self, exact: i128, format: Format) -> Fit {
        let (low, high) = self.limits(format);
        let (overflow, rail) = if exact > high {
            (Direction::High, high)
        } else if exact < low {
            (Direction::Low, low)
        } else {
            return Fit { value: exact, overflow: None };
        };
        let value = self.beyond(exact, format.wrap(exact), rail);
        Fit { value, overflow: Some(overflow) }
    }

    /// Bounds of what a register of `format` can hold after exact results from `min` to `max`: the whole format where
    /// something lies beyond a rail and becomes a value that depends on how far.
    pub fn fit_range(self, min: i128, max: i128, format: Format) -> (i128, i128) {
        let (low, high) = self.limits(format);
        if self.keeps_exact() || low <= min && max <= high {
            return (min, max);
        }
        if !self.mode().one_per_rail {
            return (format.min(), format.max());
        }
        let ends = [
            min.clamp(low, high),
            max.clamp(low, high),
            self.fit(min, format).value,
            self.fit(max, format).value,
        ];
        ends.into_iter()
            .fold((ends[0], ends[0]), |(least, greatest), end| (least.min(end), greatest.max(end)))
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
