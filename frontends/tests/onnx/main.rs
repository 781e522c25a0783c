//! The reader of ONNX files.

mod built;
mod errors;
mod export;
mod golden;
mod oracle;
