//! Reader of graph YAML: networks written by hand or by a script.
//!
//! ```yaml
//! schema: 1
//! name: tiny                      # default: the name of the file
//! inputs:
//!   - {name: x, shape: [1, 8, 8, 1], dtype: int8, scale: 0.1, zero_point: -3}
//! constants:
//!   - {name: w, shape: [4, 3, 3, 1], dtype: int8, scale: [0.1, 0.2, 0.1, 0.3], axis: 0, file: w.npy}
//!   - {name: b, shape: [4], dtype: int32, values: [1, 2, 3, 4]}
//! nodes:
//!   - op: conv2d
//!     inputs: [x, w, b]
//!     output: {name: y, dtype: int8, scale: 0.2, zero_point: 0}
//!     padding: same
//!     activation: relu
//! outputs: [y]
//! ```
//!
//! Unknown keys are always errors.
//!
//! # Tensors
//! Every tensor is defined once, by an input, a constant or the output of a node, and has a `name`. Nodes run in the
//! order of the file and read tensors defined before them. The shape of an output follows from the operation.
//!
//! - `dtype`: `int4`, `uint4`, `int8`, `uint8`, `int16`, `uint16`, `int32`, or `float32` for real values, which have
//!   neither scale nor zero point.
//! - `scale`, `zero_point`: real = scale * (code - zero point). A scale is a number above 0, stored as float32. In a
//!   list of scales, weights of a pruned channel may have 0. The zero point is 0 by default. A list of scales has one
//!   entry per index of `axis`, with one zero point for all or a list of them. A constant may omit the scale, e.g. a
//!   bias. An input or output of plain integers (indices, counts) has `scale: none`.
//! - `range: [min, max]`: the codes that the tensor may hold, if they are fewer than those of its dtype: `[-127,
//!   127]` for restricted weights, `[0, 31]` for activations of 5 bits. Outputs are clamped to it, inputs and
//!   constants are checked against it, and proved widths follow from it.
//! - `step`: the distance between neighbouring codes of `range`, 1 by default: `range: [-1, 1]` with `step: 2` for
//!   the bipolar codes -1 and 1.
//!
//! # Codes of constants
//! One of
//! - `values`: integers, row-major, in a flat list or nested like the shape;
//! - `file`: an `.npy` file, relative to the YAML file, of the tensor's shape. Its type must be that of the dtype
//!   (`int8` for `int4`, `uint8` for `uint4`);
//! - `random: {seed: 1, min: -127, max: 127}`: uniform codes from [`random_codes`](crate::random_codes), row-major;
//!   by default over all codes that the tensor may hold.
//!
//! Real values of `float32` are given by `reals`, a flat list of numbers, or by a `file`.
//!
//! # Metadata
//! `metadata` is a map of texts that describe the network (`Graph::metadata`). They do not affect results.
//!
//! # Nodes
//! `inputs` are names, in the order of the operation. An absent optional input is `null` or, at the end, left out.
//! Attributes are keys next to `op`; [`OPERATIONS`] lists the attributes of each operation. `kernel`, `axes`, `axis`,
//! `shape`, `paddings` and `permutation` are required if the operation has them.
//!
//! | attribute | value | default |
//! |---|---|---|
//! | `kernel`, `stride`, `dilation` | `[rows, columns]` | -, `[1, 1]`, `[1, 1]` |
//! | `padding` | `same`, `valid` or `{rows: [before, after], cols: [before, after]}` | `valid` |
//! | `activation` | `none`, `relu`, `relu6`, `relu_n1_to_1`, `relu_0_to_1` | `none` |
//! | `requantize` | a name of [`Scheme`](guardbit_num::Scheme) | `double` |
//! | `multiplier` | precision of the multiplier: `float64`, `product_in_float32`, `float32` | `float64`; `float32` for the scheme `even` |
//! | `keep_num_dims`, `keep_dims` | `true`, `false` | `false` |
//! | `axes`, `axis`, `permutation` | axes from 0 | - |
//! | `beta` | a number | 1 |
//! | `paddings` | `[before, after]` for every axis | - |
//! | `shape` | sizes, one of which may be -1 | - |
//! | `value` | a code | the zero point |
//! | `function` | a name of [`RealFunction`](guardbit_graph::ops::RealFunction) or of [`RealPair`](guardbit_graph::ops::RealPair) | - |
//! | `parameters` | numbers, one per parameter of the function | none |
//! | `count_padding`, `zero_point_first` | `true`, `false` | `false` |
//! | `epsilon` | a number | 1e-5 |
//! | `rounding` | rounding of a quotient, a name of [`Rounding`](guardbit_num::Rounding) | `half_even` |

mod constants;
mod error;
mod file;
mod graph;
mod npy;
mod operations;
mod problem;
mod quantization;
mod schema;
mod values;
mod write;

use std::path::Path;

use guardbit_documents::{Document, Form};
use guardbit_graph::{Graph, Quantization};

use crate::frontend::half_away;
use crate::{Frontend, FrontendError};

pub use error::YamlError;
pub use operations::{OPERATIONS, Operation};
pub use schema::graph_schema;
pub use write::{YamlExportError, YamlFiles, write_yaml};

/// Reads graph YAML from memory. Paths in it are relative to `dir`.
///
/// `name` becomes the name of the network, unless the text contains one, and that of the file in errors.
///
/// # Errors
/// [`FrontendError::Format`] with the line, the column and the key at fault.
pub fn read_yaml(text: &str, dir: &Path, name: &str) -> Result<Graph, FrontendError> {
    read(text, dir, name).map_err(|error| FrontendError::format(name, error))
}

/// Maximum size of a file in bytes. Large constants are stored in separate `.npy` files.
const MAX_BYTES: u64 = 1 << 26;

const FORM: Form = Form { name: "a network", most_bytes: MAX_BYTES };

/// The frontend of graph YAML files.
#[derive(Debug)]
pub struct GraphYaml;

impl Frontend for GraphYaml {
    fn name(&self) -> &'static str {
        "graph YAML"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["yaml", "yml"]
    }

    /// Names the files in error messages, because other kinds of files are YAML too.
    fn files(&self) -> String {
        "graph .yaml".into()
    }

    fn read(&self, path: &Path, name: &str) -> Result<Graph, FrontendError> {
        let text = guardbit_files::read_text(path, MAX_BYTES);
        let text = text.map_err(|error| FrontendError::io(path, error))?;
        let dir = path.parent().unwrap_or(Path::new(""));
        read(&text, dir, name).map_err(|error| FrontendError::format(path, error))
    }

    fn quantize_input(&self, value: f32, quantization: &Quantization) -> i128 {
        half_away(value, quantization)
    }
}

fn read(text: &str, dir: &Path, name: &str) -> Result<Graph, YamlError> {
    let document = Document::new(FORM, name, text)?;
    let file = document.read()?;
    graph::build(file, dir, name).map_err(|problem| problem.place(&document))
}
