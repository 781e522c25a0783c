//! Closed forms of the literature, in integers.
//!
//! The papers write them with logarithms. Two identities give integers: `ceil(log2 n)` is the bit length of
//! `n - 1` for `n >= 1`, and `a + log2(1 + 2^-a) = log2(2^a + 1)`. They avoid floating point and its rounding
//! at powers of two.

use guardbit_num::required_bits;

use super::Range;

/// Width of an operand as A2Q counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OperandBits {
    /// N: the width in bits, including the sign.
    pub bits: u32,
    /// s: whether the operand is signed.
    pub signed: bool,
}

impl OperandBits {
    /// Returns the smallest type that holds `range`, which is unsigned if no value is negative.
    pub fn of(range: Range) -> Self {
        let signed = range.min < 0;
        Self { bits: range.bits(signed), signed }
    }

    /// Returns `N - s`: the operand's magnitude is at most 2 to this power.
    fn magnitude_bits(self) -> u32 {
        self.bits - u32::from(self.signed)
    }
}

/// Returns A2Q's width from the types alone: `P = ceil(a + log2(1 + 2^-a) + 1)` with
/// `a = log2 K + N + M - 1 - s`.
///
/// In integers, `2^a = A = K * 2^(N+M-1-s)`, so `P = 1 + ceil(log2(A + 1)) = 1 + bit length of A`.
/// `weight_bits` is M, including the sign. Colbert et al., "A2Q: Accumulator-Aware Quantization with
/// Guaranteed Overflow Avoidance" (2023); `accumulators.md` 2.2.
pub fn a2q_type_bits(terms: usize, operand: OperandBits, weight_bits: u32) -> u32 {
    let shift = operand.magnitude_bits() + weight_bits.max(1) - 1;
    required_bits((terms as i128) << shift, true)
}

/// Returns A2Q's width from the weights of a channel: `P = ceil(c + log2(1 + 2^-c) + 1)` with
/// `c = log2 l1 + N - s`.
///
/// In integers, `2^c = A = l1 * 2^(N-s)`, so `P = 1 + bit length of A`. `l1` is the sum of the weights'
/// magnitudes. `accumulators.md` 2.3.
pub fn a2q_bits(l1: i128, operand: OperandBits) -> u32 {
    required_bits(l1 << operand.magnitude_bits(), true)
}

/// Returns A2Q+'s width for a channel whose weights sum to 0: `P = ceil(log2(l1 * (2^N - 1) + 2))`.
///
/// In integers, it is the bit length of `l1 * (2^N - 1) + 1`. Colbert et al., "A2Q+: Improving
/// Accumulator-Aware Weight Quantization" (2024); `accumulators.md` 2.3.
pub fn a2q_plus_bits(l1: i128, operand: OperandBits) -> u32 {
    required_bits(l1 * ((1 << operand.bits) - 1) + 1, false)
}

/// Returns the width of the outer accumulator in multi-stage accumulation. It adds `ceil(terms / tile)` sums
/// of magnitude at most `2^(inner - 1) - 1`, as guaranteed by AXE.
///
/// AXE writes `ceil(inner + log2 K - log2 T)`. `accumulators.md` 2.5.
pub fn outer_bits(inner: u32, terms: usize, tile: usize) -> u32 {
    let tiles = terms.div_ceil(tile.max(1)) as i128;
    required_bits(tiles * ((1i128 << (inner.max(1) - 1)) - 1), true)
}
