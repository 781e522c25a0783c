//! Rectifier between two bounds.

use super::Operands;
use super::rescale::{Rescale, rescale};
use crate::{Activation, GraphError};

rescale! {
    /// `min(max(x, 0), 1)`, moved to the scale and zero point of the output.
    Relu0To1, "relu_0_to_1", Activation::Relu0To1
}
