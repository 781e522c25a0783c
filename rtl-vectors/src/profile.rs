//! Ports that a design under test has.

/// Ports that a design has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DutProfile {
    /// All ports of `gb_dut`: accumulators and flags, sums, codes.
    #[default]
    Full,
    /// Operands and bias in, sums out.
    Sums,
    /// In addition to [`Sums`](Self::Sums) the multiplier in and the codes out.
    Codes,
}

impl DutProfile {
    /// All profiles.
    pub const ALL: [Self; 3] = [Self::Full, Self::Sums, Self::Codes];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Sums => "sums",
            Self::Codes => "codes",
        }
    }

    /// Returns whether accumulators and flags are compared.
    pub(crate) fn has_accumulators(self) -> bool {
        self == Self::Full
    }

    /// Returns whether codes are compared, if the requantization is supported.
    pub(crate) fn has_codes(self) -> bool {
        self != Self::Sums
    }
}
