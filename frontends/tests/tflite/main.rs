//! TFLite files: real networks, single operators, and files that are wrong in every way.

mod golden;
mod models;
mod ops;
mod writer;
