//! Tests of the reader of ONNX files.

mod bipolar;
mod blocks;
pub(crate) mod built;
mod errors;
mod export;
mod exporters;
mod extremes;
mod floats;
mod golden;
mod oracle;
mod records;
pub(crate) mod writer;
