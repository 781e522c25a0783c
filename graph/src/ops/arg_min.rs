//! Index of the least element.

use super::Operands;
use super::axes::{Reduced, place_of_extreme};
use crate::GraphError;

place_of_extreme! {
    /// The index of the least code along an axis, as int32. The first of several equal codes counts.
    ArgMin, "arg_min", i32::lt
}
