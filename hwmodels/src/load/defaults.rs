//! What a key means where it is missing.

use crate::{Axis, Dataflow};

pub(super) const CLOCK_MHZ: f64 = 300.0;
pub(super) const ROWS: i64 = 16;
pub(super) const COLS: i64 = 16;
pub(super) const DOT_WIDTH: i64 = 1;
pub(super) const DATAFLOW: Dataflow = Dataflow::OutputStationary;
pub(super) const AXES: [Axis; 3] = [Axis::Kh, Axis::Kw, Axis::Ic];
pub(super) const BIAS_BITS: i64 = 32;
pub(super) const ACTIVATION_KIB: f64 = 256.0;
pub(super) const WEIGHT_KIB: f64 = 256.0;
pub(super) const ACCUMULATOR_KIB: f64 = 64.0;
pub(super) const SRAM_BYTES_PER_CYCLE: f64 = 16.0;
/// What 16 columns of 32-bit sums write and read.
pub(super) const ACCUMULATOR_BYTES_PER_CYCLE: f64 = 128.0;
pub(super) const DRAM_BYTES_PER_CYCLE: f64 = 8.0;
pub(super) const DRAM_LATENCY_CYCLES: i64 = 100;
