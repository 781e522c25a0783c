//! ReLU from -1 to 1.

use super::Operands;
use super::rescale::{Rescale, rescale};
use crate::{Activation, GraphError};

rescale! {
    /// `min(max(x, -1), 1)`, with the scale and zero point of the output.
    ReluN1To1, "relu_n1_to_1", Activation::ReluN1To1
}
