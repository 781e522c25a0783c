//! Maximum along axes.

use super::Operands;
use super::axes::{Reduced, extreme};
use crate::GraphError;

extreme! {
    /// The greatest code along `axes`.
    ///
    /// The output has the dtype, scale and zero point of the input.
    ReduceMax, "reduce_max", MIN, i32::max
}
