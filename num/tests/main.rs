//! Tests of `num`: one program, a module per file.

mod aligned;
mod float;
mod laws;
mod multiplier;
mod overflow;
mod quantize;
mod random;
mod requantize;
mod rounding;
mod sums;
mod tosa;
