//! The targets, a file each.

pub(crate) mod accelerator;
pub(crate) mod chain;
pub(crate) mod cost;
pub(crate) mod diff_layer;
pub(crate) mod graph;
pub(crate) mod labels;
pub(crate) mod manifest;
pub(crate) mod npy;
pub(crate) mod npz;
pub(crate) mod onnx;
pub(crate) mod onnx_normalise;
pub(crate) mod onnx_parse;
pub(crate) mod onnx_recognise;
pub(crate) mod set;
pub(crate) mod study;
pub(crate) mod tflite;
pub(crate) mod tflite_normalise;
pub(crate) mod tflite_parse;
pub(crate) mod tflite_recognise;
