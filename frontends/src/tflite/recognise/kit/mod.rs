//! What the readers of operators share.

mod network;
mod policy;
mod reader;

pub(crate) use network::Network;
pub(crate) use policy::Accumulator;
pub use policy::{Profile, TFLITE_POLICY, UnknownProfile};
pub(crate) use reader::{NewNode, OperatorReader};
