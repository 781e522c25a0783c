//! Arguments of `guardbit inspect`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use guardbit_graph::passes::PASSES;

use super::table::{Given, Inspect};

#[derive(Debug, clap::Args)]
pub struct InspectArgs {
    #[command(flatten)]
    pub network: Given<Inspect>,
    /// Also print the network after this pass; several passes run one after the other
    #[arg(long, value_name = "NAME", value_parser = passes())]
    pub pass: Vec<String>,
    /// Print everything that determines the codes of each operation: types, scales, zero points and ranges of
    /// all operands, accumulator, bias, requantization and clamp (--json always includes it)
    #[arg(long)]
    pub nodes: bool,
    /// Print what happened to every node of the file, and why: what the reader, the passes and (with --hw)
    /// partition and lowering kept, changed, dropped, or left to the host or in floating point
    #[arg(long)]
    pub audit: bool,
    /// Write the network after the passes, as an ONNX file (.onnx) that ONNX Runtime runs with equal results,
    /// or as graph YAML (.yaml) with its weights as .npy files in a folder next to it
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
}

/// Returns the names of the passes with their descriptions.
fn passes() -> PossibleValuesParser {
    PossibleValuesParser::new(
        PASSES.iter().map(|pass| PossibleValue::new(pass.name()).help(pass.description())),
    )
}
