//! Arguments of `guardbit merge` and `guardbit status`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct MergeArgs {
    /// The folders of all shards of one sweep, in any order
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Merge the finished points even if some are missing; `guardbit sweep` can complete the merged folder
    #[arg(long)]
    pub partial: bool,
    /// Output folder; created only when all results are complete
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub struct StatusArgs {
    /// Folders of sweeps or of their shards
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
}
