//! Readers of network files.
//!
//! Every reader checks what it reads and hands on a [`Graph`](guardbit_graph::Graph), the one form in which the
//! rest of guardbit knows networks. What a reader cannot represent exactly is an error, never a guess.
//!
//! To add a format, write a folder with a type that is a [`Frontend`], and add it to [`FRONTENDS`]: file names, help
//! texts and messages follow.

mod error;
mod frontend;
pub mod npy;
pub mod onnx;
mod random;
pub mod tflite;
pub mod yaml;

pub use error::{FormatError, FrontendError, Location};
pub use frontend::{FRONTENDS, Frontend, frontend, load, load_as, network_files};
pub use onnx::{ExportError, OnnxError, is_own_onnx, read_onnx, write_onnx};
pub use random::{RandomCodes, random_codes, random_subset};
pub use tflite::{
    Profile, TFLITE_POLICY, TfliteError, UnknownProfile, read_tflite, read_tflite_as, tflite_operators,
};
pub use yaml::{YamlError, YamlExportError, graph_schema, read_yaml, write_yaml};
