//! Readers of network files.
//!
//! Every reader checks what it reads and hands on a [`Graph`](guardbit_graph::Graph), the one form in which the
//! rest of guardbit knows networks. What a reader cannot represent exactly is an error, never a guess.

mod error;
mod load;
pub mod npy;
mod random;
pub mod tflite;
pub mod yaml;

pub use error::{FrontendError, Location};
pub use load::load;
pub use random::{RandomCodes, random_codes, random_subset};
pub use tflite::{TFLITE_POLICY, TfliteError, read_tflite};
pub use yaml::{YamlError, read_yaml};
