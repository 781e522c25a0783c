//! Arguments of `guardbit size`.

use std::path::PathBuf;

use guardbit_study::{AreaTool, Budget, Grid, TableFormat};

use super::{Common, model_help};

#[derive(Debug, clap::Args)]
pub struct SizeArgs {
    #[arg(help = model_help())]
    pub model: PathBuf,
    /// The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
    #[arg(long)]
    pub hw: String,
    /// How much error is allowed: mismatch=0.1% (output codes that may differ), accuracy=1% (points of top-1
    /// accuracy, with --labels) or agreement=1% (samples that may get another class)
    #[arg(long, value_name = "KIND=SHARE")]
    pub budget: Option<Budget>,
    /// Ask a tool for the LUTs and flip-flops of the accumulators: yosys
    #[arg(long, value_name = "TOOL")]
    pub area: Option<AreaTool>,
    /// How finely to try two levels of accumulators: none, coarse (every second length of run, a quarter of the dot products, fewer
    /// widths) or full
    #[arg(long, value_name = "GRID", default_value = "full")]
    pub grid: Grid,
    #[command(flatten)]
    pub common: Common,
    /// Tables: csv, or parquet, which is beside CSV
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    pub format: TableFormat,
    /// Folder for the results; it appears when they are complete
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}
