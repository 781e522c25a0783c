//! Arguments of `guardbit check`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The bundle
    pub dir: PathBuf,
    /// Simulator for the replay; none only recomputes every expected value
    #[arg(long, value_enum, default_value_t = SimulatorChoice::None)]
    pub simulator: SimulatorChoice,
    /// Also replay built-in faults (mutants); each must be detected
    #[arg(long)]
    pub mutate: bool,
    /// Keep the build and run files in this folder, which must be absent or empty; --force replaces the
    /// folder of an earlier check
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Stop a simulator whose build or run takes longer
    #[arg(long, value_name = "SECONDS", default_value_t = guardbit_rtl_vectors::TIME_LIMIT.as_secs(), value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
}

/// Simulator that replays a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SimulatorChoice {
    /// No simulator
    None,
    /// Icarus Verilog
    Icarus,
    /// Verilator
    Verilator,
    /// GHDL
    Ghdl,
    /// All of them
    All,
}
