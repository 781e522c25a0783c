//! Addition.

use super::Operands;
use super::additive::{OneRounding, Parts, additive};
use crate::GraphError;

additive! {
    /// `a + b` with numpy's broadcasting.
    ///
    /// TensorFlow Lite `reference_integer_ops::Add`: with `t = 2 * max(sa, sb)` and `L = 20` (15 for codes of 16
    /// bits), `A = round(((a - za) << L) * sa/t)`, `B` likewise, `y = round((A + B) * t / (2^L * sy)) + zy`, clamped.
    /// The three multipliers are formed in float64. Scheme `even` is XNNPACK's sum, which is rounded once.
    Add, "add", 1, Increasing
}
