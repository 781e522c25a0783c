//! Dot products by trees of ordinary float32 additions, as AMD's CDNA1 and CDNA2 add.

use super::format::{Decoded, Dyadic, FloatFormat};
use super::wide::FLOAT32;

/// A dot product whose products, rounded to float32, are added pairwise in groups. The sums of groups are added to the
/// accumulator one after another. Every addition rounds to nearest even.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PairwiseDot {
    /// Products of one group, a power of two.
    pub group: usize,
    /// Whether subnormals become zero: +0 among operands and accumulators, zero of their sign among sums.
    pub flush: bool,
}

impl PairwiseDot {
    /// Units that add so, by device, instruction and operands.
    ///
    /// Source: arXiv 2511.10909 and its model, microsoft/MMA-Sim, which was checked on these devices.
    pub const UNITS: [(&str, Self); 5] = [
        ("cdna1 mfma f16", Self { group: 4, flush: false }),
        ("cdna1 mfma bf16", Self { group: 2, flush: false }),
        ("cdna2 mfma f16", Self { group: 4, flush: true }),
        ("cdna2 mfma bf16", Self { group: 2, flush: true }),
        ("cdna2 mfma bf16_1k", Self { group: 4, flush: true }),
    ];

    /// Returns the float32 code of `c + sum(a[i] * b[i])`. `format` is that of `a` and `b`, `c` is a float32.
    pub fn run(&self, format: FloatFormat, a: &[u32], b: &[u32], c: u32) -> u32 {
        let operand =
            |code: u32| format.decode(if self.flush && format.is_subnormal(code) { 0 } else { code });
        let products: Vec<u32> =
            a.iter().zip(b).map(|(&a, &b)| self.product(operand(a), operand(b))).collect();
        let c = if self.flush && FLOAT32.is_subnormal(c) { 0 } else { c };
        products.chunks(self.group).fold(c, |sum, group| self.sum(sum, self.tree(group)))
    }

    fn product(&self, a: Decoded, b: Decoded) -> u32 {
        let zero = Decoded::Finite(Dyadic { negative: false, significand: 0, exponent: 0 });
        self.flushed(FLOAT32.nearest(a.times(b).plus(zero)))
    }

    fn sum(&self, a: u32, b: u32) -> u32 {
        self.flushed(FLOAT32.nearest(FLOAT32.decode(a).plus(FLOAT32.decode(b))))
    }

    /// Returns the sum of the sums of both halves.
    fn tree(&self, codes: &[u32]) -> u32 {
        match codes {
            [] => 0,
            [code] => *code,
            _ => {
                let (left, right) = codes.split_at(codes.len() / 2);
                self.sum(self.tree(left), self.tree(right))
            }
        }
    }

    /// Returns a sum with its sign only, if it is subnormal and such sums become zero. `None` is NaN.
    fn flushed(&self, code: Option<u32>) -> u32 {
        let code = code.or(FLOAT32.nan()).unwrap_or(0);
        if self.flush && FLOAT32.is_subnormal(code) { code & 1 << 31 } else { code }
    }
}
