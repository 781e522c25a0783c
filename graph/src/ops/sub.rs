//! Subtraction.

use super::Operands;
use super::additive::{OneRounding, Parts, additive};
use crate::GraphError;

additive! {
    /// `a - b` with NumPy's broadcasting, computed as in [`Add`](super::Add) with `A - B` (TensorFlow Lite
    /// `reference_ops::Sub`).
    Sub, "sub", -1, Bilinear
}
