//! Addition.

use super::Operands;
use super::additive::{OneRounding, Parts, additive};
use crate::GraphError;

additive! {
    /// `a + b` with NumPy's broadcasting.
    ///
    /// With `t = 2 * max(sa, sb)` and `L = 20` (15 for codes of 16 bits), `A = round(((a - za) << L) * sa/t)`, `B` is
    /// computed like `A`, and `y = round((A + B) * t / (2^L * sy)) + zy`, clamped. The three multipliers are computed
    /// in float64. Source: TensorFlow Lite `reference_integer_ops::Add`. Scheme `even` is XNNPACK's sum, which is
    /// rounded once.
    Add, "add", 1, Increasing
}
