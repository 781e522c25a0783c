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
    /// [`Codes`](Self::Codes) with the codes of activations and weights and their zero points instead of operands.
    Raw,
    /// Beats in and sums with codes out, each with valid and ready.
    Stream,
    /// [`Stream`](Self::Stream) as AXI4-Stream.
    Axis,
}

impl DutProfile {
    /// All profiles.
    pub const ALL: [Self; 6] = [Self::Full, Self::Sums, Self::Codes, Self::Raw, Self::Stream, Self::Axis];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Sums => "sums",
            Self::Codes => "codes",
            Self::Raw => "raw",
            Self::Stream => "stream",
            Self::Axis => "axis",
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

    /// Returns whether beats and results wait for each other by valid and ready.
    pub(crate) fn is_stream(self) -> bool {
        matches!(self, Self::Stream | Self::Axis)
    }
}
