//! Defaults of missing keys that their rows do not define.

use crate::Axis;

pub(super) const AXES: [Axis; 3] = [Axis::Kh, Axis::Kw, Axis::Ic];
pub(super) const BIAS_BITS: i64 = 32;
