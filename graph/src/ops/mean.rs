//! Mean over axes.

use guardbit_num::Scheme;

use super::Operands;
use super::reduce::{Reduction, reduction};
use crate::GraphError;

reduction! {
    /// `y = round(sum of (x - zx) * (sx/sy) / n) + zy` over the `n` elements of some axes, clamped.
    ///
    /// The integer multiplier of `sx/sy` is divided by `n` as in TensorFlow Lite:
    /// [`Multiplier::divided_by`](guardbit_num::Multiplier::divided_by).
    ///
    /// Under the scheme `even` the multiplier is `sx / (sy * n)` in float32 (ONNX Runtime,
    /// `QLinearGlobalAveragePool`).
    Mean, "mean", |scaled, count| {
        let requantizer = scaled(1.0)?;
        if requantizer.scheme() == Scheme::Even {
            return scaled(count as f32);
        }
        Ok(requantizer.divided_by(count as u64))
    }
}
