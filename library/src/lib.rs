//! Shows what narrow accumulators do to a quantized neural network.
//!
//! guardbit reads a quantized network and lowers it onto a parameterized accelerator model. It runs the network
//! twice, as the narrow hardware does and exactly, and counts every overflow. This crate re-exports the library
//! crates under one name. The package `guardbit-cli` has the command `guardbit`.
//!
//! ```
#![doc = include_str!("../../examples/library.rs")]
//! ```
//!
//! # Modules
//! | module | contents |
//! |---|---|
//! | [`frontends`] | network files to a [`Graph`](graph::Graph): [`frontends::load`] |
//! | [`graph`] | the network: tensors, operations with their exact meaning, patches and [passes](graph::passes) |
//! | [`hwmodels`] | accelerators from presets and YAML ([`hwmodels::load`]); [`hwmodels::lower`] maps a graph onto one |
//! | [`sim`] | [`sim::Simulation`] runs the lowered program and counts overflows; [`sim::trace`] shows one dot product |
//! | [`quantize`] | float networks to quantized ones, with the accelerator in the loop: [`quantize::quantize()`] |
//! | [`study`] | whole runs, sweeps and sizings that write folders, equal to those of the command line |
//! | [`reports`] | tables, plots and pages as bytes |
//! | [`rtl_vectors`] | test vectors for RTL, and the golden model beat by beat |
//! | [`num`] | bit-exact integers of any width: overflow modes, rounding, requantization schemes |
//! | [`files`] | folders that are complete or absent: reading within limits, staging, locks, seals |
//!
//! # Rules that hold everywhere
//! - Codes have type `i32`, and sums are integers of sufficient width. No code, sum or bound is a float.
//! - Results depend only on network, accelerator, samples and seed, not on threads, instruction set or engine.
//! - Errors are types with a stable `code()` and a `help()`. No content of a file causes a panic.
//! - [`num`], [`graph`], [`sim`] and [`quantize`] do no I/O.

pub use guardbit_files as files;
pub use guardbit_frontends as frontends;
pub use guardbit_graph as graph;
pub use guardbit_hwmodels as hwmodels;
pub use guardbit_num as num;
#[cfg(feature = "quantize")]
pub use guardbit_quantize as quantize;
#[cfg(feature = "reports")]
pub use guardbit_reports as reports;
#[cfg(feature = "rtl")]
pub use guardbit_rtl_vectors as rtl_vectors;
pub use guardbit_sim as sim;
#[cfg(feature = "study")]
pub use guardbit_study as study;
