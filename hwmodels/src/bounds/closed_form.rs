//! Closed forms of the literature, in integers.
//!
//! The papers write them with logarithms. Integers come from two identities: `ceil(log2 n)` is the bit length of
//! `n - 1` for `n >= 1`, and `a + log2(1 + 2^-a) = log2(2^a + 1)`. Both make floating point, and its rounding at
//! powers of two, unnecessary.

use guardbit_num::required_bits;

use super::Range;

/// Bits of an operand as A2Q counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OperandBits {
    /// N: the width, sign included.
    pub bits: u32,
    /// s: whether there is a sign.
    pub signed: bool,
}

impl OperandBits {
    /// The least type that holds `range`: without a sign where nothing is negative.
    pub fn of(range: Range) -> Self {
        let signed = range.min < 0;
        Self { bits: range.bits(signed), signed }
    }

    /// `N - s`: the operand's magnitude is at most 2 to this power.
    fn magnitude_bits(self) -> u32 {
        self.bits - u32::from(self.signed)
    }
}

/// A2Q from the types alone: `P = ceil(a + log2(1 + 2^-a) + 1)` with `a = log2 K + N + M - 1 - s`.
///
/// In integers `2^a = A = K * 2^(N+M-1-s)`, so `P = 1 + ceil(log2(A + 1)) = 1 + bit length of A`. `weight_bits` is
/// M, sign included. Colbert et al., "A2Q: Accumulator-Aware Quantization with Guaranteed Overflow Avoidance"
/// (2023); `accumulators.md` 2.2.
pub fn a2q_type_bits(terms: usize, operand: OperandBits, weight_bits: u32) -> u32 {
    let shift = operand.magnitude_bits() + weight_bits.max(1) - 1;
    required_bits((terms as i128) << shift, true)
}

/// A2Q from the weights of a channel: `P = ceil(c + log2(1 + 2^-c) + 1)` with `c = log2 l1 + N - s`.
///
/// In integers `2^c = A = l1 * 2^(N-s)`, so `P = 1 + bit length of A`. `l1` is the sum of the weights'
/// magnitudes. `accumulators.md` 2.3.
pub fn a2q_bits(l1: i128, operand: OperandBits) -> u32 {
    required_bits(l1 << operand.magnitude_bits(), true)
}

/// A2Q+ for a channel whose weights sum to 0: `P = ceil(log2(l1 * (2^N - 1) + 2))`.
///
/// In integers: the bit length of `l1 * (2^N - 1) + 1`. Colbert et al., "A2Q+: Improving Accumulator-Aware Weight
/// Quantization" (2024); `accumulators.md` 2.3.
pub fn a2q_plus_bits(l1: i128, operand: OperandBits) -> u32 {
    required_bits(l1 * ((1 << operand.bits) - 1) + 1, false)
}

/// Multi-stage accumulation: the width of an outer accumulator that takes `ceil(terms / tile)` sums of magnitude
/// at most `2^(inner - 1) - 1`, as AXE keeps them.
///
/// AXE writes `ceil(inner + log2 K - log2 T)`. `accumulators.md` 2.5.
pub fn outer_bits(inner: u32, terms: usize, tile: usize) -> u32 {
    let tiles = terms.div_ceil(tile.max(1)) as i128;
    required_bits(tiles * ((1i128 << (inner.max(1) - 1)) - 1), true)
}
