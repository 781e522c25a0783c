//! Tests of TFLite files: real networks, single operators, and invalid files.

mod errors;
mod folding;
mod golden;
mod hostile;
mod models;
mod ops;
mod oracle;
mod refusals;
mod streams;
pub(crate) mod writer;
