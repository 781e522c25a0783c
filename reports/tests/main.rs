//! Tests of reports: one program, with a module per file.

mod browser;
mod common;
mod npz;
mod plots;
mod reports;
mod statistics;
mod tables;
