//! Where the least lies.

use super::Operands;
use super::axes::{Reduced, place_of_extreme};
use crate::GraphError;

place_of_extreme! {
    /// The place of the least code along an axis, the first one of several, as int32.
    ArgMin, "arg_min", i32::lt
}
