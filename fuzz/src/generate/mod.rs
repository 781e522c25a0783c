//! Inputs that are mostly accepted, at the edges of what is allowed.

mod accelerator;
mod network;
mod tflite;

pub(crate) use accelerator::accelerator;
pub(crate) use network::network;
pub(crate) use tflite::{lists, operators};
