//! Sum over axes.

use super::Operands;
use super::reduce::{Reduction, reduction};
use crate::GraphError;

reduction! {
    /// `y = round(sum of (x - zx) * sx/sy) + zy` over some axes, clamped.
    Sum, "sum", |scaled, _| scaled(1.0)
}
