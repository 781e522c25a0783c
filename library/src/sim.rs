//! The simulator: runs a lowered program and counts overflows, batch by batch.
//!
//! ```
//! use guardbit::sim::{Options, Simulation, StatsLevel};
//! use guardbit::{Accelerator, Network};
//!
//! let network = Network::load("../examples/digits/digits_int8.tflite")?;
//! let lowered = network.on(Accelerator::preset("fpga-int14-os")?)?;
//! let options = Options { stats: StatsLevel::Events, ..Options::default() };
//! let mut simulation = Simulation::new(lowered.program(), options);
//! for seed in 0..4 {
//!     let tensors = simulation.run_batch(network.random_samples(8, seed).codes())?;
//!     assert_eq!(tensors.len(), 8);
//! }
//! let layers = simulation.finish();
//! println!("{} overflows", layers.iter().flatten().map(|layer| layer.levels[0].total().events()).sum::<u64>());
//! # Ok::<(), guardbit::Error>(())
//! ```

pub use guardbit_sim::*;
