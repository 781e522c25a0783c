//! Scheme E: `lrintf(float32(x) * float32(M))` (XNNPACK `requantization.h` fp32, FBGEMM `QuantUtils.h`, ONNX
//! Runtime).

use crate::Multiplier;

/// A float32.
pub(super) const CONSTANT_BITS: u32 = 32;

pub(super) fn requantize(x: i128, multiplier: Multiplier, zero_point: i128) -> i128 {
    let product = (x as f32) * (multiplier.real() as f32);
    product.round_ties_even() as i128 + zero_point
}
