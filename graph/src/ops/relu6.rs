//! ReLU6.

use super::Operands;
use super::rescale::{Rescale, rescale};
use crate::{Activation, GraphError};

rescale! {
    /// `min(max(x, 0), 6)`, with the scale and zero point of the output.
    Relu6, "relu6", Activation::Relu6
}
