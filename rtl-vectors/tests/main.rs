//! Tests of test vector bundles: one program, with a module per file.

mod axis;
mod common;
mod corners;
mod foreign;
mod hdl;
mod requantizer;
mod schema;
mod waves;
