//! The golden model of a MAC unit behind a C interface: for DPI-C, C and C++.
//!
//! Header: `include/guardbit.h` (made by cbindgen from `exports.rs`); SystemVerilog package and lockstep bench: `dpi/`.
//! Models are numbered, so that a stale or made-up handle is an error and never an access. Every pointer is checked for
//! null and every length against what is needed; no panic crosses the boundary.

mod error;
mod exports;
mod models;
mod pointers;

pub use exports::*;
