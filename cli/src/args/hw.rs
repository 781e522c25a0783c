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
    /// Print an accelerator as a complete file with all defaults
    Show {
        /// A preset's name or a YAML file
        hw: String,
        /// Override a key, e.g. accumulation.acc.bits=12
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// List the cost models for energy and area, or print the figures of one
    Costs {
        /// Name of a cost model, or a YAML file; append @16nm to scale it to 16 nm
        model: Option<String>,
    },
    /// Print the JSON Schema of accelerator files, for editors
    Schema,
    /// Check an accelerator: report errors and likely mistakes
    Check {
        /// A preset's name or a YAML file
        hw: String,
        #[arg(long, help = format!("Also check the accelerator for this network: {}", network_files()))]
        model: Option<PathBuf>,
        /// Give an axis that the ONNX file leaves open its length: tokens=128, or x:1=128 for axis 1 of input
        /// x. May be repeated
        #[arg(long, value_name = "AXIS=LENGTH", requires = "model")]
        dim: Vec<Dim>,
        /// Override a key, e.g. accumulation.acc.bits=12
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
}
