//! Shows what narrow accumulators do to a quantized neural network.
//!
//! guardbit reads a quantized network and lowers it onto a parameterized accelerator model. It runs the network
//! twice, as the narrow hardware does and exactly, and counts every overflow:
//!
//! ```
//! use guardbit::{Accelerator, Network};
//!
//! let network = Network::load("../examples/digits/digits_int8.tflite")?;
//! let accelerator = Accelerator::preset("fpga-int14-os")?.set("accumulation.acc.bits", 12)?;
//! let run = network.on(accelerator)?.run(&network.random_samples(16, 0))?;
//!
//! let acc = run.layer("conv_1")?.level("acc")?;
//! println!("{} overflows in {} additions", acc.events(), acc.additions());
//! println!("{} bits hold every partial sum", acc.total().required_prefix);
//! # assert!(acc.events() > 0 && acc.total().required_prefix > 12);
//! # Ok::<(), guardbit::Error>(())
//! ```
//!
//! [`Network::on`] lowers, [`Lowered::run`] simulates, and [`Run`] has the results by name. They use the
//! library crates, which the modules re-export for everything else. Each module's page has an example. The package
//! `guardbit-cli` has the command `guardbit`.
//!
//! # Modules
//! | module | contents | feature |
//! |---|---|---|
//! | [`frontends`] | network files to a [`Graph`](graph::Graph): [`frontends::load`] | |
//! | [`graph`] | the network: tensors, operations with their exact meaning, patches and [passes](graph::passes) | |
//! | [`hwmodels`] | accelerators from presets and YAML ([`hwmodels::load`]); [`hwmodels::lower`] maps a graph onto one | |
//! | [`sim`] | [`sim::Simulation`] runs the lowered program and counts overflows; [`sim::trace`] shows one dot product | |
//! | [`num`] | bit-exact integers of any width: overflow modes, rounding, requantization schemes | |
//! | [`documents`] | documents of users in YAML: reading within limits, the place of every error | |
//! | [`files`] | folders that are complete or absent: reading within limits, staging, locks, seals | |
#![cfg_attr(
    feature = "quantize",
    doc = "| [`quantize`] | float networks to quantized ones, with the accelerator in the loop: [`quantize::quantize()`] | `quantize` |"
)]
#![cfg_attr(feature = "reports", doc = "| [`reports`] | tables, plots and pages as bytes | `reports` |")]
#![cfg_attr(
    feature = "rtl",
    doc = "| [`rtl_vectors`] | test vectors for RTL, and the golden model beat by beat | `rtl` |"
)]
#![cfg_attr(
    feature = "study",
    doc = "| [`study`] | whole runs, sweeps and sizings that write folders, equal to those of the command line | `study` |"
)]
//!
//! All features are on by default. `parquet` adds Parquet files to the tables. With `default-features = false` the crate is
//! a bare simulator, without plots and fonts.
//!
//! # Rules that hold everywhere
//! - Codes have type `i32`, and sums are integers of sufficient width. No code, sum or bound is a float.
//! - Results depend only on network, accelerator, samples and seed, not on threads, instruction set or engine.
//! - Errors are types with a stable `code()` and a `help()`. No content of a file causes a panic.
//! - [`num`], [`graph`], [`sim`] and `quantize` do no I/O.

mod accelerator;
pub mod documents;
mod error;
pub mod files;
pub mod frontends;
pub mod graph;
pub mod hwmodels;
mod network;
pub mod num;
#[cfg(feature = "quantize")]
pub mod quantize;
#[cfg(feature = "reports")]
pub mod reports;
#[cfg(feature = "rtl")]
pub mod rtl_vectors;
mod run;
pub mod sim;
#[cfg(feature = "study")]
pub mod study;

pub use accelerator::Accelerator;
pub use error::Error;
pub use network::{Lowered, Network, Samples};
pub use run::{Layer, Level, Run, Tensor};
