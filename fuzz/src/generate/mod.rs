//! Generators of inputs that are mostly valid and lie at the limits of what is allowed.

mod accelerator;
mod network;
mod onnx;
mod tflite;

pub(crate) use accelerator::accelerator;
pub(crate) use network::network;
pub(crate) use onnx::{constants as onnx_constants, operators as onnx_operators};
pub(crate) use tflite::{lists, operators};
