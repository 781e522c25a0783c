//! Sums of products by ordinary floating-point additions: one after another, or by trees.

use super::format::{Decoded, Dyadic, FloatFormat, FloatOverflow, FloatRounding};
use super::wide::FLOAT32;
use crate::Rounding;

/// How products are added by ordinary additions, each of which rounds: pairwise in groups, whose sums are added to the
/// accumulator one after another. A group of 1 adds one product after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PairwiseDot {
    /// Products of one group, a power of two. Missing products are +0.
    pub group: usize,
    /// Format of products, sums and the accumulator.
    pub result: FloatFormat,
    /// How they are rounded. A magnitude beyond the largest becomes infinity.
    pub rounding: Rounding,
    /// Whether products are exact in their first addition, as in a fused multiply-add. Otherwise they are rounded
    /// before, and zero products are +0.
    pub fused: bool,
    /// Whether subnormals become zero: +0 among operands and accumulators, zero of their sign among products and sums.
    pub flush: bool,
}

/// The sum of a group and the accumulator, and what was rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundedSum {
    /// Code of the sum.
    pub code: u32,
    /// Additions whose result is not the exact sum of the exact products or earlier results.
    pub rounded: u32,
    /// Additions of two nonzero numbers that return one of them.
    pub vanished: u32,
    /// Most bits of an exact result below its leading one.
    pub fraction_bits: u32,
}

/// A value on the way, and whether it was rounded as a product.
#[derive(Clone, Copy)]
struct Node {
    value: Decoded,
    rounded: bool,
}

const ZERO: Decoded = Decoded::Finite(Dyadic { negative: false, significand: 0, exponent: 0 });

/// Builds a float32 unit that rounds products, and everything to nearest even.
const fn unit(group: usize, flush: bool) -> PairwiseDot {
    PairwiseDot { group, result: FLOAT32, rounding: Rounding::HalfEven, fused: false, flush }
}

impl PairwiseDot {
    /// Units that add so, by device, instruction and operands.
    ///
    /// Source: arXiv 2511.10909 and its model, microsoft/MMA-Sim, which was checked on these devices.
    pub const UNITS: [(&str, Self); 5] = [
        ("cdna1 mfma f16", unit(4, false)),
        ("cdna1 mfma bf16", unit(2, false)),
        ("cdna2 mfma f16", unit(4, true)),
        ("cdna2 mfma bf16", unit(2, true)),
        ("cdna2 mfma bf16_1k", unit(4, true)),
    ];

    /// Returns the code of `c + sum(a[i] * b[i])`. `format` is that of `a` and `b`; `c` has the format of the result.
    pub fn run(&self, format: FloatFormat, a: &[u32], b: &[u32], c: u32) -> u32 {
        let operand = |code: u32| format.decode(self.operand(format, code));
        let products: Vec<Decoded> = a.iter().zip(b).map(|(&a, &b)| operand(a).times(operand(b))).collect();
        let c = self.operand(self.result, c);
        products.chunks(self.group).fold(c, |sum, group| self.add(group, sum).code)
    }

    /// Returns a code, or that of zero if it is subnormal and such operands become zero.
    pub fn operand(&self, format: FloatFormat, code: u32) -> u32 {
        if self.flush && format.is_subnormal(code) { 0 } else { code }
    }

    /// Returns the sum of at most a group of exact products and the accumulator `c`.
    pub fn add(&self, products: &[Decoded], c: u32) -> RoundedSum {
        let mut sum = RoundedSum { code: 0, rounded: 0, vanished: 0, fraction_bits: 0 };
        let missing = (0..self.group.saturating_sub(products.len())).map(|_| ZERO);
        let products = products.iter().copied().chain(missing).map(|product| self.product(product));
        let mut nodes: Vec<Node> = products.collect();
        while nodes.len() > 1 {
            nodes = nodes.chunks(2).map(|pair| self.sum(pair[0], pair[pair.len() - 1], &mut sum)).collect();
        }
        let c = Node { value: self.result.decode(c), rounded: false };
        let total = nodes.first().map_or(c, |&group| self.sum(c, group, &mut sum));
        sum.code = self.code(total.value);
        sum
    }

    /// Returns a product as it enters its first addition.
    fn product(&self, exact: Decoded) -> Node {
        if self.fused {
            return Node { value: exact, rounded: false };
        }
        let value = self.rounded(exact.plus(ZERO));
        Node { value, rounded: !same(value, exact) }
    }

    fn sum(&self, a: Node, b: Node, counts: &mut RoundedSum) -> Node {
        let exact = a.value.plus(b.value);
        let value = self.rounded(exact);
        if let (Decoded::Finite(number), Decoded::Finite(_)) = (exact, value) {
            let is_zero = |node: Node| same(node.value, ZERO);
            counts.rounded += u32::from(a.rounded || b.rounded || !same(value, exact));
            let vanished = !is_zero(a) && !is_zero(b) && (same(value, a.value) || same(value, b.value));
            counts.vanished += u32::from(vanished);
            let length = number.significand.checked_ilog2().unwrap_or(0);
            let below = length - number.significand.trailing_zeros().min(length);
            counts.fraction_bits = counts.fraction_bits.max(below);
        }
        Node { value, rounded: false }
    }

    /// Returns a value rounded to the format of the result. A subnormal is flushed to zero, if such become zero.
    fn rounded(&self, value: Decoded) -> Decoded {
        self.result.decode(self.code(value))
    }

    fn code(&self, value: Decoded) -> u32 {
        let code = self.result.code(value, FloatRounding::By(self.rounding), FloatOverflow::Special);
        let code = code.or(self.result.nan()).unwrap_or(0);
        if self.flush && self.result.is_subnormal(code) { code & 1 << (self.result.bits() - 1) } else { code }
    }
}

/// Returns whether two values are equal, with zeros of both signs as one.
fn same(a: Decoded, b: Decoded) -> bool {
    let (Decoded::Finite(a), Decoded::Finite(b)) = (a, b) else { return a == b };
    let shortest = |number: Dyadic| match number.significand {
        0 => (false, 0, 0),
        own => {
            let zeros = own.trailing_zeros();
            (number.negative, own >> zeros, number.exponent + zeros as i32)
        }
    };
    shortest(a) == shortest(b)
}
