//! C interface to the golden model of a MAC unit, for DPI-C, C and C++.
//!
//! The header is `include/guardbit.h`, which cbindgen generates from `exports.rs`; `dpi/` contains the
//! SystemVerilog package and the lockstep bench. Models are identified by numbers, so that a stale or invalid
//! handle is an error and never an invalid access. Every pointer is checked for null and every length against
//! the required length. No panic crosses the boundary.

mod error;
mod exports;
mod models;
mod pointers;

pub use exports::*;
