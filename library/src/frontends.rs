//! Network files: readers of TFLite, ONNX and graph YAML, writers of ONNX and graph YAML.
//!
//! ```
//! use std::path::Path;
//!
//! use guardbit::frontends;
//!
//! let graph = frontends::load(Path::new("../examples/digits/digits_int8.tflite"))?;
//! assert_eq!(graph.nodes().len(), 6);
//! let onnx = frontends::write_onnx(&graph)?;
//! # assert!(!onnx.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use guardbit_frontends::*;
