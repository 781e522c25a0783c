//! Arguments of `guardbit hw`.

use std::path::PathBuf;

use clap::Subcommand;
use guardbit_frontends::{Dim, network_files};

#[derive(Debug, clap::Args)]
pub struct HwArgs {
    #[command(subcommand)]
    pub command: HwCommand,
}

#[derive(Debug, Subcommand)]
pub enum HwCommand {
    /// List the presets
    List,
    /// Print an accelerator as a complete file, every default filled in
    Show {
        /// A preset's name or a YAML file
        hw: String,
        /// Override a key, as accumulation.acc.bits=12
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// List the cost models, which tell energy and area, or print the figures of one
    Costs {
        /// A model's name, with @16nm behind it to scale it, or a YAML file
        model: Option<String>,
    },
    /// Print the JSON Schema of accelerator files, for editors
    Schema,
    /// Check an accelerator: errors, and warnings about datapaths that cannot have been meant
    Check {
        /// A preset's name or a YAML file
        hw: String,
        #[arg(long, help = format!("Check it for this network too: {}", network_files()))]
        model: Option<PathBuf>,
        /// Give an axis that the ONNX file leaves open its length: tokens=128, or x:1=128 for axis 1 of the input x. May be
        /// repeated
        #[arg(long, value_name = "AXIS=LENGTH", requires = "model")]
        dim: Vec<Dim>,
        /// Override a key, as accumulation.acc.bits=12
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
}
