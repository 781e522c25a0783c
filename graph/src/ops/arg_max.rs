//! Where the greatest lies.

use super::Operands;
use super::axes::{Reduced, place_of_extreme};
use crate::GraphError;

place_of_extreme! {
    /// The place of the greatest code along an axis, the first one of several, as int32.
    ArgMax, "arg_max", i32::gt
}
