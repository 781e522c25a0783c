//! Accelerators from presets and YAML, the lowering of a graph onto one, timing, bounds, costs.
//!
//! ```
//! use guardbit::{Accelerator, Network};
//!
//! let network = Network::load("../examples/digits/digits_int8.tflite")?;
//! let lowered = network.on(Accelerator::preset("fpga-int14-os")?)?;
//! for layer in lowered.program().mac_layers() {
//!     println!("{} takes {} cycles", layer.short_name, layer.timing.cycles);
//! }
//! # Ok::<(), guardbit::Error>(())
//! ```

pub use guardbit_hwmodels::*;
