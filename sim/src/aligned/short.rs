//! Aligned additions of products of codes of at most 8 bits, in lanes of 32 bits.
//!
//! Weights of a block are integers in units of their least exponent. Their product with the significand of an activation
//! is exact in 32 bits, and one shift aligns it. Whether a product loses bits, or all of them, follows from sums of bytes
//! or short integers of both codes. Products of zero are left out: their exponents lie below those of all other terms.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::{AlignedDot, AlignedRule, AlignedSum, FloatDot, FloatFormat, Incoming, Rounding};

use super::factor::Factor;
use super::held::{Held, Narrow, promote};
use crate::fast::{Kernels, LANES, Vectorized};

/// Most products of an addition, so that counts of them fit a byte.
const MAX_TERMS: usize = 120;
/// Most fraction bits of codes.
const FRACTION_BITS: u32 = 3;
/// Greatest magnitude of the exponents of codes and of their last bits.
const MAX_EXPONENT: i32 = 31;
/// Buckets of exact sums: one per exponent of an activation, from the least of its format on.
const BUCKETS: usize = 32;
/// Steps of a leading place per power of two.
const STEPS: i16 = 7;
/// Kinds of activations.
const POSITIVE: u8 = 1;
const NEGATIVE: u8 = 2;
const NOT_FINITE: u8 = 4;
/// Leading place of a zero, above those of all products.
const ABOVE: i16 = 1 << 13;

/// Bytes of weights, whose sums with those of an activation are bytes of the products. In each lane, the first three are the
/// negated exponent of the last bit: of negative weights, of all, and of positive ones. The fourth is the exponent by which
/// the product is aligned. Other weights, and zeros, have -128, so that their sums lie below those of all others.
pub(super) type Marks = [i8; 4 * LANES];

/// A code as a factor.
#[derive(Debug, Clone, Copy)]
struct Short {
    significand: i32,
    exponent: i32,
    /// Exponent of the last bit that is set.
    last: i32,
    /// The leading exponent in steps, plus a fraction. See [`leading`].
    leading: i16,
    finite: bool,
}

/// Returns the leading exponent of a nonzero number of at most 4 bits times [`STEPS`], plus a fraction. The leading exponent
/// of a product of two numbers is the sum of both, divided by the steps and rounded down.
fn leading(significand: u32, unit: i32) -> i16 {
    /// Fractions of 8 to 15, chosen so that the fractions of two numbers add up to [`STEPS`] or more if and only if their
    /// product is at least 128.
    const FRACTIONS: [i16; 8] = [0, 1, 2, 3, 4, 5, 5, 6];
    let bits = significand.ilog2();
    let normal = significand << FRACTION_BITS >> bits;
    (unit + bits as i32) as i16 * STEPS + FRACTIONS[normal as usize & 7]
}

impl Short {
    fn new(format: FloatFormat, code: u32) -> Self {
        let Factor { significand, exponent, last, finite } = Factor::new(format, code);
        let magnitude = significand.unsigned_abs();
        let unit = exponent - format.fraction_bits() as i32;
        let leading = if magnitude == 0 { ABOVE } else { leading(magnitude, unit) };
        Self { significand, exponent, last, leading, finite }
    }

    fn is_zero(&self) -> bool {
        self.significand == 0
    }

    /// Returns the marks of the exponent and of the last bit, -128 for a zero.
    fn bytes(&self) -> [i8; 2] {
        if self.is_zero() { [i8::MIN; 2] } else { [self.exponent as i8, -self.last as i8] }
    }
}

/// An activation that is not zero.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Term {
    cell: u32,
    code: u32,
}

/// Activations of one pixel that are not zero, by addition.
#[derive(Debug, Default)]
pub(super) struct ShortWindow {
    terms: Vec<Term>,
    /// Per addition, where its negative activations begin, and where they end.
    ends: Vec<[usize; 2]>,
    is_finite: bool,
}

/// Products of one addition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addition<'a> {
    pub terms: &'a [Term],
    /// Number of positive activations, which come first.
    pub positive: usize,
    /// Whether the accumulator is promoted afterwards.
    pub promotes: bool,
}

/// Weights of a block of channels, in the order of addition.
#[derive(Debug, Default)]
pub(super) struct ShortRows {
    /// In units of the least exponent of the block.
    values: Vec<[i32; LANES]>,
    marks: Vec<Marks>,
    leading: Vec<[i16; LANES]>,
    significands: Vec<[i8; LANES]>,
    /// Whether a lane has a weight that is not finite.
    special: [bool; LANES],
    /// The least exponent.
    low: i32,
    /// Bits of the largest magnitude.
    bits: u32,
}

/// A layer whose dot products run in lanes of 32 bits.
#[derive(Debug)]
pub(super) struct ShortLanes {
    dot: AlignedDot,
    kernels: Kernels,
    /// Factors by code: of activations, and of weights.
    codes: [Vec<Short>; 2],
    /// Marks of activations by code.
    marks: Vec<Marks>,
    /// Kinds of activations by code.
    kinds: Vec<u8>,
    /// Fraction bits of a product.
    fraction_bits: u32,
    /// Products of an addition.
    terms: usize,
    /// Products of a dot product.
    products: usize,
    /// The least exponent of an activation, and how many exponents activations have.
    exponents: (i32, u32),
}

/// Sums of all lanes, delivered and exact, and what was lost.
#[derive(Debug, Default)]
pub(super) struct ShortSums {
    held: Held,
    cut: [i32; LANES],
    vanished: [i32; LANES],
    exact_bits: [i32; LANES],
    /// Exact sums in units of [`ShortSums::unit`].
    exact: [i64; LANES],
    /// Exponent of the unit of exact sums.
    unit: i32,
    /// Codes of sums of promoted accumulators, if they are promoted.
    totals: Option<[u32; LANES]>,
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
            std::array::from_fn(|at| if at / LANES == 3 { exponent } else { last })
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

    /// Takes the activations of a pixel, in the order of addition. Padding is `None`.
    pub fn take(&self, codes: impl Iterator<Item = Option<i32>>, window: &mut ShortWindow) {
        let ShortWindow { terms, ends, is_finite } = window;
        terms.clear();
        ends.clear();
        let mut codes = (0..).zip(codes);
        // Every activation is written, and overwritten if it is zero, which no branch can foresee.
        let (mut positive, mut negative) =
            ([Term::default(); MAX_TERMS + 1], [Term::default(); MAX_TERMS + 1]);
        let mut kinds = 0;
        for _ in 0..self.products.div_ceil(self.terms).max(1) {
            let (mut positives, mut negatives) = (0, 0);
            for (cell, code) in codes.by_ref().take(self.terms) {
                let Some(code) = code else { continue };
                let kind = self.kinds[code as usize];
                let term = Term { cell, code: code as u32 };
                (positive[positives], negative[negatives]) = (term, term);
                positives += usize::from(kind & POSITIVE);
                negatives += usize::from(kind & NEGATIVE) >> 1;
                kinds |= kind;
            }
            terms.extend_from_slice(&positive[..positives]);
            let middle = terms.len();
            terms.extend_from_slice(&negative[..negatives]);
            ends.push([middle, terms.len()]);
        }
        *is_finite = kinds & NOT_FINITE == 0;
    }

    /// Returns the weights of `count` lanes, in the order of addition; `None` if they are too far apart. `code` returns the
    /// code of a term in a lane.
    pub fn rows(
        &self,
        (count, terms): (usize, usize),
        code: impl Fn(usize, usize) -> i32,
    ) -> Option<ShortRows> {
        let weights = &self.codes[1];
        let mut used = vec![false; weights.len()];
        for k in 0..terms {
            (0..count).for_each(|lane| used[code(k, lane) as usize] = true);
        }
        let numbers = || weights.iter().zip(&used).filter(|(short, used)| **used && !short.is_zero());
        let low = numbers().map(|(short, _)| short.exponent).min().unwrap_or(0);
        let magnitude = |short: &Short| u64::from(short.significand.unsigned_abs()) << (short.exponent - low);
        let bits = numbers().map(|(short, _)| magnitude(short).ilog2() + 1).max().unwrap_or(0);
        if bits > 28 {
            return None;
        }
        let mut rows = ShortRows { low, bits, ..ShortRows::default() };
        for k in 0..terms {
            let (mut values, mut significands) = ([0; LANES], [0; LANES]);
            let (mut marks, mut leading) = ([i8::MIN; 4 * LANES], [ABOVE; LANES]);
            for lane in 0..count {
                let short = &weights[code(k, lane) as usize];
                let [exponent, last] = short.bytes();
                if !short.is_zero() {
                    values[lane] = short.significand << (short.exponent - low);
                    significands[lane] = short.significand as i8;
                    marks[if short.significand < 0 { lane } else { 2 * LANES + lane }] = last;
                }
                (marks[LANES + lane], marks[3 * LANES + lane], leading[lane]) =
                    (last, exponent, short.leading);
                rows.special[lane] |= !short.finite;
            }
            rows.values.push(values);
            rows.marks.push(marks);
            rows.leading.push(leading);
            rows.significands.push(significands);
        }
        Some(rows)
    }

    /// Returns the sums of a pixel with the weights of a block; `None` if 32 bits are too few. `fraction_bits` are those of
    /// the layer unless given.
    pub fn run(
        &self,
        window: &ShortWindow,
        rows: &ShortRows,
        fraction_bits: Option<u32>,
    ) -> Option<ShortSums> {
        let fraction_bits = fraction_bits.unwrap_or(self.dot.rule.fraction_bits);
        let rule = AlignedRule { fraction_bits, ..self.dot.rule };
        let left = fraction_bits.saturating_sub(self.fraction_bits);
        let product_bits = rows.product_bits();
        // Terms are below 4 in units of the largest exponent.
        let sum_bits = fraction_bits.max(self.fraction_bits) + 2 + (self.terms + 1).ilog2() + 1;
        // The products of an addition fit a bucket.
        let bucket_bits = product_bits + self.terms.ilog2() + 1;
        if product_bits + left > 31 || sum_bits > 30 || bucket_bits > 31 || !self.is_exact(window, rows) {
            return None;
        }
        let mut sums = ShortSums::default();
        self.kernels.run(Walk {
            lanes: self,
            window,
            rows,
            rule,
            capacity: rows.capacity(),
            sums: &mut sums,
        });
        Some(sums)
    }

    /// Returns the exact sums only, if they fit.
    pub fn exact(&self, window: &ShortWindow, rows: &ShortRows) -> Option<ShortSums> {
        if !self.is_exact(window, rows) {
            return None;
        }
        let mut sums = ShortSums { unit: self.unit(rows), ..ShortSums::default() };
        self.kernels.run(Exact { lanes: self, window, rows, exact: &mut sums.exact });
        Some(sums)
    }

    /// Returns whether activations are finite, products fit 32 bits, and exact sums 64.
    fn is_exact(&self, window: &ShortWindow, rows: &ShortRows) -> bool {
        let bits = rows.product_bits() + self.exponents.1 + (self.products + 1).ilog2() + 1;
        window.is_finite && rows.product_bits() <= 31 && bits <= 63
    }

    /// Returns the exponent of the unit of exact sums.
    fn unit(&self, rows: &ShortRows) -> i32 {
        rows.low + self.exponents.0 - self.fraction_bits as i32
    }
}

impl ShortWindow {
    /// Returns the additions.
    #[inline(always)]
    pub fn additions(&self, lanes: &ShortLanes) -> impl Iterator<Item = Addition<'_>> {
        let (mut first, mut left) = (0, self.ends.len());
        let every = lanes.dot.promotion.unwrap_or(0);
        let mut next = every;
        self.ends.iter().map(move |&[middle, end]| {
            let (terms, positive) = (&self.terms[first..end], middle - first);
            (first, left, next) = (end, left - 1, next.saturating_sub(1));
            let promotes = every > 0 && (left == 0 || next == 0);
            if next == 0 {
                next = every;
            }
            Addition { terms, positive, promotes }
        })
    }
}

impl ShortRows {
    /// Returns the bits of a product, sign included.
    fn product_bits(&self) -> u32 {
        self.bits + FRACTION_BITS + 1
    }

    /// Returns the number of products whose sum fits a bucket.
    fn capacity(&self) -> usize {
        1 << (31 - self.product_bits())
    }

    /// Returns whether all weights of a lane are finite.
    pub fn is_finite(&self, lane: usize) -> bool {
        !self.special[lane]
    }

    /// Returns the significands of the weights of a term, and their marks.
    #[inline(always)]
    pub fn factors(&self, term: &Term) -> (&[i8; LANES], &Marks) {
        (&self.significands[term.cell as usize], &self.marks[term.cell as usize])
    }
}

impl ShortSums {
    /// Returns the fraction bits with which no term would have lost any.
    pub fn exact_bits(&self) -> &[i32; LANES] {
        &self.exact_bits
    }

    /// Returns the code of the exact sum of a lane, rounded once to float32.
    pub fn exact(&self, lane: usize) -> u32 {
        // The sum is a normal number, so that the power of two rounds nothing.
        (self.exact[lane] as f32 * power(self.unit)).to_bits()
    }

    /// Returns what the lanes deliver and lost.
    pub fn lost(&self) -> [AlignedSum; LANES] {
        let codes = self.totals.as_ref().unwrap_or(&self.held.codes);
        std::array::from_fn(|lane| AlignedSum {
            code: codes[lane],
            cut_terms: self.cut[lane] as u32,
            vanished_terms: self.vanished[lane] as u32,
            exact_fraction_bits: self.exact_bits[lane] as u32,
        })
    }
}

fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// Runs all additions of the lanes.
struct Walk<'a> {
    lanes: &'a ShortLanes,
    window: &'a ShortWindow,
    rows: &'a ShortRows,
    rule: AlignedRule,
    /// Products whose sum fits a bucket.
    capacity: usize,
    sums: &'a mut ShortSums,
}

impl Vectorized for Walk<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { lanes, window, rows, rule, capacity, sums } = self;
        let narrow = Narrow::new(&rule);
        let mut buckets = Buckets::new();
        let mut filled = 0;
        sums.unit = lanes.unit(rows);
        for Addition { terms, positive, promotes } in window.additions(lanes) {
            if filled + terms.len() > capacity {
                buckets.empty(&mut sums.exact);
                filled = 0;
            }
            filled += terms.len();
            let most = most(lanes, rows, terms);
            let (held, mut exponents) = (&mut sums.held, [0; LANES]);
            for l in 0..LANES {
                exponents[l] = held.exponents[l].max(most[3 * LANES + l].into());
                let bits = (exponents[l] - held.lasts[l]).max(exponents[l] + i32::from(most[LANES + l]));
                sums.exact_bits[l] = sums.exact_bits[l].max(bits);
            }
            let mut adding = Adding::new(lanes, rows, &rule, &exponents);
            adding.add::<false>(lanes, rows, &terms[..positive], &mut buckets);
            adding.add::<true>(lanes, rows, &terms[positive..], &mut buckets);
            adding.hold(held, &rule, &exponents);
            for l in 0..LANES {
                sums.cut[l] += adding.cut[l];
                sums.vanished[l] += adding.vanished[l];
            }
            narrow.join(&adding.totals, &exponents, held);
            if promotes {
                promote(&mut sums.totals, &rule, held);
            }
        }
        buckets.empty(&mut sums.exact);
    }
}

/// Adds products exactly, without aligning them.
struct Exact<'a> {
    lanes: &'a ShortLanes,
    window: &'a ShortWindow,
    rows: &'a ShortRows,
    exact: &'a mut [i64; LANES],
}

impl Vectorized for Exact<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { lanes, window, rows, exact } = self;
        let mut buckets = Buckets::new();
        for terms in window.terms.chunks(rows.capacity()) {
            for term in terms {
                let short = &lanes.codes[0][term.code as usize];
                let (values, bucket) = (&rows.values[term.cell as usize], buckets.of(lanes, short));
                for l in 0..LANES {
                    bucket[l] += values[l] * short.significand;
                }
            }
            buckets.empty(exact);
        }
    }
}

/// Returns the largest marks of products.
#[inline(always)]
pub(super) fn most(lanes: &ShortLanes, rows: &ShortRows, terms: &[Term]) -> Marks {
    let mut most = [i8::MIN; 4 * LANES];
    for term in terms {
        let (own, other) = (&rows.marks[term.cell as usize], &lanes.marks[term.code as usize]);
        for l in 0..4 * LANES {
            most[l] = most[l].max(own[l].saturating_add(other[l]));
        }
    }
    most
}

/// Exact sums by the exponent of the activation, in units of the weights and of that exponent.
struct Buckets {
    sums: [[i32; LANES]; BUCKETS],
    /// One bit per bucket that is not empty.
    used: u32,
}

impl Buckets {
    fn new() -> Self {
        Self { sums: [[0; LANES]; BUCKETS], used: 0 }
    }

    /// Returns the sums of products with an activation.
    #[inline(always)]
    fn of(&mut self, lanes: &ShortLanes, activation: &Short) -> &mut [i32; LANES] {
        let at = (activation.exponent - lanes.exponents.0) as usize;
        self.used |= 1 << at;
        &mut self.sums[at]
    }

    /// Adds all buckets to `exact`.
    #[inline(always)]
    fn empty(&mut self, exact: &mut [i64; LANES]) {
        while self.used != 0 {
            let at = self.used.trailing_zeros() as usize;
            self.used &= self.used - 1;
            let bucket = &mut self.sums[at];
            for l in 0..LANES {
                exact[l] += i64::from(bucket[l]) << at;
            }
            *bucket = [0; LANES];
        }
    }
}

/// An addition on the way.
struct Adding {
    /// By how much products are shifted to the left.
    left: u32,
    /// By how much they are then shifted to the right, plus the exponent of the activation.
    right: [i32; LANES],
    /// Products whose last bit is below this exponent lose bits. As in marks, the negative exponent.
    cut_below: [i8; 2 * LANES],
    /// Products whose leading exponent in steps is below lose all bits.
    vanish_below: [i16; LANES],
    /// Whether terms are cut toward zero.
    toward_zero: bool,
    totals: [i32; LANES],
    cut: [i32; LANES],
    vanished: [i32; LANES],
}

impl Adding {
    #[inline(always)]
    fn new(lanes: &ShortLanes, rows: &ShortRows, rule: &AlignedRule, exponents: &[i32; LANES]) -> Self {
        let (bits, own) = (rule.fraction_bits as i32, lanes.fraction_bits as i32);
        let mut adding = Self {
            left: (bits - own).max(0) as u32,
            right: [0; LANES],
            cut_below: [0; 2 * LANES],
            vanish_below: [0; LANES],
            toward_zero: rule.cut == Rounding::TowardZero,
            totals: [0; LANES],
            cut: [0; LANES],
            vanished: [0; LANES],
        };
        for l in 0..LANES {
            let last = exponents[l] - bits;
            adding.right[l] = exponents[l] - rows.low + (own - bits).max(0);
            adding.cut_below[l] = (-last).clamp(i8::MIN.into(), i8::MAX.into()) as i8;
            adding.cut_below[LANES + l] = adding.cut_below[l];
            adding.vanish_below[l] = last as i16 * STEPS;
        }
        adding
    }

    /// Adds the products of activations that are all negative, or all positive.
    #[inline(always)]
    fn add<const NEGATIVE: bool>(
        &mut self,
        lanes: &ShortLanes,
        rows: &ShortRows,
        terms: &[Term],
        buckets: &mut Buckets,
    ) {
        let (mut counts, mut vanished, mut totals) = ([0i8; 2 * LANES], [0i16; LANES], [0i32; LANES]);
        for term in terms {
            let (cell, code) = (term.cell as usize, term.code as usize);
            let (short, other) = (&lanes.codes[0][code], &lanes.marks[code]);
            let (values, leading) = (&rows.values[cell], &rows.leading[cell]);
            let from = if NEGATIVE { LANES } else { 0 };
            let marks = &rows.marks[cell][from..from + 2 * LANES];
            for l in 0..2 * LANES {
                counts[l] += i8::from(marks[l].saturating_add(other[l]) > self.cut_below[l]);
            }
            for l in 0..LANES {
                vanished[l] += i16::from(leading[l] + short.leading < self.vanish_below[l]);
            }
            let bucket = buckets.of(lanes, short);
            for l in 0..LANES {
                let product = values[l] * short.significand;
                bucket[l] += product;
                // Only a product of zero can lie above all others.
                let right = ((self.right[l] - short.exponent) as u32).min(31);
                totals[l] += (product << self.left) >> right;
            }
        }
        // Of all products, and of those that are negative, which the shift has cut toward minus infinity.
        let (all, below) = if NEGATIVE { (0, LANES) } else { (LANES, 0) };
        for l in 0..LANES {
            let up = if self.toward_zero { counts[below + l].into() } else { 0 };
            self.totals[l] += totals[l] + up;
            self.cut[l] += i32::from(counts[all + l]);
            self.vanished[l] += i32::from(vanished[l]);
        }
    }

    /// Adds the accumulator.
    #[inline(always)]
    fn hold(&mut self, held: &Held, rule: &AlignedRule, exponents: &[i32; LANES]) {
        let (bits, own) = (rule.fraction_bits as i32, rule.result.fraction_bits() as i32);
        let (left, more) = ((bits - own).max(0) as u32, (own - bits).max(0));
        for l in 0..LANES {
            let last = exponents[l] - bits;
            let right = ((exponents[l] - held.exponents[l] + more) as u32).min(31);
            let loses = held.lasts[l] < last;
            let negative = held.significands[l] < 0;
            let kept = ((held.significands[l].unsigned_abs() << left) >> right) as i32;
            let kept = kept + i32::from(loses & negative & !self.toward_zero);
            self.totals[l] += if negative { -kept } else { kept };
            self.cut[l] += i32::from(loses);
            self.vanished[l] += i32::from(loses & (held.exponents[l] < last));
        }
    }
}
