//! Arguments of `guardbit hw`.

use clap::Subcommand;

use super::table::{Given, HwCheck, HwCosts, HwShow};

#[derive(Debug, clap::Args)]
pub struct HwArgs {
    #[command(subcommand)]
    pub command: HwCommand,
}

#[derive(Debug, Subcommand)]
pub enum HwCommand {
    /// List the presets
    List,
    /// Print an accelerator as a complete file with all defaults
    Show(Given<HwShow>),
    /// List the cost models for energy and area, or print the figures of one
    Costs(Given<HwCosts>),
    /// Print the JSON Schema of accelerator files, for editors
    Schema,
    /// Check an accelerator: report errors and likely mistakes
    Check(Given<HwCheck>),
}
