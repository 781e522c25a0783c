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
    Show(Given<HwShow>),
    Costs(Given<HwCosts>),
    /// Print the JSON Schema of accelerator files, for editors
    Schema,
    Check(Given<HwCheck>),
}
