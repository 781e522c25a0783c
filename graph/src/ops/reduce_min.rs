//! Minimum along axes.

use super::Operands;
use super::axes::{Reduced, extreme};
use crate::GraphError;

extreme! {
    /// The least code along `axes`.
    ///
    /// The output has the dtype, scale and zero point of the input.
    ReduceMin, "reduce_min", MAX, i32::min
}
