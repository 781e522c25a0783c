//! Readers of network files.
//!
//! Every reader checks its input and returns a [`Graph`](guardbit_graph::Graph), the only form of networks in the
//! rest of guardbit. If a reader cannot represent something exactly, it returns an error and never guesses.
//!
//! To add a format, write a folder with a type that is a [`Frontend`], its `mod` line and its line in `frontends!`. File
//! names, help texts and messages follow.

mod dims;
mod error;
mod frontend;
pub mod npy;
pub mod onnx;
mod random;
pub mod tflite;
pub mod yaml;

/// Registers the formats: folder and type.
macro_rules! frontends {
    ($($folder:ident::$ty:ident,)*) => {
        /// All formats, in the order in which help texts name them.
        pub const FRONTENDS: &[&dyn Frontend] = &[$(&$folder::$ty),*];
    };
}

frontends! {
    tflite::Tflite,
    onnx::Onnx,
    yaml::GraphYaml,
}

pub use dims::{Dim, Dims};
pub use error::{FormatError, FrontendError, Location};
pub use frontend::{Cut, Frontend, frontend, load, load_as, load_part, network_files};
pub use onnx::{
    BATCH, ExportError, OnnxError, check_onnx, is_own_onnx, read_onnx, write_dynamic_onnx, write_onnx,
};
pub use random::{RandomCodes, random_codes, random_subset};
pub use tflite::{
    Profile, TFLITE_POLICY, TfliteError, UnknownProfile, read_tflite, read_tflite_as, tflite_operators,
};
pub use yaml::{YamlError, YamlExportError, graph_schema, read_yaml, write_yaml};
