//! The reader of ONNX files.

mod errors;
mod export;
mod golden;
mod oracle;
