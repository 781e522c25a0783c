//! Mean over axes.

use super::Operands;
use super::reduce::{Reduction, reduction};
use crate::GraphError;

reduction! {
    /// `y = round(sum of (x - zx) * (sx/sy) / n) + zy` over the `n` elements of some axes, clamped.
    ///
    /// The integer multiplier of `sx/sy` is divided by `n` as TensorFlow Lite does it:
    /// [`Multiplier::divided_by`](guardbit_num::Multiplier::divided_by).
    Mean, "mean", |scaled, count| scaled.divided_by(count as u64)
}
