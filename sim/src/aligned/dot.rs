//! One dot product: the sum that the register delivers, and the exact one.

use guardbit_hwmodels::FloatAccumulation;
use guardbit_num::{
    AlignedSum, Decoded, FloatDot, FloatFormat, FloatOverflow, FloatRounding, RegisterUse, Rounding, Term,
};

use super::wide::WideSum;
use crate::options::StatsLevel;

/// What happened in one dot product.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// Code of the delivered sum, as a float32.
    pub delivered: u32,
    /// Code of the exact sum, rounded once to float32.
    pub exact: u32,
    /// What was lost.
    pub lost: AlignedSum,
    /// What happened in a fixed-point register.
    pub register: Option<RegisterUse>,
    /// What it requires, if that is counted.
    pub required: Option<Required>,
}

/// Fraction bits that a dot product requires.
#[derive(Debug, Clone, Copy)]
pub(super) struct Required {
    /// For no term to lose a bit; `None` if more than the most are needed, or if the accumulator enters apart.
    pub exact: Option<u32>,
    /// For the sum that the most fraction bits deliver: it and every greater number deliver it.
    pub result: u32,
    /// Whether the most fraction bits deliver the exact sum.
    pub reaches_exact: bool,
}

impl Outcome {
    /// Runs a dot product. `exact` holds its products, `products` those of the unit, which may take operands as zero.
    pub fn new(accumulation: &FloatDot, exact: &[Term], products: &[Term], level: StatsLevel) -> Self {
        let (lost, register) = accumulation.run(products);
        let exact = self::exact(exact);
        let required = if level.counts_prefixes() && accumulation.with_fraction_bits(0).is_some() {
            let with = |bits| [accumulation.with_fraction_bits(bits).map(|dot| dot.run(products).0)];
            let [required] = Required::count(accumulation, with, &[exact], [true]);
            required
        } else {
            None
        };
        Self { delivered: single(accumulation.result(), lost.code), exact, lost, register, required }
    }
}

impl Required {
    /// Returns what dot products require: those that run, whose exact sums are given. `with` returns their sums with a
    /// number of fraction bits, `None` for those that it cannot add; nothing is returned for these.
    pub fn count<const N: usize>(
        accumulation: &FloatDot,
        with: impl Fn(u32) -> [Option<AlignedSum>; N],
        exact: &[u32; N],
        runs: [bool; N],
    ) -> [Option<Self>; N] {
        let most = FloatAccumulation::MAX_FRACTION_BITS;
        let widest = with(most);
        let (mut all, mut open) = ([None; N], [None; N]);
        for at in (0..N).filter(|&at| runs[at]) {
            let Some(widest) = widest[at] else { continue };
            let fits = accumulation.keeps_all() && widest.exact_fraction_bits <= most;
            // From this number on, every term is exact, and all results are equal.
            let start = if fits { widest.exact_fraction_bits } else { most };
            all[at] = Some(Self {
                exact: fits.then_some(start),
                result: 0,
                reaches_exact: same(single(accumulation.result(), widest.code), exact[at]),
            });
            open[at] = Some((start, widest.code));
        }
        let first = open.iter().flatten().map(|(start, _)| *start).max().unwrap_or(0);
        for bits in (0..first).rev() {
            if open.iter().all(Option::is_none) {
                break;
            }
            for (at, sum) in with(bits).into_iter().enumerate() {
                let Some((_, code)) = open[at].filter(|(start, _)| bits < *start) else { continue };
                let Some(sum) = sum else {
                    (all[at], open[at]) = (None, None);
                    continue;
                };
                if sum.code != code {
                    all[at].iter_mut().for_each(|required: &mut Self| required.result = bits + 1);
                    open[at] = None;
                }
            }
        }
        all
    }
}

/// Returns whether two float32 codes are equal, with zeros of both signs as one.
pub(super) fn same(a: u32, b: u32) -> bool {
    a == b || (a | b) << 1 == 0
}

/// Returns the code of a delivered sum as a float32, which holds every value of shorter formats.
pub(super) fn single(format: FloatFormat, code: u32) -> u32 {
    // Of a format with the exponents of float32, only the end of the fraction is missing.
    let missing = FloatFormat::FLOAT32.fraction_bits().checked_sub(format.fraction_bits());
    match missing.filter(|_| format.has_exponents_of(FloatFormat::FLOAT32)) {
        Some(missing) if code << missing << 1 <= 0xFF << 24 => code << missing,
        _ => rounded(format.decode(code)),
    }
}

/// Returns the exact sum of products, rounded once.
fn exact(products: &[Term]) -> u32 {
    let mut sum = WideSum::default();
    let mut infinite = [false; 2];
    for product in products {
        match product.value {
            Decoded::Finite(number) => sum.add(number),
            Decoded::Infinite { negative } => infinite[usize::from(negative)] = true,
            Decoded::Nan => infinite = [true; 2],
        }
    }
    rounded(match infinite {
        [false, false] => Decoded::Finite(sum.number()),
        [true, true] => Decoded::Nan,
        [_, negative] => Decoded::Infinite { negative },
    })
}

/// Returns the float32 nearest to a value, ties to even. Every NaN has one code.
pub(super) fn rounded(value: Decoded) -> u32 {
    let format = FloatFormat::FLOAT32;
    let code = format.code(value, FloatRounding::By(Rounding::HalfEven), FloatOverflow::Special);
    code.or(format.nan()).unwrap_or(0)
}
