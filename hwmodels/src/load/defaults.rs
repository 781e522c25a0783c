//! What a key of no section means where it is missing.

use crate::{Axis, Dataflow};

pub(super) const CLOCK_MHZ: f64 = 300.0;
pub(super) const DATAFLOW: Dataflow = Dataflow::OutputStationary;
pub(super) const AXES: [Axis; 3] = [Axis::Kh, Axis::Kw, Axis::Ic];
pub(super) const BIAS_BITS: i64 = 32;
