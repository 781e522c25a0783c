//! Where values lie relative to the rails of a register.

use guardbit_hwmodels::bounds::Range;

/// Name of the bias adder among registers.
pub(super) const BIAS: &str = "bias";

/// Position of a value relative to the rails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    In,
    High,
    Low,
}

impl Side {
    pub fn of(value: i128, rails: Range) -> Self {
        match value {
            v if v > rails.max => Self::High,
            v if v < rails.min => Self::Low,
            _ => Self::In,
        }
    }

    pub const ALL: [Self; 3] = [Self::In, Self::High, Self::Low];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|side| side.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::High => "high",
            Self::Low => "low",
        }
    }
}
