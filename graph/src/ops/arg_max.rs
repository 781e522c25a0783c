//! Index of the greatest element.

use super::Operands;
use super::axes::{Reduced, place_of_extreme};
use crate::GraphError;

place_of_extreme! {
    /// The index of the greatest code along an axis, as int32. The first of several equal codes counts.
    ArgMax, "arg_max", i32::gt
}
