//! Tests of graph YAML: reading, errors and writing.

mod errors;
mod networks;
#[path = "../../../graph/tests/passes/networks.rs"]
mod networks_of_passes;
mod written;
