//! Graph YAML: what is read from files, what a user reads about wrong ones, and what is written.

mod errors;
mod networks;
#[path = "../../../graph/tests/passes/networks.rs"]
mod networks_of_passes;
mod written;
