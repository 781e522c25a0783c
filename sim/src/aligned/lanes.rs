//! Aligned additions for the output channels of one pixel at a time, in lanes.
//!
//! A code is a signed significand and the exponent by which it is aligned, so that a term of any addition is
//! `significand * 2^(exponent - fraction bits of the formats)`. Terms are shifted and added as integers of 32 or 64 bits;
//! each sum becomes a code by the rule itself.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

use std::ops::Range;

use guardbit_graph::FloatOperand;
use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::{
    AlignedDot, AlignedRule, AlignedSum, Decoded, Dyadic, FloatDot, FloatFormat, Incoming, Rounding,
};

use super::dot::{Outcome, rounded, single};
use super::factor::{Factor, NOWHERE};
use super::held::{Added, Held};
use super::outcomes::Outcomes;
use crate::fast::{Kernels, LANES, Vectorized};
use crate::options::StatsLevel;

/// Greatest number of products of an addition.
const MAX_TERMS: usize = 1 << 16;

/// One factor per lane.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Row {
    significands: [i32; LANES],
    exponents: [i16; LANES],
    lasts: [i16; LANES],
}

/// Factors of the lanes of a block, in the order of addition.
#[derive(Debug, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    /// Whether a lane has a factor that is not finite.
    special: [bool; LANES],
}

/// A layer whose dot products run in lanes.
#[derive(Debug)]
pub(super) struct Lanes {
    dot: AlignedDot,
    kernels: Kernels,
    /// Factors by code: of activations, and of weights.
    factors: [Vec<Factor>; 2],
    /// Fraction bits of a term.
    fraction_bits: i32,
    /// Significant bits of a term.
    product_bits: u32,
    /// Factors of scales by code.
    scales: [Vec<Factor>; 2],
    groups: Option<Groups>,
    /// Exponent of the unit in which exact sums are integers, and their width; `None` if they depend on the scales.
    exact: Option<(i32, u32)>,
}

/// Products that are added exactly to one term.
#[derive(Debug)]
struct Groups {
    sizes: Vec<usize>,
    /// The least exponent of a product.
    unit: i32,
}

impl Rows {
    /// Takes the factors of `count` lanes, in the order of addition. `term` returns the factors of a term by lane.
    pub fn fill<F>(&mut self, (count, terms): (usize, usize), term: impl Fn(usize) -> F)
    where
        F: Fn(usize) -> Factor,
    {
        self.rows.clear();
        self.special = [false; LANES];
        for k in 0..terms {
            let mut row = Row { significands: [0; LANES], exponents: [0; LANES], lasts: [0; LANES] };
            let factor = term(k);
            for lane in 0..count {
                let factor = factor(lane);
                row.significands[lane] = factor.significand;
                (row.exponents[lane], row.lasts[lane]) = (factor.exponent as i16, factor.last as i16);
                self.special[lane] |= !factor.finite;
            }
            self.rows.push(row);
        }
    }
}

/// Activations of the lanes of a block, in the order of addition.
pub(super) trait Activations: Copy {
    /// Returns those of some terms.
    fn part(self, terms: Range<usize>) -> Self;
    fn significand(self, term: usize, lane: usize) -> i32;
    fn exponent(self, term: usize, lane: usize) -> i32;
    fn last(self, term: usize, lane: usize) -> i32;
    fn is_finite(self, lane: usize) -> bool;
}

/// Activations that all lanes share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared<'a> {
    factors: &'a [Factor],
    finite: bool,
}

/// Activations of terms that are complete without them: 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ones;

impl Activations for Ones {
    fn part(self, _terms: Range<usize>) -> Self {
        self
    }

    #[inline(always)]
    fn significand(self, _term: usize, _lane: usize) -> i32 {
        1
    }

    #[inline(always)]
    fn exponent(self, _term: usize, _lane: usize) -> i32 {
        0
    }

    #[inline(always)]
    fn last(self, _term: usize, _lane: usize) -> i32 {
        0
    }

    fn is_finite(self, _lane: usize) -> bool {
        true
    }
}

impl<'a> Shared<'a> {
    /// Returns the activations with these factors.
    pub fn new(factors: &'a [Factor]) -> Self {
        Self { factors, finite: factors.iter().all(|factor| factor.finite) }
    }
}

impl Activations for Shared<'_> {
    fn part(self, terms: Range<usize>) -> Self {
        Self { factors: &self.factors[terms], ..self }
    }

    #[inline(always)]
    fn significand(self, term: usize, _lane: usize) -> i32 {
        self.factors[term].significand
    }

    #[inline(always)]
    fn exponent(self, term: usize, _lane: usize) -> i32 {
        self.factors[term].exponent
    }

    #[inline(always)]
    fn last(self, term: usize, _lane: usize) -> i32 {
        self.factors[term].last
    }

    fn is_finite(self, _lane: usize) -> bool {
        self.finite
    }
}

/// Activations of each lane, as in groups of a convolution.
#[derive(Debug, Clone, Copy)]
pub(super) struct Each<'a> {
    rows: &'a [Row],
    special: &'a [bool; LANES],
}

impl<'a> Each<'a> {
    /// Returns the activations with these factors.
    pub fn new(rows: &'a Rows) -> Self {
        Self { rows: &rows.rows, special: &rows.special }
    }
}

impl Activations for Each<'_> {
    fn part(self, terms: Range<usize>) -> Self {
        Self { rows: &self.rows[terms], ..self }
    }

    #[inline(always)]
    fn significand(self, term: usize, lane: usize) -> i32 {
        self.rows[term].significands[lane]
    }

    #[inline(always)]
    fn exponent(self, term: usize, lane: usize) -> i32 {
        self.rows[term].exponents[lane].into()
    }

    #[inline(always)]
    fn last(self, term: usize, lane: usize) -> i32 {
        self.rows[term].lasts[lane].into()
    }

    fn is_finite(self, lane: usize) -> bool {
        !self.special[lane]
    }
}

impl Lanes {
    /// Prepares a layer; `None` if its additions need the reference.
    pub fn new(layer: &FloatMacLayer, kernels: Kernels) -> Option<Self> {
        let FloatDot::Aligned(dot) = layer.accumulation.dot() else { return None };
        let operands = [&layer.dots.activations, &layer.dots.weights];
        let formats = operands.map(|operand| operand.format);
        let cuts = matches!(dot.rule.cut, Rounding::TowardZero | Rounding::Floor);
        if dot.rule.incoming != Incoming::Term || !cuts || dot.terms.min(layer.order.len()) > MAX_TERMS {
            return None;
        }
        let table = |format: FloatFormat| (0..1 << format.bits()).map(move |code| Factor::new(format, code));
        let factors = formats.map(|format| table(format).collect::<Vec<_>>());
        let of_blocks = |operand: &FloatOperand| operand.blocks.as_ref().map(|blocks| blocks.format);
        let scales = operands.map(of_blocks);
        let mut product_bits = formats.iter().map(|format| format.fraction_bits() + 1).sum::<u32>();
        let mut fraction_bits = formats.iter().map(|format| format.fraction_bits() as i32).sum::<i32>();
        let ends = factors.each_ref().map(|factors| {
            let exponents = || factors.iter().filter(|one| one.significand != 0).map(|one| one.exponent);
            exponents().min().zip(exponents().max())
        });
        let [(low_a, high_a), (low_w, high_w)] = [ends[0]?, ends[1]?];
        let range = (high_a + high_w - low_a - low_w) as u32;
        let width = range + product_bits + layer.order.len().max(1).ilog2() + 2;
        let mut exact = Some((low_a + low_w - fraction_bits, width));
        if scales != [None; 2] {
            exact = None;
        }
        let groups = layer.groups.as_ref().map(|sizes| {
            let most = sizes.iter().copied().max().unwrap_or(1);
            let of_scales = scales.iter().flatten().map(|format| format.fraction_bits());
            let groups = Groups { sizes: sizes.clone(), unit: low_a + low_w };
            product_bits += range + most.ilog2() + 1 + of_scales.clone().map(|bits| bits + 1).sum::<u32>();
            fraction_bits += of_scales.sum::<u32>() as i32 - groups.unit;
            exact = None;
            groups
        });
        let scales = scales.map(|format| format.into_iter().flat_map(table).collect());
        let lanes = Self { dot, kernels, factors, scales, groups, fraction_bits, product_bits, exact };
        (product_bits <= 30).then_some(lanes)
    }

    /// Returns the factor of an element of the activations (0) or of the weights (1), and of the scale of its block
    /// unless products are scaled in groups.
    pub fn factor(&self, operand: usize, (code, scale): (i32, Option<i32>)) -> Factor {
        let factor = self.factors[operand][code as usize];
        match scale {
            Some(scale) if self.groups.is_none() => factor.times(self.scales[operand][scale as usize]),
            _ => factor,
        }
    }

    /// Returns the terms of groups of products: exact sums, times the scales of their blocks, if the unit adds groups.
    /// `scale` returns the code of the scale of an operand at a term in a lane.
    pub fn grouped<A: Activations>(
        &self,
        window: A,
        rows: &Rows,
        count: usize,
        scale: impl Fn(usize, usize, usize) -> Option<i32>,
    ) -> Option<Rows> {
        let Groups { sizes, unit } = self.groups.as_ref()?;
        let mut terms = Rows { rows: Vec::with_capacity(sizes.len()), special: rows.special };
        let mut first = 0;
        for &size in sizes {
            let mut sums = [0i32; LANES];
            for (k, row) in rows.rows.iter().enumerate().skip(first).take(size) {
                for l in 0..LANES {
                    let product = window.significand(k, l) * row.significands[l];
                    // A zero has an exponent of its own.
                    let shift = window.exponent(k, l) + i32::from(row.exponents[l]) - unit;
                    sums[l] += product << (shift.max(0) & 31);
                }
            }
            let mut row = Row { significands: sums, exponents: [0; LANES], lasts: [NOWHERE as i16; LANES] };
            for lane in 0..count {
                for operand in 0..2 {
                    let Some(code) = scale(operand, first, lane) else { continue };
                    let Factor { significand, exponent, finite, .. } = self.scales[operand][code as usize];
                    row.significands[lane] *= significand;
                    row.exponents[lane] += exponent as i16;
                    terms.special[lane] |= !finite;
                }
                let own = row.significands[lane];
                if own != 0 {
                    row.lasts[lane] =
                        row.exponents[lane] - self.fraction_bits as i16 + own.trailing_zeros() as i16;
                }
            }
            terms.rows.push(row);
            first += size;
        }
        Some(terms)
    }

    /// Returns the dot products of activations with the first `count` lanes of `rows`; `None` for those that need the
    /// reference: an operand, or a sum on the way, is not finite. Without `level`, only exact sums are right.
    pub fn run<A: Activations>(
        &self,
        window: A,
        rows: &Rows,
        count: usize,
        level: Option<StatsLevel>,
    ) -> Outcomes {
        let dot = self.dot();
        let sums = match level {
            Some(_) => self.sums(self.dot.rule.fraction_bits, window, rows, count),
            None => Lost::default().sums(),
        };
        let (exact, mut outcomes) = (self.exact(window, &rows.rows), Outcomes::default());
        for lane in (0..count).filter(|&lane| !rows.special[lane] && window.is_finite(lane)) {
            let Some((lost, exact)) = sums[lane].zip(exact) else { continue };
            let delivered = single(dot.result(), lost.code);
            let (register, required) = (None, None);
            outcomes.set(lane, &Outcome { delivered, exact: exact[lane], lost, register, required });
        }
        if level.is_some_and(StatsLevel::counts_prefixes) {
            outcomes.require(&dot, |bits| self.sums(bits, window, rows, count));
        }
        outcomes
    }

    /// Returns the rule of dot products.
    pub fn dot(&self) -> FloatDot {
        FloatDot::Aligned(self.dot)
    }

    /// Returns the delivered sums of all lanes with a number of fraction bits.
    pub fn sums<A: Activations>(
        &self,
        fraction_bits: u32,
        window: A,
        rows: &Rows,
        count: usize,
    ) -> [Option<AlignedSum>; LANES] {
        let dot = &AlignedDot { rule: AlignedRule { fraction_bits, ..self.dot.rule }, ..self.dot };
        let rule = &dot.rule;
        let terms = dot.terms.min(rows.rows.len().max(1));
        // Terms are below 2 to this power, relative to their exponent.
        let above = self.product_bits.saturating_add_signed(-self.fraction_bits).max(2);
        let bits = (rule.fraction_bits + above).max(self.product_bits).max(rule.result.fraction_bits() + 1);
        let narrow = bits + (terms + 1).ilog2() < 30;
        let mut lost = Lost::default();
        let mut totals = [0; LANES];
        let part =
            dot.promotion.map_or(rows.rows.len().max(1), |additions| dot.terms.saturating_mul(additions));
        let parts = |range: Range<usize>, size: usize| {
            let end = range.end;
            range.step_by(size).map(move |start| start..end.min(start.saturating_add(size)))
        };
        for part in parts(0..rows.rows.len(), part) {
            let mut held = Held::default();
            for terms in parts(part, dot.terms) {
                let (window, rows) = (window.part(terms.clone()), &rows.rows[terms]);
                let shifts = Shifts { fraction_bits: self.fraction_bits, rule: *rule };
                let (mut added, incoming) = (Added::default(), &held);
                match narrow {
                    true => {
                        let (sums, added) = ([0i32; LANES], &mut added);
                        self.kernels.run(Add { window, rows, held: incoming, shifts, added, sums });
                    }
                    false => {
                        let (sums, added) = ([0i64; LANES], &mut added);
                        self.kernels.run(Add { window, rows, held: incoming, shifts, added, sums });
                    }
                }
                self.kernels.run(Count { added: &added, lost: &mut lost });
                held.join(self.kernels, rule, &added, count, &mut lost.special);
            }
            lost.codes = held.codes;
            if dot.promotion.is_some() {
                for lane in (0..count).filter(|&lane| !lost.special[lane]) {
                    totals[lane] = dot.promoted(totals[lane], held.codes[lane]);
                }
            }
        }
        if dot.promotion.is_some() {
            lost.codes = totals;
        }
        lost.sums()
    }

    /// Returns the exact sums, rounded once to float32; `None` if they are too wide.
    fn exact<A: Activations>(&self, window: A, rows: &[Row]) -> Option<[u32; LANES]> {
        let (unit, width) = self.exact.unwrap_or_else(|| self.unit(window, rows));
        match width {
            0..=62 => {
                let mut sums = [0; LANES];
                self.kernels.run(Exact { window, rows, base: unit + self.fraction_bits, sums: &mut sums });
                Some(sums.map(|sum| nearest(sum as f32, sum.into(), unit)))
            }
            63..=126 => Some(self.wide(window, rows, unit).map(|sum| nearest(sum as f32, sum, unit))),
            _ => None,
        }
    }

    /// Returns the exponent of the unit in which exact sums of these terms are integers, and their width.
    fn unit<A: Activations>(&self, window: A, rows: &[Row]) -> (i32, u32) {
        let (mut low, mut high) = (i32::MAX, i32::MIN);
        for (k, row) in rows.iter().enumerate() {
            for lane in 0..LANES {
                let exponent = window.exponent(k, lane) + i32::from(row.exponents[lane]);
                if window.significand(k, lane) * row.significands[lane] != 0 {
                    (low, high) = (low.min(exponent), high.max(exponent));
                }
            }
        }
        let (low, high) = if low > high { (0, 0) } else { (low, high) };
        (low - self.fraction_bits, (high - low) as u32 + self.product_bits + rows.len().max(1).ilog2() + 2)
    }

    fn wide<A: Activations>(&self, window: A, rows: &[Row], unit: i32) -> [i128; LANES] {
        let base = unit + self.fraction_bits;
        let mut sums = [0; LANES];
        for (k, row) in rows.iter().enumerate() {
            for lane in 0..LANES {
                let product = window.significand(k, lane) * row.significands[lane];
                let shift = window.exponent(k, lane) + i32::from(row.exponents[lane]) - base;
                // A zero has an exponent of its own.
                sums[lane] += i128::from(product) << shift.clamp(0, 127);
            }
        }
        sums
    }
}

/// Returns the code of the float32 nearest to `sum * 2^unit`. `real` is that nearest to `sum`.
fn nearest(real: f32, sum: i128, unit: i32) -> u32 {
    // The power of two rounds nothing if the product is a normal number of float32.
    let power = f64::from_bits(((unit + 1023).clamp(0, 2046) as u64) << 52);
    let scaled = f64::from(real) * power;
    let normal = f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX);
    match scaled.abs() {
        magnitude if normal.contains(&magnitude) => (scaled as f32).to_bits(),
        _ if sum == 0 => 0,
        _ => rounded(Decoded::Finite(number(sum, unit))),
    }
}

/// Returns a number that rounds to float32 as `sum * 2^unit` does.
fn number(sum: i128, unit: i32) -> Dyadic {
    let magnitude = sum.unsigned_abs();
    let drop = (128 - magnitude.leading_zeros()).saturating_sub(62);
    let rest = magnitude & ((1 << drop) - 1) != 0;
    let significand = (magnitude >> drop) as u64 | u64::from(rest);
    Dyadic { negative: sum < 0, significand, exponent: unit + drop as i32 }
}

/// What the lanes lost so far, and the codes of their sums.
#[derive(Default)]
struct Lost {
    codes: [u32; LANES],
    cut: [u32; LANES],
    vanished: [u32; LANES],
    exact: [u32; LANES],
    /// Lanes in which a sum is not finite.
    special: [bool; LANES],
}

impl Lost {
    fn sums(&self) -> [Option<AlignedSum>; LANES] {
        std::array::from_fn(|lane| {
            (!self.special[lane]).then_some(AlignedSum {
                code: self.codes[lane],
                cut_terms: self.cut[lane],
                vanished_terms: self.vanished[lane],
                exact_fraction_bits: self.exact[lane],
            })
        })
    }
}

/// Adds what an addition lost.
struct Count<'a> {
    added: &'a Added,
    lost: &'a mut Lost,
}

impl Vectorized for Count<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { added, lost } = self;
        for l in 0..LANES {
            lost.cut[l] += added.cut[l] as u32;
            lost.vanished[l] += added.vanished[l] as u32;
            lost.exact[l] = lost.exact[l].max((added.exponents[l] - added.lasts[l]).max(0) as u32);
        }
    }
}

/// How terms are cut.
#[derive(Clone, Copy)]
struct Shifts {
    /// Fraction bits of products.
    fraction_bits: i32,
    rule: AlignedRule,
}

impl Shifts {
    /// Returns by how much terms with `fraction_bits` are shifted, left and then right, beside the distance of their
    /// exponents, and whether they are cut toward minus infinity.
    #[inline(always)]
    fn of(self, fraction_bits: i32) -> (u32, i32, bool) {
        let bits = self.rule.fraction_bits as i32;
        (
            (bits - fraction_bits).max(0) as u32,
            (fraction_bits - bits).max(0),
            self.rule.cut == Rounding::Floor,
        )
    }
}

/// Integer in which terms are shifted and added. A shift by its width or more gives 0.
trait Word: Copy + Into<i64> {
    fn magnitude(of: i32) -> Self;
    fn left(self, by: u32) -> Self;
    fn right(self, by: u32) -> Self;
    fn plus(self, other: Self) -> Self;
    /// Returns its negative if `negative`.
    fn signed(self, negative: bool) -> Self;
    fn is(self, other: Self) -> bool;
    fn from_bit(bit: bool) -> Self;
}

macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            #[inline(always)]
            fn magnitude(of: i32) -> Self {
                of.abs() as Self
            }

            #[inline(always)]
            fn left(self, by: u32) -> Self {
                if by < Self::BITS { self << by } else { 0 }
            }

            #[inline(always)]
            fn right(self, by: u32) -> Self {
                if by < Self::BITS { self >> by } else { 0 }
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn signed(self, negative: bool) -> Self {
                let mask = -Self::from(negative);
                (self ^ mask).wrapping_sub(mask)
            }

            #[inline(always)]
            fn is(self, other: Self) -> bool {
                self == other
            }

            #[inline(always)]
            fn from_bit(bit: bool) -> Self {
                Self::from(bit)
            }
        }
    };
}

word!(i32);
word!(i64);

/// Adds products and the accumulator in every lane.
struct Add<'a, A, W> {
    window: A,
    rows: &'a [Row],
    held: &'a Held,
    shifts: Shifts,
    added: &'a mut Added,
    sums: [W; LANES],
}

impl<A: Activations, W: Word> Vectorized for Add<'_, A, W> {
    #[inline(always)]
    fn run(self) {
        let Self { window, rows, held, shifts, added, sums } = self;
        let mut exponents = held.exponents;
        for (k, row) in rows.iter().enumerate() {
            for l in 0..LANES {
                exponents[l] = exponents[l].max(window.exponent(k, l) + i32::from(row.exponents[l]));
            }
        }
        let mut state = Terms { exponents, sums, cut: [0; LANES], vanished: [0; LANES], lasts: held.lasts };
        let products = shifts.of(shifts.fraction_bits);
        for (k, row) in rows.iter().enumerate() {
            let (mut significands, mut of) = ([0; LANES], [0; LANES]);
            for l in 0..LANES {
                significands[l] = window.significand(k, l) * row.significands[l];
                of[l] = window.exponent(k, l) + i32::from(row.exponents[l]);
                state.lasts[l] = state.lasts[l].min(window.last(k, l) + i32::from(row.lasts[l]));
            }
            state.add(&significands, &of, products);
        }
        let own = shifts.of(shifts.rule.result.fraction_bits() as i32);
        state.add(&held.significands, &held.exponents, own);
        for l in 0..LANES {
            added.totals[l] = state.sums[l].into();
        }
        added.exponents = state.exponents;
        (added.cut, added.vanished, added.lasts) = (state.cut, state.vanished, state.lasts);
    }
}

/// An addition on the way.
struct Terms<W> {
    /// The largest exponent.
    exponents: [i32; LANES],
    sums: [W; LANES],
    cut: [i32; LANES],
    vanished: [i32; LANES],
    lasts: [i32; LANES],
}

impl<W: Word> Terms<W> {
    /// Adds a term of every lane.
    #[inline(always)]
    fn add(
        &mut self,
        significands: &[i32; LANES],
        exponents: &[i32; LANES],
        (left, right, floors): (u32, i32, bool),
    ) {
        for l in 0..LANES {
            let magnitude = W::magnitude(significands[l]).left(left);
            let by = (self.exponents[l] - exponents[l] + right) as u32;
            let kept = magnitude.right(by);
            let (zero, loses) = (W::from_bit(false), !kept.left(by).is(magnitude));
            let negative = significands[l] < 0;
            self.cut[l] += i32::from(loses);
            self.vanished[l] += i32::from(loses & kept.is(zero));
            let kept = kept.plus(W::from_bit(loses & negative & floors));
            self.sums[l] = self.sums[l].plus(kept.signed(negative));
        }
    }
}

/// Adds products in units of the least product's last bit.
struct Exact<'a, A> {
    window: A,
    rows: &'a [Row],
    /// Exponent of products in this unit.
    base: i32,
    sums: &'a mut [i64; LANES],
}

impl<A: Activations> Vectorized for Exact<'_, A> {
    #[inline(always)]
    fn run(self) {
        let Self { window, rows, base, sums } = self;
        let mut all = [0i64; LANES];
        for (k, row) in rows.iter().enumerate() {
            for l in 0..LANES {
                let product = i64::from(window.significand(k, l) * row.significands[l]);
                let shift = window.exponent(k, l) + i32::from(row.exponents[l]) - base;
                // A zero has an exponent of its own.
                all[l] += product << (shift.max(0) & 63);
            }
        }
        *sums = all;
    }
}
