//! ReLU from 0 to 1.

use super::Operands;
use super::rescale::{Rescale, rescale};
use crate::{Activation, GraphError};

rescale! {
    /// `min(max(x, 0), 1)`, with the scale and zero point of the output.
    Relu0To1, "relu_0_to_1", Activation::Relu0To1
}
