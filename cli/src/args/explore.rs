//! Arguments of `guardbit explore`.

use std::path::PathBuf;

use guardbit_study::{Axis, Budget, Objective};

use super::{Common, model_help};

#[derive(Debug, clap::Args)]
pub struct ExploreArgs {
    #[arg(help = model_help())]
    pub model: PathBuf,
    /// The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
    #[arg(long)]
    pub hw: String,
    /// What is varied: a key as for --set, hw, or requantize. Values as 12..=16 or a,b,c; each further axis multiplies the points
    #[arg(long, value_name = "KEY=VALUES")]
    pub axis: Vec<Axis>,
    /// Axes that go together, value by value
    #[arg(long, value_name = "KEY,KEY", requires = "axis")]
    pub zip: Vec<String>,
    /// Keep only points that satisfy CONDITION: comparisons (==, !=, <, <=, >, >=) of axes and values, joined by and, or, not
    /// and parentheses
    #[arg(long = "where", value_name = "CONDITION", requires = "axis")]
    pub conditions: Vec<String>,
    /// How much error is allowed: accuracy=1% (points of top-1 accuracy, with --labels), agreement=1% (samples that may get
    /// another class) or mismatch=0.1% (output codes that may differ). Widths are searched within it
    #[arg(long, value_name = "KIND=SHARE")]
    pub budget: Option<Budget>,
    /// What designs are to have little of, the first one above all: cycles, latency, area, energy [default: cycles, and what the
    /// cost models tell]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub objective: Vec<Objective>,
    /// Cost model: a name (see `guardbit hw costs`), with @16nm behind it to scale it, or a YAML file. Repeated, the first one that
    /// tells energies and the first one that tells areas count [default: aladdin-40nm]
    #[arg(long, value_name = "NAME|FILE")]
    pub cost: Vec<String>,
    #[command(flatten)]
    pub common: Common,
    /// Folder for the results; an interrupted exploration goes on where it was
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}
