//! A layer, and whether 32 bits suffice for it.

use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::{AlignedDot, AlignedRule, FloatDot, FloatFormat, Incoming, Rounding};

use super::code::{FRACTION_BITS, MAX_EXPONENT, Marks, Short};
use super::rows::ShortRows;
use super::window::{NEGATIVE, NOT_FINITE, Nonzero, POSITIVE, ShortWindow, Term};
use crate::fast::{Aligned, Kernels, LANES};

/// Most products of an addition, so that counts of them fit a byte.
const MAX_TERMS: usize = 120;
/// Greatest number of exponents of activations: exact sums have a bucket for each.
pub(super) const BUCKETS: usize = 32;

/// A layer whose dot products run in lanes of 32 bits.
#[derive(Debug)]
pub(crate) struct ShortLanes {
    dot: AlignedDot,
    kernels: Kernels,
    /// Factors by code: of activations, and of weights.
    pub(super) codes: [Vec<Short>; 2],
    /// Marks of activations by code.
    pub(super) marks: Vec<Aligned<Marks>>,
    /// Kinds of activations by code.
    kinds: Vec<u8>,
    /// Fraction bits of a product.
    fraction_bits: u32,
    /// Products of an addition.
    terms: usize,
    /// Products of a dot product.
    products: usize,
    /// The least exponent of an activation, and how many exponents activations have.
    pub(super) exponents: (i32, u32),
}

impl ShortLanes {
    /// Prepares a layer; `None` if its products or additions need more.
    pub fn new(layer: &FloatMacLayer, kernels: Kernels) -> Option<Self> {
        let FloatDot::Aligned(dot) = layer.accumulation.dot() else { return None };
        let operands = [&layer.dots.activations, &layer.dots.weights];
        let formats = operands.map(|operand| operand.format);
        let AlignedRule { cut, incoming, result, result_rounding, .. } = dot.rule;
        let terms = dot.terms.min(layer.order.len().max(1));
        let runs = incoming == Incoming::Term
            && matches!(cut, Rounding::TowardZero | Rounding::Floor)
            && matches!(result_rounding, Rounding::TowardZero | Rounding::HalfEven)
            && result.has_exponents_of(FloatFormat::FLOAT32)
            && layer.groups.is_none()
            && layer.dots.window.groups == 1
            && operands.iter().all(|operand| operand.blocks.is_none())
            && formats.iter().all(|format| format.bits() <= 8 && format.fraction_bits() <= FRACTION_BITS)
            && terms <= MAX_TERMS;
        if !runs {
            return None;
        }
        let table = |format: FloatFormat| -> Vec<_> {
            (0..1 << format.bits()).map(|code| Short::new(format, code)).collect()
        };
        let codes = formats.map(table);
        let numbers = codes.iter().flatten().filter(|code| !code.is_zero());
        if numbers.clone().any(|code| code.exponent.abs() > MAX_EXPONENT || code.last.abs() > MAX_EXPONENT) {
            return None;
        }
        let marks = |code: &Short| {
            let [exponent, last] = code.bytes();
            Aligned(std::array::from_fn(|at| if at / LANES == 3 { exponent } else { last }))
        };
        let marks = codes[0].iter().map(marks).collect();
        let fraction_bits = formats.iter().map(|format| format.fraction_bits()).sum();
        let exponents = || codes[0].iter().filter(|code| !code.is_zero()).map(|code| code.exponent);
        let (low, high) = exponents().min().zip(exponents().max())?;
        let exponents = (low, (high - low + 1) as u32);
        let kind = |code: &Short| match code.significand {
            _ if !code.finite => NOT_FINITE,
            0 => 0,
            1.. => POSITIVE,
            _ => NEGATIVE,
        };
        let (kinds, products) = (codes[0].iter().map(kind).collect(), layer.order.len());
        (exponents.1 as usize <= BUCKETS).then_some(Self {
            dot,
            kernels,
            codes,
            marks,
            kinds,
            fraction_bits,
            terms,
            products,
            exponents,
        })
    }

    pub fn rule(&self) -> AlignedRule {
        self.dot.rule
    }

    pub fn kernels(&self) -> Kernels {
        self.kernels
    }

    /// Returns the format of what dot products deliver.
    pub fn result(&self) -> FloatFormat {
        FloatDot::Aligned(self.dot).result()
    }

    /// Returns the fraction bits of a product.
    pub fn fraction_bits(&self) -> u32 {
        self.fraction_bits
    }

    /// Returns the significand and the exponent of an activation.
    #[inline(always)]
    pub fn activation(&self, term: &Term) -> (i32, i32) {
        let Short { significand, exponent, .. } = self.codes[0][term.code as usize];
        (significand, exponent)
    }

    /// Returns the number of products of an addition.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// Returns the number of additions after which the accumulator is promoted, if it is.
    pub fn promotion(&self) -> Option<usize> {
        self.dot.promotion
    }

    /// Returns the activations of all images that are not zero.
    pub fn nonzero(&self, codes: &[i32]) -> Nonzero {
        Nonzero::new(&self.kinds, codes)
    }

    /// Returns the weights of a number of lanes and terms, as [`ShortRows::new`] does.
    pub fn rows(&self, size: (usize, usize), code: impl Fn(usize, usize) -> i32) -> Option<ShortRows> {
        ShortRows::new(&self.codes[1], size, code)
    }

    /// Returns whether activations are finite, products fit 32 bits, and exact sums 64.
    pub(super) fn is_exact(&self, windows: &[ShortWindow], rows: &ShortRows) -> bool {
        let bits = rows.product_bits() + self.exponents.1 + (self.products + 1).ilog2() + 1;
        windows.iter().all(|window| window.is_finite) && rows.product_bits() <= 31 && bits <= 63
    }

    /// Returns the exponent of the unit of exact sums.
    pub(super) fn unit(&self, rows: &ShortRows) -> i32 {
        rows.low + self.exponents.0 - self.fraction_bits as i32
    }
}
