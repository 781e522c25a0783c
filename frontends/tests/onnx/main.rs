//! The reader of ONNX files.

mod oracle;
