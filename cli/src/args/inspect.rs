//! Arguments of `guardbit inspect`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use guardbit_graph::passes::PASSES;

use super::table::{Given, Inspect};

#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    #[command(flatten)]
    pub network: Given<Inspect>,
    /// Print the network after this pass too; several are run one after another
    #[arg(long, value_name = "NAME", value_parser = passes())]
    pub pass: Vec<String>,
    /// Print everything that the codes of each operation follow from, as a backend reads it: types, scales, zero points and
    /// ranges of all operands, accumulator, bias, requantization, clamp (--json has it in any case)
    #[arg(long)]
    pub nodes: bool,
    /// Print what each step made of the network, and why: what became of every node of the file, what its reader, the passes and, with --hw, partition
    /// and lowering kept, changed, dropped, or left to the host or in floating point
    #[arg(long)]
    pub audit: bool,
    /// Write the network, after the passes: as an ONNX file (.onnx) that ONNX Runtime runs with equal results, or as graph YAML
    /// (.yaml) that is read as the same network, with its weights as .npy files in a folder beside it
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
}

/// Returns the names of the passes with their descriptions.
fn passes() -> PossibleValuesParser {
    PossibleValuesParser::new(
        PASSES.iter().map(|pass| PossibleValue::new(pass.name()).help(pass.description())),
    )
}
