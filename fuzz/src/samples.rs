//! Reads user arrays as samples or labels of a tiny network.

use std::path::PathBuf;

use guardbit_study::{InputSource, Pick, RunRequest, Settings, Silent, layer_input};

use crate::{message, scratch};

/// A network with two inputs of two codes each and a dense layer after them.
pub(crate) const NETWORK: &str = include_str!("samples.yaml");

/// Reads samples, and labels if given, as a run would, and runs the network up to its layer.
pub(crate) fn read(input: InputSource, labels: Option<PathBuf>) {
    let settings = Settings { labels, ..Settings::new(input) };
    let request =
        RunRequest::new(scratch::file("network.yaml", NETWORK.as_bytes()), "fpga-int14-os", settings);
    if let Err(error) = layer_input(&request, "scores", &Silent) {
        message::check(error);
    }
}

/// Returns an input source that takes all samples of a file.
pub(crate) fn file(path: PathBuf) -> InputSource {
    InputSource::File { path, pick: Pick::All }
}
