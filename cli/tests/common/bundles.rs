//! Bundles of small layers, and `make` in them.

use std::path::Path;
use std::process::Command;

use super::{digits, succeed};

/// Exports a layer whose 14-bit accumulators overflow, on an array of 4 x 4.
pub fn export(dir: &Path, hw: &str, layer: &str, more: &[&str]) {
    let (model, images, out) =
        (digits("digits_int8.tflite"), digits("test_images.npy"), dir.to_string_lossy());
    let mut args = vec!["vectors", &model, "--hw", hw, "--layer", layer, "--input", &images, "--cases", "12"];
    args.extend(["--set", "array.rows=4", "--set", "array.cols=4", "-o", &out]);
    args.extend(more);
    succeed(&args);
}

/// Returns whether `make` passes in the bundle, and its output.
pub fn make(bundle: &Path, args: &[&str]) -> (bool, String) {
    let mut make = Command::new("make");
    // A run takes a second; optimizing Verilator's output takes longer.
    make.args(args).args(["OPT_FAST=-O0", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0"]).current_dir(bundle);
    if let Ok(bin) = std::env::var("GUARDBIT_COCOTB_BIN") {
        make.env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap_or_default()));
    }
    let output = make.output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), text)
}
