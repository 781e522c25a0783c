//! What keys mean that are missing, where their rows do not say it.

use crate::Axis;

pub(super) const AXES: [Axis; 3] = [Axis::Kh, Axis::Kw, Axis::Ic];
pub(super) const BIAS_BITS: i64 = 32;
