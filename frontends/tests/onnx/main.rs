//! The reader of ONNX files.

mod built;
mod errors;
mod export;
mod extremes;
mod golden;
mod oracle;
mod writer;
