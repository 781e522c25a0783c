//! Float networks to quantized ones, with the accelerator in the loop.
//!
//! ```
//! use std::path::Path;
//!
//! use guardbit::quantize::{Config, Sample};
//! use guardbit::{frontends, quantize};
//!
//! let float = frontends::load(Path::new("../examples/digits/digits_float.onnx"))?;
//! let samples: Vec<Sample> = (1..5).map(|n| vec![(0..64).map(|i| (i * n % 17) as f32 / 16.0).collect()]).collect();
//! let quantized = quantize::quantize(&float, &samples, &Config::default(), None)?;
//! println!("{} parts, {} tensors", quantized.units.len(), quantized.tensors.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use guardbit_quantize::*;
