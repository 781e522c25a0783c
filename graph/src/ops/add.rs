//! Addition.

use super::Operands;
use super::additive::{Parts, additive};
use crate::GraphError;

additive! {
    /// `a + b` with numpy's broadcasting.
    ///
    /// TensorFlow Lite `reference_integer_ops::Add`: with `t = 2 * max(sa, sb)` and `L = 20` (15 for codes of 16
    /// bits), `A = round(((a - za) << L) * sa/t)`, `B` likewise, `y = round((A + B) * t / (2^L * sy)) + zy`, clamped.
    /// The three multipliers are formed in float64.
    ///
    /// Under the scheme `even` as ONNX Runtime's `QLinearAdd` on x86-64 (MLAS with fused multiply-add), all in float32:
    /// with `A = sa/sy`, `B = sb/sy` and `z = zy - fma(A, za, B * zb)`, `y = round_half_even(fma(A, a, fma(B, b, z)))`.
    Add, "add", 1, Increasing
}
