//! Arguments of `guardbit vectors`.

use std::path::PathBuf;

use guardbit_study::DEFAULT_CASES;

use super::{Common, model_help};

#[derive(Debug, clap::Args)]
pub struct VectorsArgs {
    #[arg(help = model_help())]
    pub model: PathBuf,
    /// The accelerator: a preset's name or a YAML file
    #[arg(long)]
    pub hw: String,
    /// The layer: its name, or its index as `guardbit inspect` prints it
    #[arg(long, value_name = "NAME|INDEX")]
    pub layer: String,
    /// Dot products taken from the layer's real activations; corner cases are added
    #[arg(long, value_name = "N", default_value_t = DEFAULT_CASES)]
    pub cases: usize,
    /// Data formats beside .mem: dec, npy, bin (little-endian, whole bytes per value), mif, coe, axis
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "dec")]
    pub formats: Vec<guardbit_rtl_vectors::Format>,
    /// Waveforms of accumulators and exact sums: vcd, fst
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub waves: Vec<guardbit_rtl_vectors::WaveFormat>,
    /// Each lane in whole bytes, sign-extended, instead of one after the other
    #[arg(long)]
    pub byte_slots: bool,
    #[command(flatten)]
    pub common: Common,
    /// Folder for the bundle; it appears when it is complete
    #[arg(short, long, value_name = "DIR")]
    pub output_dir: PathBuf,
}
