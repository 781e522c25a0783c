//! What does a narrow accumulator do to a quantized network?
//!
//! guardbit reads a quantized network, lowers it onto a parameterized accelerator model, runs it as the narrow hardware
//! does and exactly, and counts every overflow. This crate is the library under one name; the command line is the
//! package `guardbit`.
//!
//! ```
#![doc = include_str!("../../examples/library.rs")]
//! ```
//!
//! # What is where
//! | module | what it is for |
//! |---|---|
//! | [`frontends`] | network files to a [`Graph`](graph::Graph): [`frontends::load`] |
//! | [`graph`] | the network itself: tensors, operations with their exact meaning, patches and [passes](graph::passes) |
//! | [`hwmodels`] | accelerators from presets and YAML ([`hwmodels::load`]); [`hwmodels::lower`] puts a graph onto one |
//! | [`sim`] | [`sim::Simulation`] runs the lowered program on samples and counts; [`sim::trace`] shows one dot product |
//! | [`quantize`] | float networks to quantized ones, with the accelerator in the loop: [`quantize::quantize()`] |
//! | [`study`] | whole runs, sweeps and sizings that write folders, as the command line does them |
//! | [`reports`] | tables, plots and pages as bytes |
//! | [`rtl_vectors`] | test vectors for RTL, and the golden model beat by beat |
//! | [`num`] | bit-exact integers of any width: overflow modes, rounding, requantization schemes |
//! | [`files`] | folders that are whole or not there: reading within limits, staging, locks, seals |
//!
//! # What holds everywhere
//! - Codes travel as `i32`, sums as integers as wide as they need: no float carries a code, a sum or a bound.
//! - Results depend on network, accelerator, samples and seed alone, not on threads, instruction set or engine.
//! - Errors are types with a stable `code()` and a `help()`; nothing panics on what a file holds.
//! - [`num`], [`graph`], [`sim`] and [`quantize`] do no I/O.

pub use guardbit_files as files;
pub use guardbit_frontends as frontends;
pub use guardbit_graph as graph;
pub use guardbit_hwmodels as hwmodels;
pub use guardbit_num as num;
pub use guardbit_quantize as quantize;
pub use guardbit_reports as reports;
pub use guardbit_rtl_vectors as rtl_vectors;
pub use guardbit_sim as sim;
pub use guardbit_study as study;
