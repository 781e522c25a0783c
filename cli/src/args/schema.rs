//! Arguments of `guardbit study`, `guardbit graph` and `guardbit cost`.

use clap::Subcommand;

#[derive(Debug, clap::Args)]
pub struct SchemaArgs {
    #[command(subcommand)]
    pub command: SchemaCommand,
}

#[derive(Debug, Subcommand)]
pub enum SchemaCommand {
    /// Print the JSON Schema of the files, for editors
    Schema,
}
