//! Simulators by name.

/// Simulator in which bundles are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simulator {
    /// Icarus Verilog 11 or later.
    Icarus,
    /// Verilator 5.006 or later.
    Verilator,
    /// GHDL 2.0 or later.
    Ghdl,
}

impl Simulator {
    /// All simulators.
    pub const ALL: [Self; 3] = [Self::Icarus, Self::Verilator, Self::Ghdl];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Icarus => "icarus",
            Self::Verilator => "verilator",
            Self::Ghdl => "ghdl",
        }
    }

    /// Returns its program.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Icarus => "iverilog",
            Self::Verilator => "verilator",
            Self::Ghdl => "ghdl",
        }
    }
}
