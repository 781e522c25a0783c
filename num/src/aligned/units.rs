//! Parameters of real matrix units, one row each.
//!
//! Source of every row: arXiv 2511.10909 and its model, microsoft/MMA-Sim, which was checked on these devices.

use super::rule::{AlignedRule, Incoming};
use crate::float::fp8::{E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ};
use crate::float::microscaling::{E2M1, E2M3, E3M2};
use crate::float::wide::{BFLOAT16, E8M13, FLOAT16, FLOAT32, TF32};
use crate::{FloatFormat, Rounding};

/// One kind of instruction of a matrix unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixUnit {
    /// The device and its instruction.
    pub name: &'static str,
    /// Formats of operands. Those of 8 bits and fewer may be mixed.
    pub operands: &'static [FloatFormat],
    /// Products of one instruction (its K). It runs as `products / terms` additions, one after another.
    pub products: usize,
    /// Products of one addition.
    pub terms: usize,
    /// Bits kept below the largest exponent.
    pub fraction_bits: u32,
    /// Formats of the result. NVIDIA's units add bfloat16 to float32 only.
    pub results: &'static [FloatFormat],
    /// Where the accumulator enters.
    pub incoming: Incoming,
    /// How operands are scaled by block.
    pub scales: BlockScales,
}

/// Block scales of a unit's operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockScales {
    /// None.
    None,
    /// One pair of scales for all products, added to their exponents.
    Whole,
    /// Groups of this many products are added exactly ([`Term::exact`](super::Term::exact)), then multiplied by their scales.
    Groups(usize),
}

const FLOATS: &[FloatFormat] = &[FLOAT16, BFLOAT16];
const FP8: &[FloatFormat] = &[E4M3FN, E5M2];
const FNUZ: &[FloatFormat] = &[E4M3FNUZ, E5M2FNUZ];
const SMALL: &[FloatFormat] = &[E4M3FN, E5M2, E3M2, E2M3, E2M1];
const WIDE: &[FloatFormat] = &[FLOAT32, FLOAT16];
const NARROW: &[FloatFormat] = &[E8M13, FLOAT16];
const ONLY32: &[FloatFormat] = &[FLOAT32];
const CDNA3: Incoming = Incoming::Apart { interleaved: false, sum_bits: 31, bits: 24, reach: None };
const CDNA3_FP8: Incoming = Incoming::Apart { interleaved: true, sum_bits: 31, bits: 24, reach: Some(25) };

/// Builds a row without block scales whose accumulator is one more term.
const fn row(
    name: &'static str,
    operands: &'static [FloatFormat],
    products: usize,
    terms: usize,
    fraction_bits: u32,
    results: &'static [FloatFormat],
) -> MatrixUnit {
    let (incoming, scales) = (Incoming::Term, BlockScales::None);
    MatrixUnit { name, operands, products, terms, fraction_bits, results, incoming, scales }
}

impl MatrixUnit {
    /// Every unit.
    #[rustfmt::skip]
    pub const ALL: [Self; 22] = [
        row("volta mma f16", &[FLOAT16], 4, 4, 23, WIDE),
        row("turing mma f16", &[FLOAT16], 8, 8, 24, WIDE),
        row("ampere mma f16", FLOATS, 16, 8, 24, WIDE),
        row("ampere mma tf32", &[TF32], 8, 4, 24, ONLY32),
        row("ada mma f16", FLOATS, 16, 8, 24, WIDE),
        row("ada mma tf32", &[TF32], 8, 4, 24, ONLY32),
        row("ada mma fp8", FP8, 32, 16, 13, NARROW),
        row("hopper mma f16", FLOATS, 16, 16, 25, WIDE),
        row("hopper mma tf32", &[TF32], 8, 8, 25, ONLY32),
        row("hopper wgmma f16", FLOATS, 16, 16, 25, WIDE),
        row("hopper wgmma tf32", &[TF32], 8, 8, 25, ONLY32),
        row("hopper wgmma fp8", FP8, 32, 32, 13, NARROW),
        row("blackwell tcgen05 f16", FLOATS, 16, 16, 25, WIDE),
        row("blackwell tcgen05 tf32", &[TF32], 8, 8, 25, ONLY32),
        row("blackwell tcgen05 f8f6f4", SMALL, 32, 32, 25, WIDE),
        row("rtx-blackwell mma f16", FLOATS, 16, 16, 25, WIDE),
        row("rtx-blackwell mma f8f6f4", SMALL, 32, 32, 25, WIDE),
        Self { scales: BlockScales::Whole, ..row("blackwell tcgen05 mxf8f6f4", SMALL, 32, 32, 25, ONLY32) },
        Self { scales: BlockScales::Groups(16), ..row("blackwell tcgen05 mxf4nvf4", &[E2M1], 64, 64, 35, ONLY32) },
        Self { incoming: CDNA3, ..row("cdna3 mfma f16", FLOATS, 16, 8, 24, ONLY32) },
        Self { incoming: CDNA3, ..row("cdna3 mfma xf32", &[TF32], 8, 4, 24, ONLY32) },
        Self { incoming: CDNA3_FP8, ..row("cdna3 mfma fp8", FNUZ, 32, 16, 24, ONLY32) },
    ];

    /// Returns the rule of one addition with a result in `result`, one of `results`.
    pub fn rule(self, result: FloatFormat) -> AlignedRule {
        let nvidia = self.incoming == Incoming::Term;
        let even = !nvidia || result == FLOAT16;
        AlignedRule {
            fraction_bits: self.fraction_bits,
            cut: Rounding::TowardZero,
            incoming: self.incoming,
            result,
            result_rounding: if even { Rounding::HalfEven } else { Rounding::TowardZero },
            negative_zero: !nvidia,
            // NVIDIA's NaN has all bits below the sign set.
            nan: if nvidia { (1 << (result.bits() - 1)) - 1 } else { result.nan().unwrap_or(0) },
        }
    }
}
