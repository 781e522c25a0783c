//! Building blocks of the readers of operators.

mod network;
mod new_node;
mod policy;
mod reader;

pub(crate) use network::Network;
pub(crate) use new_node::NewNode;
pub(crate) use policy::{Accumulator, MICRO_MOVES_NOTHING};
pub use policy::{Profile, TFLITE_POLICY, UnknownProfile};
pub(crate) use reader::OperatorReader;
