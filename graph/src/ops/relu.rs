//! ReLU.

use super::Operands;
use super::rescale::{Rescale, rescale};
use crate::{Activation, GraphError};

rescale! {
    /// `max(x, 0)`, with the scale and zero point of the output.
    Relu, "relu", Activation::Relu
}
