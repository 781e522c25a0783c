//! Arguments of `guardbit compare`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct CompareArgs {
    /// Folders with finished results of one command
    #[arg(required = true, num_args = 2..)]
    pub dirs: Vec<PathBuf>,
}
