//! Arguments of `guardbit run`.

use std::path::PathBuf;

use guardbit_study::{DEFAULT_EVENTS, TableFormat};

use super::{Common, model_help};

#[derive(Debug, clap::Args)]
pub struct RunArgs {
    #[arg(help = model_help())]
    pub model: PathBuf,
    /// The accelerator: a preset's name (see `guardbit hw list`) or a YAML file
    #[arg(long)]
    pub hw: String,
    /// Run this layer alone, by name or index as `guardbit inspect` prints them: --input is then what the layer reads
    #[arg(long, value_name = "NAME|INDEX")]
    pub layer: Option<String>,
    #[command(flatten)]
    pub common: Common,
    /// Tell energy and area by a cost model: a name (see `guardbit hw costs`), with @16nm behind it to scale it, or a YAML file.
    /// May be repeated
    #[arg(long, value_name = "NAME|FILE")]
    pub cost: Vec<String>,
    /// How many events are listed per layer in events.csv: the first ones
    #[arg(long, value_name = "N", default_value_t = DEFAULT_EVENTS)]
    pub events: usize,
    /// Tables: csv, or parquet, which is beside CSV
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    pub format: TableFormat,
    /// Write every tensor to tensors.npz
    #[arg(long)]
    pub dump_tensors: bool,
    /// Count how the sums of every layer, level and channel are distributed: sum_histograms.csv, .npz and a plot
    #[arg(long)]
    pub histograms: bool,
    /// Write every exact and delivered sum of these layers, by name or index, to sums.npz
    #[arg(long, value_name = "LAYER,...", value_delimiter = ',')]
    pub dump_sums: Vec<String>,
    /// Folder for the results; it appears when they are complete
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}
