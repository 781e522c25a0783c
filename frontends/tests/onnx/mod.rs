//! The reader of ONNX files.

pub(crate) mod built;
mod errors;
mod export;
mod extremes;
mod golden;
mod oracle;
mod writer;
