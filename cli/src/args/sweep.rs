//! Arguments of `guardbit sweep` and `guardbit merge`.

use std::path::PathBuf;

use guardbit_num::Overflow;
use guardbit_study::{Axis, BitList, Shard, ShardError, TableFormat};

use super::Common;

#[derive(Debug, clap::Args)]
pub struct SweepArgs {
    /// A study file, or with --hw the network
    pub study_or_model: PathBuf,
    /// The accelerator: a preset's name or a YAML file
    #[arg(long)]
    pub hw: Option<String>,
    /// Widths of the swept level: 10..=24 (both included), or 8,12,16. A layer's own width (`layers`) stays
    #[arg(long, requires = "hw")]
    pub bits: Option<BitList>,
    /// Overflow modes of the swept level [default: its own]
    #[arg(long, value_delimiter = ',', requires = "hw")]
    pub overflow: Vec<Overflow>,
    /// The swept level [default: the only one with a width]
    #[arg(long, requires = "hw")]
    pub level: Option<String>,
    /// Anything else that is varied: a key as for --set, or model, hw, mode, requantize, seed, random, samples, input,
    /// labels, task, output, profile, dim:AXIS (a length as for --dim) or quantize:SETTING (an option of `guardbit
    /// quantize`, for a float network). Values as 12..=16 or a,b,c; each further axis multiplies the points
    #[arg(long, value_name = "KEY=VALUES", requires = "hw")]
    pub axis: Vec<Axis>,
    /// Axes that go together, value by value
    #[arg(long, value_name = "KEY,KEY", requires = "axis")]
    pub zip: Vec<String>,
    /// Keep only points that satisfy CONDITION: comparisons (==, !=, <, <=, >, >=) of axes and values, joined by and, or, not
    /// and parentheses
    #[arg(long = "where", value_name = "CONDITION", requires = "axis")]
    pub conditions: Vec<String>,
    /// Only part I of N of the points, for `guardbit merge`; `slurm` in a task of a job array: the part by
    /// SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT
    #[arg(long, value_name = "I/N|slurm", requires = "output_dir", value_parser = shard)]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub common: Common,
    /// Tables: csv, or parquet, which is beside CSV
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    pub format: TableFormat,
    /// Folder in which any sweeps share their points: those that are there are not run again, byte by byte the same
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Folder for the results; an interrupted sweep goes on where it was. Without it nothing is written
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct MergeArgs {
    /// The folders of all shards of one sweep, in any order
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Merge the points that are there, whatever is missing: `guardbit sweep` goes on in the folder with the others
    #[arg(long)]
    pub partial: bool,
    /// Folder for the results; it appears when they are complete
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// Folders of sweeps or of their shards
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
}

/// A part by its number, or by the variables of a job array.
fn shard(text: &str) -> Result<Shard, ShardError> {
    match text {
        "slurm" => Shard::of_slurm(|name| std::env::var(name).ok()),
        text => text.parse(),
    }
}
