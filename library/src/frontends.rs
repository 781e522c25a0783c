//! Network files: readers of TFLite, ONNX and graph YAML, writers of ONNX and graph YAML.
//!
//! ```
//! use std::path::Path;
//!
//! use guardbit::frontends;
//!
//! let graph = frontends::load(Path::new("../examples/digits/digits_int8.tflite"))?;
//! assert_eq!(graph.nodes().len(), 6);
//! let yaml = frontends::write_yaml(&graph, "digits_arrays")?;
//! assert!(yaml.text.starts_with("schema: 1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use guardbit_frontends::*;
