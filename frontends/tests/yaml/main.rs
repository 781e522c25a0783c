//! Graph YAML: what is read from files, what a user reads about wrong ones, and what is written.

#[path = "../onnx/built.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
mod built;
#[path = "../../../graph/tests/common/mod.rs"]
mod common;
mod errors;
mod networks;
#[path = "../../../graph/tests/passes/networks.rs"]
mod networks_of_passes;
mod written;
