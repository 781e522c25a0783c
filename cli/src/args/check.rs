//! Arguments of `guardbit check`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The bundle
    pub dir: PathBuf,
    /// What replays it; none computes every expected value anew
    #[arg(long, value_enum, default_value_t = SimulatorChoice::None)]
    pub simulator: SimulatorChoice,
    /// Replay built-in faults, too: each must be found
    #[arg(long)]
    pub mutate: bool,
    /// Keep what is built and run in this folder, which is absent or empty; --force replaces that of an earlier check
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Stop a simulator that builds or runs for longer
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
