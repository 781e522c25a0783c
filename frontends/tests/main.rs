//! Tests of network readers: one program, a module per file.

#[path = "../../graph/tests/common/mod.rs"]
mod common;
mod dims;
mod floors;
mod onnx;
mod parts;
mod passes;
mod schema;
mod tflite;
mod yaml;
