//! Aligned additions of products of codes of at most 8 bits, in lanes of 32 bits.
//!
//! Weights of a block are integers in units of their least exponent. Their product with the significand of an activation
//! is exact in 32 bits, and one shift aligns it. Whether a product loses bits, or all of them, follows from sums of bytes
//! or short integers of both codes. Activations of zero are left out: their exponents lie below those of all other terms.

#![allow(clippy::needless_range_loop, reason = "lanes are walked by index, in several arrays at once")]

use guardbit_hwmodels::FloatMacLayer;
use guardbit_num::{AlignedDot, AlignedRule, AlignedSum, FloatDot, FloatFormat, Incoming, Rounding};

use super::factor::Factor;
use super::gather::Gather;
use super::held::{Held, Narrow, promote};
use super::outcomes::Outcomes;
use crate::fast::{Aligned, Kernels, LANES, Vectorized};

/// Most products of an addition, so that counts of them fit a byte.
const MAX_TERMS: usize = 120;
/// Most fraction bits of codes.
const FRACTION_BITS: u32 = 3;
/// Greatest magnitude of the exponents of codes and of their last bits.
const MAX_EXPONENT: i32 = 31;
/// Buckets of exact sums: one per exponent of an activation, from the least of its format on.
const BUCKETS: usize = 32;
/// Greatest number of pixels that are walked together, so that weights stay in the cache.
pub(super) const TILE: usize = 8;
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

/// Activations of all images that are not zero. Their cells are places.
#[derive(Debug)]
pub(super) struct Nonzero {
    /// Positive ones, and negative ones.
    signs: [Vec<Term>; 2],
    /// How many lie before each place: positive, negative, and not finite ones.
    before: Vec<[u32; 3]>,
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

/// Weights of one term, in the lanes of a block of channels.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub(super) struct ShortRow {
    /// In units of the least exponent of the block.
    values: [i32; LANES],
    pub marks: Marks,
    leading: [i16; LANES],
    pub significands: [i8; LANES],
}

/// Weights of a block of channels, in the order of addition.
#[derive(Debug, Default)]
pub(super) struct ShortRows {
    rows: Vec<ShortRow>,
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
    marks: Vec<Aligned<Marks>>,
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

    /// Returns the activations of all images that are not zero.
    pub fn nonzero(&self, codes: &[i32]) -> Nonzero {
        let mut signs = [(); 2].map(|()| vec![Term::default(); codes.len() + 1]);
        let (mut before, mut counts) = (Vec::with_capacity(codes.len() + 1), [0u32; 3]);
        // Every activation is written, and overwritten if it is zero, which no branch can foresee.
        for (&code, cell) in codes.iter().zip(0..) {
            before.push(counts);
            let kind = self.kinds[code as usize];
            for (sign, own) in signs.iter_mut().enumerate() {
                own[counts[sign] as usize] = Term { cell, code: code as u32 };
            }
            for (bit, count) in counts.iter_mut().enumerate() {
                *count += u32::from(kind >> bit & 1);
            }
        }
        before.push(counts);
        Nonzero { signs, before }
    }

    /// Returns the number of products of an addition.
    pub fn terms(&self) -> usize {
        self.terms
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
            let (values, significands) = ([0; LANES], [0; LANES]);
            let (marks, leading) = ([i8::MIN; 4 * LANES], [ABOVE; LANES]);
            let mut row = ShortRow { values, marks, leading, significands };
            for lane in 0..count {
                let short = &weights[code(k, lane) as usize];
                let [exponent, last] = short.bytes();
                if !short.is_zero() {
                    row.values[lane] = short.significand << (short.exponent - low);
                    row.significands[lane] = short.significand as i8;
                    row.marks[if short.significand < 0 { lane } else { 2 * LANES + lane }] = last;
                }
                (row.marks[LANES + lane], row.marks[3 * LANES + lane], row.leading[lane]) =
                    (last, exponent, short.leading);
                rows.special[lane] |= !short.finite;
            }
            rows.rows.push(row);
        }
        Some(rows)
    }

    /// Returns the sums of pixels with the weights of a block; `None` if 32 bits are too few. `fraction_bits` are those of
    /// the layer unless given.
    pub fn run(
        &self,
        windows: &[ShortWindow],
        rows: &ShortRows,
        fraction_bits: Option<u32>,
    ) -> Option<[ShortSums; TILE]> {
        let fraction_bits = fraction_bits.unwrap_or(self.dot.rule.fraction_bits);
        let rule = AlignedRule { fraction_bits, ..self.dot.rule };
        let left = fraction_bits.saturating_sub(self.fraction_bits);
        let product_bits = rows.product_bits();
        // Terms are below 4 in units of the largest exponent.
        let sum_bits = fraction_bits.max(self.fraction_bits) + 2 + (self.terms + 1).ilog2() + 1;
        // The products of an addition fit a bucket.
        let bucket_bits = product_bits + self.terms.ilog2() + 1;
        if product_bits + left > 31 || sum_bits > 30 || bucket_bits > 31 || !self.is_exact(windows, rows) {
            return None;
        }
        let mut sums = [(); TILE].map(|()| ShortSums { unit: self.unit(rows), ..ShortSums::default() });
        self.kernels.run(Walk { lanes: self, windows, rows, rule, sums: &mut sums });
        Some(sums)
    }

    /// Returns what happened in the dot products of sums, without what they require.
    pub fn outcomes(&self, sums: &ShortSums, rows: &ShortRows, count: usize) -> Outcomes {
        let ran = std::array::from_fn(|lane| lane < count && !rows.special[lane]);
        let mut outcomes = Outcomes { ran, ..Outcomes::default() };
        // Results are normal numbers or zero.
        let missing = FloatFormat::FLOAT32.fraction_bits() - self.result().fraction_bits();
        self.kernels.run(Deliver { sums, missing, outcomes: &mut outcomes });
        outcomes
    }

    /// Returns the exact sums only, if they fit.
    pub fn exact(&self, windows: &[ShortWindow], rows: &ShortRows) -> Option<[ShortSums; TILE]> {
        if !self.is_exact(windows, rows) {
            return None;
        }
        let mut sums = [(); TILE].map(|()| ShortSums { unit: self.unit(rows), ..ShortSums::default() });
        self.kernels.run(Exact { lanes: self, windows, rows, sums: &mut sums });
        Some(sums)
    }

    /// Returns whether activations are finite, products fit 32 bits, and exact sums 64.
    fn is_exact(&self, windows: &[ShortWindow], rows: &ShortRows) -> bool {
        let bits = rows.product_bits() + self.exponents.1 + (self.products + 1).ilog2() + 1;
        windows.iter().all(|window| window.is_finite) && rows.product_bits() <= 31 && bits <= 63
    }

    /// Returns the exponent of the unit of exact sums.
    fn unit(&self, rows: &ShortRows) -> i32 {
        rows.low + self.exponents.0 - self.fraction_bits as i32
    }
}

impl ShortWindow {
    /// Takes the activations of a pixel. `places` are those of the first channels of the pixels that its window covers.
    pub fn take(&mut self, nonzero: &Nonzero, gather: &Gather, places: &[Option<usize>]) {
        let Self { terms, ends, is_finite } = self;
        terms.clear();
        ends.clear();
        *is_finite = true;
        for runs in gather.additions() {
            let mut end = [0; 2];
            for (sign, end) in end.iter_mut().enumerate() {
                for run in runs {
                    let Some(first) = places[run.pixel] else { continue };
                    let first = first + run.channel;
                    let [from, to] = [first, first + run.count].map(|place| nonzero.before[place]);
                    let own = &nonzero.signs[sign][from[sign] as usize..to[sign] as usize];
                    let apart = (run.cell as u32).wrapping_sub(first as u32);
                    terms
                        .extend(own.iter().map(|term| Term { cell: term.cell.wrapping_add(apart), ..*term }));
                    *is_finite &= from[2] == to[2];
                }
                *end = terms.len();
            }
            ends.push(end);
        }
    }

    /// Returns the additions.
    #[inline(always)]
    pub fn additions(&self, lanes: &ShortLanes) -> impl Iterator<Item = Addition<'_>> {
        (0..self.ends.len()).map(|index| self.addition(lanes, index))
    }

    /// Returns an addition.
    #[inline(always)]
    fn addition(&self, lanes: &ShortLanes, index: usize) -> Addition<'_> {
        let [middle, end] = self.ends[index];
        let first = if index > 0 { self.ends[index - 1][1] } else { 0 };
        let every = lanes.dot.promotion.unwrap_or(0);
        let next = index + 1;
        let promotes = every > 0 && (next == self.ends.len() || next.is_multiple_of(every));
        Addition { terms: &self.terms[first..end], positive: middle - first, promotes }
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

    /// Returns the weights of a term.
    #[inline(always)]
    pub fn row(&self, term: &Term) -> &ShortRow {
        &self.rows[term.cell as usize]
    }
}

impl ShortSums {
    /// Returns the fraction bits with which no term would have lost any.
    pub fn exact_bits(&self) -> &[i32; LANES] {
        &self.exact_bits
    }

    /// Returns the codes of what the lanes deliver, in the format of the result.
    fn codes(&self) -> &[u32; LANES] {
        self.totals.as_ref().unwrap_or(&self.held.codes)
    }

    /// Returns what the lanes deliver and lost.
    pub fn lost(&self) -> [AlignedSum; LANES] {
        let codes = self.codes();
        std::array::from_fn(|lane| AlignedSum {
            code: codes[lane],
            cut_terms: self.cut[lane] as u32,
            vanished_terms: self.vanished[lane] as u32,
            exact_fraction_bits: self.exact_bits[lane] as u32,
        })
    }
}

/// Makes outcomes of sums.
struct Deliver<'a> {
    sums: &'a ShortSums,
    /// Bits that the fraction of a code lacks to that of a float32.
    missing: u32,
    outcomes: &'a mut Outcomes,
}

impl Vectorized for Deliver<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { sums, missing, outcomes } = self;
        let (codes, power) = (sums.codes(), power(sums.unit));
        for l in 0..LANES {
            outcomes.delivered[l] = codes[l] << missing;
            // The sum is a normal number, so that the power of two rounds nothing.
            outcomes.exact[l] = (sums.exact[l] as f32 * power).to_bits();
            outcomes.cut[l] = sums.cut[l] as u32;
            outcomes.vanished[l] = sums.vanished[l] as u32;
            outcomes.exact_bits[l] = sums.exact_bits[l] as u32;
        }
    }
}

fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// Runs all additions of the lanes, of all pixels at a time.
struct Walk<'a> {
    lanes: &'a ShortLanes,
    windows: &'a [ShortWindow],
    rows: &'a ShortRows,
    rule: AlignedRule,
    sums: &'a mut [ShortSums; TILE],
}

impl Vectorized for Walk<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { lanes, windows, rows, rule, sums } = self;
        let narrow = Narrow::new(&rule);
        let mut adding = [(); TILE].map(|()| Adding::new(rows));
        for index in 0..windows.first().map_or(0, |window| window.ends.len()) {
            for ((window, sums), adding) in windows.iter().zip(&mut *sums).zip(&mut adding) {
                let Addition { terms, positive, promotes } = window.addition(lanes, index);
                adding.buckets.reserve(terms.len(), &mut sums.exact);
                let most = most(lanes, rows, terms);
                let (held, mut exponents) = (&mut sums.held, [0; LANES]);
                for l in 0..LANES {
                    exponents[l] = held.exponents[l].max(most[3 * LANES + l].into());
                    let bits = exponents[l] + i32::from(most[LANES + l]);
                    let bits = bits.max(exponents[l] - held.lasts[l]);
                    sums.exact_bits[l] = sums.exact_bits[l].max(bits);
                }
                adding.begin(lanes, rows, &rule, &exponents);
                adding.add::<false>(lanes, rows, &terms[..positive]);
                adding.add::<true>(lanes, rows, &terms[positive..]);
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
        }
        for (adding, sums) in adding.iter_mut().zip(sums) {
            adding.buckets.empty(&mut sums.exact);
        }
    }
}

/// Adds products exactly, without aligning them.
struct Exact<'a> {
    lanes: &'a ShortLanes,
    windows: &'a [ShortWindow],
    rows: &'a ShortRows,
    sums: &'a mut [ShortSums; TILE],
}

impl Vectorized for Exact<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { lanes, windows, rows, sums } = self;
        let mut buckets = [(); TILE].map(|()| Buckets::new(rows));
        for index in 0..windows.first().map_or(0, |window| window.ends.len()) {
            for ((window, sums), buckets) in windows.iter().zip(&mut *sums).zip(&mut buckets) {
                for terms in window.addition(lanes, index).terms.chunks(buckets.capacity) {
                    buckets.reserve(terms.len(), &mut sums.exact);
                    for term in terms {
                        let short = &lanes.codes[0][term.code as usize];
                        buckets.add(lanes, short, &products(&rows.row(term).values, short));
                    }
                }
            }
        }
        for (buckets, sums) in buckets.iter_mut().zip(sums) {
            buckets.empty(&mut sums.exact);
        }
    }
}

/// Returns the products of weights with an activation. The compiler does not see that they and sums lie apart, so that sums
/// are better added afterwards.
#[inline(always)]
fn products(values: &[i32; LANES], activation: &Short) -> [i32; LANES] {
    let mut products = *values;
    for l in 0..LANES {
        products[l] *= activation.significand;
    }
    products
}

/// Returns the largest marks of products.
#[inline(always)]
pub(super) fn most(lanes: &ShortLanes, rows: &ShortRows, terms: &[Term]) -> Marks {
    let mut most = [i8::MIN; 4 * LANES];
    for term in terms {
        let (own, other) = (&rows.row(term).marks, &lanes.marks[term.code as usize]);
        for l in 0..4 * LANES {
            most[l] = most[l].max(own[l].saturating_add(other[l]));
        }
    }
    most
}

/// Exact sums by the exponent of the activation, in units of the weights and of that exponent.
struct Buckets {
    sums: [Aligned<[i32; LANES]>; BUCKETS],
    /// One bit per bucket that is not empty.
    used: u32,
    /// Products whose sum fits a bucket.
    capacity: usize,
    /// Products since all were empty.
    filled: usize,
}

impl Buckets {
    fn new(rows: &ShortRows) -> Self {
        Self { sums: [Aligned([0; LANES]); BUCKETS], used: 0, capacity: rows.capacity(), filled: 0 }
    }

    /// Makes room for products.
    #[inline(always)]
    fn reserve(&mut self, products: usize, exact: &mut [i64; LANES]) {
        if self.filled + products > self.capacity {
            self.empty(exact);
            self.filled = 0;
        }
        self.filled += products;
    }

    /// Adds products with an activation.
    #[inline(always)]
    fn add(&mut self, lanes: &ShortLanes, activation: &Short, products: &[i32; LANES]) {
        let at = (activation.exponent - lanes.exponents.0) as usize;
        self.used |= 1 << at;
        let bucket = &mut self.sums[at];
        for l in 0..LANES {
            bucket[l] += products[l];
        }
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
            **bucket = [0; LANES];
        }
    }
}

/// An addition on the way, and exact sums. The compiler keeps sums in memory, which buckets could be for all it knows. In
/// registers it would split vectors.
struct Adding {
    buckets: Buckets,
    /// By how much products are shifted to the left.
    left: u32,
    /// By how much they are then shifted to the right, plus the exponent of the activation.
    right: Aligned<[i32; LANES]>,
    /// Products whose last bit is below this exponent lose bits. As in marks, the negative exponent.
    cut_below: [i8; 2 * LANES],
    /// Products whose leading exponent in steps is below lose all bits.
    vanish_below: [i16; LANES],
    /// Whether terms are cut toward zero.
    toward_zero: bool,
    totals: Aligned<[i32; LANES]>,
    /// Of products, as in the marks of one sign of activations.
    counts: [i8; 2 * LANES],
    gone: [i16; LANES],
    /// Of all terms.
    cut: [i32; LANES],
    vanished: [i32; LANES],
}

impl Adding {
    fn new(rows: &ShortRows) -> Self {
        Self {
            buckets: Buckets::new(rows),
            left: 0,
            right: Aligned([0; LANES]),
            cut_below: [0; 2 * LANES],
            vanish_below: [0; LANES],
            toward_zero: false,
            totals: Aligned([0; LANES]),
            counts: [0; 2 * LANES],
            gone: [0; LANES],
            cut: [0; LANES],
            vanished: [0; LANES],
        }
    }

    /// Begins an addition.
    #[inline(always)]
    fn begin(&mut self, lanes: &ShortLanes, rows: &ShortRows, rule: &AlignedRule, exponents: &[i32; LANES]) {
        let (bits, own) = (rule.fraction_bits as i32, lanes.fraction_bits as i32);
        self.left = (bits - own).max(0) as u32;
        self.toward_zero = rule.cut == Rounding::TowardZero;
        for l in 0..LANES {
            let last = exponents[l] - bits;
            self.right[l] = exponents[l] - rows.low + (own - bits).max(0);
            self.cut_below[l] = (-last).clamp(i8::MIN.into(), i8::MAX.into()) as i8;
            self.cut_below[LANES + l] = self.cut_below[l];
            self.vanish_below[l] = last as i16 * STEPS;
        }
        *self.totals = [0; LANES];
        (self.cut, self.vanished) = ([0; LANES], [0; LANES]);
    }

    /// Adds the products of activations that are all negative, or all positive.
    #[inline(always)]
    fn add<const NEGATIVE: bool>(&mut self, lanes: &ShortLanes, rows: &ShortRows, terms: &[Term]) {
        (self.counts, self.gone) = ([0; 2 * LANES], [0; LANES]);
        for term in terms {
            let code = term.code as usize;
            let (short, other) = (&lanes.codes[0][code], &lanes.marks[code]);
            let ShortRow { values, marks, leading, .. } = rows.row(term);
            let from = if NEGATIVE { LANES } else { 0 };
            let marks = &marks[from..from + 2 * LANES];
            let (mut cut, mut gone, mut aligned) = ([0; 2 * LANES], [0; LANES], [0; LANES]);
            for l in 0..2 * LANES {
                cut[l] = i8::from(marks[l].saturating_add(other[l]) > self.cut_below[l]);
            }
            for l in 0..2 * LANES {
                self.counts[l] += cut[l];
            }
            for l in 0..LANES {
                gone[l] = i16::from(leading[l] + short.leading < self.vanish_below[l]);
            }
            for l in 0..LANES {
                self.gone[l] += gone[l];
            }
            let products = products(values, short);
            self.buckets.add(lanes, short, &products);
            for l in 0..LANES {
                // Only a product of zero can lie above all others.
                let right = ((self.right[l] - short.exponent) as u32).min(31);
                aligned[l] = (products[l] << self.left) >> right;
            }
            for l in 0..LANES {
                self.totals[l] += aligned[l];
            }
        }
        // Of all products, and of those that are negative, which the shift has cut toward minus infinity.
        let (all, below) = if NEGATIVE { (0, LANES) } else { (LANES, 0) };
        let Self { mut totals, counts, gone, mut cut, mut vanished, .. } = *self;
        let up = i32::from(self.toward_zero);
        for l in 0..LANES {
            totals[l] += i32::from(counts[below + l]) * up;
        }
        for l in 0..LANES {
            cut[l] += i32::from(counts[all + l]);
        }
        for l in 0..LANES {
            vanished[l] += i32::from(gone[l]);
        }
        (self.totals, self.cut, self.vanished) = (totals, cut, vanished);
    }

    /// Adds the accumulator.
    #[inline(always)]
    fn hold(&mut self, held: &Held, rule: &AlignedRule, exponents: &[i32; LANES]) {
        let (bits, own) = (rule.fraction_bits as i32, rule.result.fraction_bits() as i32);
        let (left, more) = ((bits - own).max(0) as u32, (own - bits).max(0));
        let Self { mut totals, mut cut, mut vanished, .. } = *self;
        let down = i32::from(!self.toward_zero);
        for l in 0..LANES {
            let last = exponents[l] - bits;
            let right = ((exponents[l] - held.exponents[l] + more) as u32).min(31);
            let loses = i32::from(held.lasts[l] < last);
            // All ones if negative.
            let sign = held.significands[l] >> 31;
            let kept =
                ((held.significands[l].unsigned_abs() << left) >> right) as i32 + (loses & -sign & down);
            totals[l] += (kept ^ sign) - sign;
            cut[l] += loses;
            vanished[l] += loses & i32::from(held.exponents[l] < last);
        }
        (self.totals, self.cut, self.vanished) = (totals, cut, vanished);
    }
}
