//! A dot product of floating-point products, however a unit adds them.

use super::dot::AlignedDot;
use super::fixed::{FixedDot, RegisterUse};
use super::ordinary::OrdinaryDot;
use super::rule::{AlignedRule, AlignedSum, Incoming, Term};
use crate::FloatFormat;

/// How the products of a dot product are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatDot {
    /// Aligned to the largest exponent of an addition, and cut.
    Aligned(AlignedDot),
    /// In a fixed-point register.
    Fixed(FixedDot),
    /// By ordinary additions, each of which rounds.
    Ordinary(OrdinaryDot),
}

impl FloatDot {
    /// Returns the sum of `products`, a code of [`Self::result`], and what a fixed-point register did.
    pub fn run(&self, products: &[Term]) -> (AlignedSum, Option<RegisterUse>) {
        match self {
            Self::Aligned(dot) => (dot.run(products), None),
            Self::Fixed(dot) => {
                let (sum, used) = dot.run(products);
                (sum, Some(used))
            }
            Self::Ordinary(dot) => (dot.run(products), None),
        }
    }

    /// Returns the format of a sum.
    pub fn result(&self) -> FloatFormat {
        let (own, promotion) = match self {
            Self::Aligned(dot) => (dot.rule.result, dot.promotion),
            Self::Fixed(_) => return FloatFormat::FLOAT32,
            Self::Ordinary(dot) => (dot.unit.result, dot.promotion),
        };
        promotion.map_or(own, |_| FloatFormat::FLOAT32)
    }

    /// Returns the fraction bits that are kept: of each term, of the register, or of each result.
    pub fn fraction_bits(&self) -> u32 {
        match self {
            Self::Aligned(dot) => dot.rule.fraction_bits,
            Self::Fixed(dot) => dot.fraction_bits,
            Self::Ordinary(dot) => dot.unit.result.fraction_bits(),
        }
    }

    /// Returns the same sums with another number of fraction bits, in a register without overflow; `None` if the
    /// number is that of a format.
    pub fn with_fraction_bits(&self, fraction_bits: u32) -> Option<Self> {
        match *self {
            Self::Aligned(dot) => {
                let rule = AlignedRule { fraction_bits, ..dot.rule };
                Some(Self::Aligned(AlignedDot { rule, ..dot }))
            }
            Self::Fixed(dot) => Some(Self::Fixed(FixedDot { fraction_bits, register: None, ..dot })),
            Self::Ordinary(_) => None,
        }
    }

    /// Returns whether enough fraction bits keep every bit of every term. The rule of an accumulator that is added
    /// apart cuts it to bits of its own.
    pub fn keeps_all(&self) -> bool {
        match self {
            Self::Aligned(dot) => dot.rule.incoming == Incoming::Term,
            Self::Fixed(_) => true,
            Self::Ordinary(_) => false,
        }
    }

    /// Returns the number of terms of all additions of a dot product: products, and the accumulator unless it is a
    /// fixed-point register.
    pub fn terms(&self, products: usize) -> usize {
        let additions = match self {
            Self::Aligned(dot) => products.div_ceil(dot.terms),
            Self::Fixed(_) => 0,
            Self::Ordinary(dot) => products.div_ceil(dot.unit.group),
        };
        products + additions
    }
}
