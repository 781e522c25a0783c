//! A unit that adds floating-point products: what it computes, beat by beat, and which units the reference RTL has.

use guardbit_graph::DType;
use guardbit_hwmodels::{FloatAccumulation, FloatMacLayer, FloatResult};
use guardbit_num::{AlignedDot, FloatDot, FloatFormat, Incoming, Rounding, Term};

use super::formats::{has_zero, least_bit, magnitude, top};
use super::manifest::{FloatArithmetic, FormatInfo, ScaleInfo};
use crate::VectorError;
use crate::sizes::MAX_FLOAT_LANES;

/// Formats of the operands, and how their products are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    pub activation: FloatFormat,
    pub weight: FloatFormat,
    /// How terms are scaled, if they are.
    pub scales: Option<Scales>,
    pub dot: AlignedDot,
}

/// Scales of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scales {
    /// Formats of the scales of activations and weights.
    pub formats: [FloatFormat; 2],
    /// Products that are added exactly to one term, at most; `None` if each product is a term.
    pub group: Option<usize>,
}

/// A term of a unit with scales of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    /// Products.
    pub count: usize,
    /// Codes of the scales of activations and weights.
    pub scales: [u32; 2],
}

/// Codes of the products of a term, or of those of an addition without scales, and the codes of the scales.
pub(crate) type Part<'p> = (&'p [[u32; 2]], Option<[u32; 2]>);

/// What the registers hold after an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    /// Code of the accumulator.
    pub acc: u32,
    /// The float32 sum: with promotion, that of the promotions so far.
    pub total: u32,
    /// Whether a term lost bits.
    pub cut: bool,
    /// Whether a nonzero term became zero.
    pub vanished: bool,
}

impl Unit {
    /// Returns the unit of a layer.
    ///
    /// # Errors
    /// [`VectorError::FloatUnsupported`] if the reference RTL has no such unit.
    pub fn of_layer(layer: &FloatMacLayer) -> Result<Self, VectorError> {
        let operands = [&layer.dots.activations, &layer.dots.weights];
        let own = operands.map(|operand| operand.blocks.as_ref().map(|blocks| blocks.format));
        // An operand without blocks has scales of 1.
        let accepted = |format: &FloatFormat| layer.accumulation.scale_format.includes(*format);
        let first = || FloatFormat::ALL.into_iter().find(accepted);
        let any = own[0].or(own[1]).or_else(|| first().filter(|_| layer.groups.is_some()));
        let scales = any.map(|any| own.map(|format| format.unwrap_or(any)));
        Self::new(&layer.name, operands.map(|operand| operand.dtype), scales, &layer.accumulation)
    }

    /// Returns the unit of a layer with operands of these types, and with scales of blocks of these formats.
    ///
    /// # Errors
    /// [`VectorError::FloatUnsupported`] if the reference RTL has no such unit.
    pub fn new(
        layer: &str,
        dtypes: [DType; 2],
        scales: Option<[FloatFormat; 2]>,
        accumulation: &FloatAccumulation,
    ) -> Result<Self, VectorError> {
        let refused = |what: String, help: &'static str| VectorError::FloatUnsupported {
            layer: layer.into(),
            what,
            help,
        };
        let [activation, weight] =
            dtypes.map(|dtype| dtype.float_format().filter(|format| format.is_signed()));
        let (Some(activation), Some(weight)) = (activation, weight) else {
            let [a, w] = dtypes;
            let help = "use signed floating-point codes, e.g. e4m3 or bfloat16";
            return Err(refused(format!("operands of {a} and {w}"), help));
        };
        let FloatDot::Aligned(dot) = accumulation.dot() else {
            let what = match accumulation.result {
                FloatResult::Fixed => "`float_accumulation.result: fixed`".into(),
                FloatResult::Float(_) => format!("`float_accumulation.reduce: {}`", accumulation.reduce),
            };
            let help = "the reference design adds aligned terms: use an accelerator with `reduce: aligned` and a \
                        floating-point `result`, e.g. --hw hopper-wgmma-e4m3";
            return Err(refused(what, help));
        };
        if !dot.rule.result.is_signed() {
            let what = format!("`float_accumulation.result: {}`", dot.rule.result);
            return Err(refused(what, "use a signed format, e.g. --set float_accumulation.result=float32"));
        }
        let scales = scales.map(|formats| Scales { formats, group: accumulation.group() });
        let unit = Self { activation, weight, scales, dot };
        if unit.lanes() > MAX_FLOAT_LANES {
            let what = format!("additions of {} products (at most {MAX_FLOAT_LANES})", unit.lanes());
            return Err(refused(
                what,
                "add fewer products at a time, e.g. --set float_accumulation.terms=32",
            ));
        }
        Ok(unit)
    }

    /// Returns products of one addition.
    pub fn lanes(&self) -> usize {
        self.terms() * self.group()
    }

    /// Returns terms of one addition.
    pub fn terms(&self) -> usize {
        self.dot.terms
    }

    /// Returns products of one term.
    pub fn group(&self) -> usize {
        self.exact_group().unwrap_or(1)
    }

    /// Returns the products that are added exactly to one term, if the unit adds groups.
    pub fn exact_group(&self) -> Option<usize> {
        self.scales?.group
    }

    /// Returns additions until the accumulator is promoted.
    pub fn promotion(&self) -> Option<usize> {
        self.dot.promotion
    }

    /// Returns the exact product of two codes.
    pub fn product(&self, [a, w]: [u32; 2]) -> Term {
        Term::of(self.activation, a).times(Term::of(self.weight, w))
    }

    /// Returns the codes of scales of 1.
    pub fn ones(&self) -> [u32; 2] {
        let code = |format: FloatFormat| {
            (-format.least_exponent() as u32 + has_zero(format)) << format.fraction_bits()
        };
        self.scales.map_or([0; 2], |scales| scales.formats.map(code))
    }

    /// Returns the terms of products, with the codes of their scales.
    pub fn terms_of(&self, (products, scales): Part<'_>) -> Vec<Term> {
        let own = products.iter().map(|&codes| self.product(codes));
        let (Some(codes), Some(Scales { formats: [a, w], group })) = (scales, self.scales) else {
            return own.collect();
        };
        let scaled = |term: Term| term.times(Term::of(a, codes[0])).times(Term::of(w, codes[1]));
        match group {
            Some(_) => vec![scaled(Term::exact(own))],
            None => own.map(scaled).collect(),
        }
    }

    /// Returns the parts of each addition: terms, or all products without scales.
    pub fn additions<'p>(&self, products: &'p [[u32; 2]], blocks: &[Block]) -> Vec<Vec<Part<'p>>> {
        if self.scales.is_none() {
            return products.chunks(self.lanes()).map(|products| vec![(products, None)]).collect();
        }
        let mut rest = products;
        let mut part = |block: &Block| {
            let (own, others) = rest.split_at(block.count.min(rest.len()));
            rest = others;
            (own, Some(block.scales))
        };
        blocks.chunks(self.terms()).map(|blocks| blocks.iter().map(&mut part).collect()).collect()
    }

    /// Returns terms of products that have scales of 1; none without scales.
    pub fn blocks_of_one(&self, products: &[[u32; 2]]) -> Vec<Block> {
        let block = |products: &[[u32; 2]]| Block { count: products.len(), scales: self.ones() };
        self.scales.map_or(Vec::new(), |_| products.chunks(self.group()).map(block).collect())
    }

    /// Returns the states after each addition of a dot product, by the arithmetic of `guardbit_num`. The last addition
    /// promotes only if the dot product ends with it.
    pub fn states(&self, products: &[[u32; 2]], blocks: &[Block], ends: bool) -> Vec<State> {
        let rule = &self.dot.rule;
        let every = self.promotion().unwrap_or(usize::MAX);
        let additions = self.additions(products, blocks);
        let count = additions.len();
        let (mut code, mut total) = (0, 0);
        let beats = additions.into_iter().enumerate();
        let state = |(index, parts): (usize, Vec<Part<'_>>)| {
            let terms: Vec<Term> = parts.into_iter().flat_map(|part| self.terms_of(part)).collect();
            let sum = rule.add(&terms, Term::of(rule.result, code));
            let border = (index + 1) % every == 0 || ends && index + 1 == count;
            let promotes = self.promotion().is_some() && border;
            if promotes {
                total = self.dot.promoted(total, sum.code);
            }
            code = if promotes { 0 } else { sum.code };
            State { acc: sum.code, total, cut: sum.cut_terms > 0, vanished: sum.vanished_terms > 0 }
        };
        beats.map(state).collect()
    }

    /// Returns the unit for the manifest.
    pub fn arithmetic(&self) -> FloatArithmetic {
        let rule = &self.dot.rule;
        let mut info = FloatArithmetic {
            activation: FormatInfo::of(self.activation),
            weight: FormatInfo::of(self.weight),
            scales: self.scales.map(|Scales { formats: [a, w], group }| ScaleInfo {
                activation: FormatInfo::of(a),
                weight: FormatInfo::of(w),
                group_terms: group,
            }),
            terms: self.lanes(),
            fraction_bits: rule.fraction_bits,
            align_round: rule.cut,
            apart: false,
            interleaved: false,
            sum_bits: None,
            accumulator_bits: None,
            reach: None,
            result: FormatInfo::of(rule.result),
            result_round: rule.result_rounding,
            negative_zero: rule.negative_zero,
            nan: rule.nan,
            promote_additions: self.dot.promotion,
        };
        if let Incoming::Apart { interleaved, sum_bits, bits, reach } = rule.incoming {
            (info.apart, info.interleaved) = (true, interleaved);
            (info.sum_bits, info.accumulator_bits, info.reach) = (Some(sum_bits), Some(bits), reach);
        }
        info
    }

    /// Returns the exponent of the last bit that a product can have. Every sum is a multiple of it.
    pub fn least_bit(&self) -> i32 {
        self.sum(least_bit)
    }

    /// Returns the sum of a property of all factors of a term.
    fn sum(&self, of: fn(FloatFormat) -> i32) -> i32 {
        self.factors().map(of).sum()
    }

    /// Returns the formats of the factors of a term: of operands and scales.
    fn factors(&self) -> impl Iterator<Item = FloatFormat> {
        [self.activation, self.weight].into_iter().chain(self.scale_formats())
    }

    fn scale_formats(&self) -> impl Iterator<Item = FloatFormat> {
        self.scales.into_iter().flat_map(|scales| scales.formats)
    }

    /// Returns the formats whose exponents make that of a term. A group of products has exponent 0 before it is scaled.
    pub fn aligned(&self) -> impl Iterator<Item = FloatFormat> {
        self.factors().skip(if self.exact_group().is_some() { 2 } else { 0 })
    }

    /// Returns the least exponent of a term that is not zero.
    pub fn least_exponent(&self) -> i32 {
        self.aligned().map(FloatFormat::least_exponent).sum()
    }

    /// Returns an exponent such that no term reaches its power of two, relative to the exponent of the term.
    pub fn term_bits(&self) -> i32 {
        match self.exact_group() {
            Some(_) => (self.size().log2().floor() as i32) + 1,
            None => 2,
        }
    }

    /// Returns the bits of the register of a group's exact sum.
    pub fn group_bits(&self) -> u32 {
        let formats = [self.activation, self.weight];
        let raise: u32 =
            formats.map(|format| (1 << (format.bits() - 1 - format.fraction_bits())) - 2).iter().sum();
        let product: u32 = formats.map(FloatFormat::fraction_bits).iter().sum();
        product + 2 + raise + self.group().next_power_of_two().ilog2() + 1
    }

    /// Returns the largest sum of a group, in units of the last bit of a product.
    pub fn group_largest(&self) -> f64 {
        let formats = [self.activation, self.weight];
        let own = |format: FloatFormat| magnitude(format) / f64::from(least_bit(format)).exp2();
        self.group() as f64 * formats.map(own).iter().product::<f64>()
    }

    /// Returns a bound of terms relative to the power of two of their exponents.
    fn size(&self) -> f64 {
        let full = |format: FloatFormat| 2.0 - f64::from(-(format.fraction_bits() as i32)).exp2();
        let group = |group: usize| group as f64 * magnitude(self.activation) * magnitude(self.weight);
        self.exact_group().map_or(1.0, group) * self.aligned().map(full).product::<f64>()
    }

    /// Returns a bound of terms with the largest exponent.
    fn largest_size(&self) -> f64 {
        let group = |group: usize| group as f64 * magnitude(self.activation) * magnitude(self.weight);
        let own = |format: FloatFormat| magnitude(format) / f64::from(top(format)).exp2();
        self.exact_group().map_or(1.0, group) * self.aligned().map(own).product::<f64>()
    }

    /// Returns an exponent such that every sum of products of one addition is a multiple of its power of two: no product is
    /// cut below the fraction bits of the least exponent.
    pub fn least_products(&self) -> i32 {
        self.least_bit().max(self.least_exponent() - self.dot.rule.fraction_bits as i32)
    }

    /// Returns an exponent such that every sum is a multiple of its power of two. The accumulator's exponent is at least
    /// -126, also if it is zero.
    pub fn least_sum(&self) -> i32 {
        let bits = match self.dot.rule.incoming {
            Incoming::Term => self.dot.rule.fraction_bits,
            Incoming::Apart { sum_bits, .. } => sum_bits,
        };
        self.least_products().max(-126 - bits as i32)
    }

    /// Returns an exponent such that every accumulator is a multiple of its power of two.
    pub fn least_accumulator(&self) -> i32 {
        self.least_sum().max(least_bit(self.dot.rule.result))
    }

    /// Returns an exponent such that no sum of `count` products reaches its power of two.
    pub fn bound(&self, count: usize) -> i32 {
        // What alignment and rounding can add to the accumulator in each addition, relative to it.
        let power = |bits: u32| 2f64.powi(-(bits as i32));
        let rule = &self.dot.rule;
        let aligned = match rule.incoming {
            Incoming::Apart { sum_bits, bits, .. } => power(bits) + 2.0 * power(sum_bits),
            Incoming::Term if rule.cut == Rounding::TowardZero => 0.0,
            Incoming::Term => (self.terms() + 1) as f64 * power(rule.fraction_bits),
        };
        let rounded = match rule.result_rounding {
            Rounding::TowardZero => 0.0,
            _ => power(rule.result.fraction_bits()),
        };
        // The first addition has no accumulator.
        let additions = (self.summed(count).div_ceil(self.terms()).max(1) - 1) as f64;
        let growth = additions * (1.0 + aligned + rounded).log2();
        self.product_top() + self.term_bits() + ((count.max(1) as f64).log2() + growth).ceil().min(1e6) as i32
    }

    /// Returns how many of `count` terms an accumulator adds before it starts at zero again. Terms are products, or groups
    /// of one product or more.
    pub fn summed(&self, count: usize) -> usize {
        count.min(self.promotion().unwrap_or(usize::MAX).saturating_mul(self.terms()))
    }

    /// Returns the largest exponent of a term.
    pub fn product_top(&self) -> i32 {
        self.aligned().map(top).sum()
    }

    /// Returns the bits of a term below its exponent.
    pub fn product_bits(&self) -> i32 {
        self.least_exponent() - self.least_bit()
    }

    /// Returns whether every term that is not zero has an exponent of at least -126, which is that of a zero accumulator.
    pub fn products_above_zero(&self) -> bool {
        self.least_exponent() >= -126
    }

    /// Returns whether an operand can be infinite.
    pub fn has_infinity(&self) -> bool {
        [self.activation, self.weight].iter().any(|format| format.infinity(false).is_some())
    }

    /// Returns whether an operand can be NaN.
    pub fn has_nan(&self) -> bool {
        [self.activation, self.weight].iter().any(|format| format.nan().is_some())
    }

    /// Returns whether a dot product of `count` products can exceed the accumulator's largest number.
    pub fn can_overflow(&self, count: usize) -> bool {
        self.greatest(self.summed(count)) > magnitude(self.dot.rule.result)
    }

    /// Returns the largest sum of the products of one addition, each at most as large as a cut one can be, relative to the
    /// power of two of the largest exponent. With `largest`, that is the largest exponent of a product.
    fn products(&self, largest: bool) -> f64 {
        let rule = &self.dot.rule;
        let unit = f64::from(rule.fraction_bits).exp2();
        let cut = |significand: f64| match rule.cut {
            Rounding::TowardZero => (significand * unit).floor() / unit,
            Rounding::Floor => (significand * unit).ceil() / unit,
            _ => (significand * unit + 0.5).floor() / unit,
        };
        let any = cut(self.size());
        let one = match largest {
            true => cut(self.largest_size()).max(any / 2.0),
            false => any,
        };
        // Each of two halves may be cut toward minus infinity.
        let is_interleaved = matches!(rule.incoming, Incoming::Apart { interleaved: true, .. });
        one * self.terms() as f64 + if is_interleaved { 2.0 / unit } else { 0.0 }
    }

    /// Returns what no accumulator exceeds in magnitude after `count` products: it adds the largest sum again and again, and
    /// whatever is rounded is rounded up.
    fn greatest(&self, count: usize) -> f64 {
        let rule = &self.dot.rule;
        let power = |exponent: f64| exponent.exp2();
        let up = |value: f64, unit: f64| (value / unit).ceil() * unit;
        let result = f64::from(rule.result.fraction_bits());
        let top = f64::from(self.product_top());
        let products = self.products(true) * power(top);
        let mut sum = 0.0;
        for _ in 0..count.div_ceil(self.terms()) {
            // The largest exponent.
            let expo = if sum > 0.0 { top.max(f64::log2(sum).floor()) } else { top };
            let added = match rule.incoming {
                Incoming::Apart { sum_bits, bits, .. } => {
                    up(sum, power(expo - f64::from(bits))) + products + power(expo - f64::from(sum_bits))
                }
                Incoming::Term if rule.cut == Rounding::TowardZero => sum + products,
                Incoming::Term => {
                    let terms = (self.terms() + 1) as f64;
                    sum + products + terms * power(expo - f64::from(rule.fraction_bits))
                }
            };
            // Floating-point numbers of the host round too.
            let added = added * (1.0 + 1e-12);
            if !added.is_finite() {
                return f64::INFINITY;
            }
            let unit = power(added.log2().floor() - result);
            sum = match rule.result_rounding {
                Rounding::TowardZero => (added / unit).floor() * unit,
                Rounding::Floor => up(added, unit),
                _ => (added / unit + 0.5).floor() * unit,
            };
        }
        sum
    }

    /// Returns the largest exponent of an accumulator that enters an addition, of at most `count` products; `None` if it is
    /// always zero.
    fn accumulator_top(&self, count: usize) -> Option<i32> {
        let before = (self.summed(count).div_ceil(self.terms()).max(1) - 1) * self.terms();
        let reached = (before > 0).then(|| self.greatest(before).log2().floor().min(1e6) as i32);
        reached.map(|reached| reached.min(top(self.dot.rule.result)))
    }

    /// Returns the largest exponent of a term.
    pub fn largest_exponent(&self, count: usize) -> i32 {
        self.accumulator_top(count).unwrap_or(i32::MIN).max(self.product_top()).max(-126)
    }

    /// Returns whether no accumulator loses a bit when it is added apart.
    pub fn is_accumulator_exact(&self, count: usize) -> bool {
        let Incoming::Apart { bits, .. } = self.dot.rule.incoming else { return false };
        let (bits, least) = (bits as i32, self.least_accumulator());
        let Some(top) = self.accumulator_top(count) else { return true };
        let own = self.dot.rule.result.fraction_bits() as i32 <= bits || top - bits <= least;
        own && self.product_top().max(-126) - bits <= least
    }

    /// Returns whether a sum of products that loses bits where the accumulator is added apart is so small that the result
    /// is the accumulator's nearest number anyway.
    pub fn is_cut_sum_hidden(&self) -> bool {
        let rule = &self.dot.rule;
        let Incoming::Apart { sum_bits, bits, .. } = rule.incoming else { return false };
        let result = rule.result.fraction_bits();
        let own = match self.terms() {
            1 => rule.fraction_bits.min(self.product_bits() as u32),
            _ => rule.fraction_bits,
        };
        let power = |bits: u32| (-f64::from(bits)).exp2();
        let is_nearest = !matches!(rule.result_rounding, Rounding::TowardZero | Rounding::Floor);
        // A subnormal accumulator may lose all of its bits.
        let stays = bits >= result || self.least_sum() >= rule.result.least_exponent();
        is_nearest
            && stays
            && sum_bits > own
            && self.products_above_zero()
            && self.products(false) * power(sum_bits - own + 1) + power(sum_bits) < power(result + 2)
    }

    /// Returns the bits below the largest exponent that all registers keep.
    pub fn kept_bits(&self) -> u32 {
        match self.dot.rule.incoming {
            Incoming::Term => self.dot.rule.fraction_bits,
            // An accumulator that is zero loses nothing.
            Incoming::Apart { sum_bits, .. } if self.promotion() == Some(1) => {
                self.dot.rule.fraction_bits.min(sum_bits)
            }
            Incoming::Apart { sum_bits, bits, reach, .. } => {
                self.dot.rule.fraction_bits.min(sum_bits).min(bits).min(reach.unwrap_or(u32::MAX))
            }
        }
    }

    /// Returns whether no term of `count` products loses a bit, if `spare` further bits are dropped.
    pub fn is_aligned_exactly(&self, count: usize, spare: i32) -> bool {
        let kept = self.kept_bits() as i32;
        let is_lone = self.terms() == 1 && self.promotion() == Some(1) && self.products_above_zero();
        self.largest_exponent(count) + spare - self.least_bit() <= kept
            || is_lone && self.product_bits() + spare <= kept
    }

    /// Returns whether no product loses a bit before products are added, if `spare` further bits are dropped.
    pub fn are_products_exact(&self, count: usize, spare: i32) -> bool {
        let bits = self.dot.rule.fraction_bits as i32;
        match self.dot.rule.incoming {
            Incoming::Term => self.is_aligned_exactly(count, spare),
            Incoming::Apart { interleaved, .. } => {
                let is_lone = self.terms() == 1 || interleaved && self.terms() == 2;
                self.product_top() + spare - self.least_bit() <= bits
                    || is_lone && self.product_bits() + spare <= bits
            }
        }
    }

    /// Returns whether the sums of even and of odd products, if they are added separately, lose no bit where they are cut to
    /// the larger exponent, if `spare` further bits are dropped.
    pub fn are_halves_exact(&self, spare: i32) -> bool {
        let is_interleaved = matches!(self.dot.rule.incoming, Incoming::Apart { interleaved: true, .. });
        let bits = self.dot.rule.fraction_bits as i32;
        let is_lone = self.terms() == 1 && self.products_above_zero();
        !is_interleaved || is_lone || self.product_top() + spare - self.least_bit() <= bits
    }

    /// Returns whether the sum of both halves is the same with `spare` further bits: they lose none, or it is cut to so few
    /// bits, toward minus infinity as they are, that theirs do not matter.
    pub fn are_halves_cut_alike(&self, spare: i32) -> bool {
        let bits = self.dot.rule.fraction_bits as i32 - spare;
        let is_short =
            matches!(self.dot.rule.incoming, Incoming::Apart { sum_bits, .. } if sum_bits as i32 <= bits);
        is_short || self.are_halves_exact(spare)
    }

    /// Returns whether no sum of `count` products needs rounding to the result.
    pub fn is_result_exact(&self, count: usize) -> bool {
        let rule = &self.dot.rule;
        let kept = rule.result.fraction_bits() as i32 + 1;
        let top = (kept as f64).exp2();
        let units = |bits: u32| f64::from(bits).exp2();
        let (products, bits) = (self.products(false), rule.fraction_bits);
        let is_alone = self.accumulator_top(count).is_none() && self.products_above_zero();
        // In units of the last bit of the register.
        let is_short = match rule.incoming {
            Incoming::Term => (products + if is_alone { 0.0 } else { 2.0 }) * units(bits) < top,
            Incoming::Apart { sum_bits, .. } if is_alone => products * units(bits.min(sum_bits)) + 1.0 < top,
            // Wherever the products' largest exponent lies below the accumulator's.
            Incoming::Apart { sum_bits, bits: own, .. } => (0..=sum_bits + 8).all(|below| {
                let last = (below + bits).min(sum_bits).max(own);
                (products / units(below) + 2.0) * units(last) + 2.0 < top
            }),
        };
        let is_lone = self.terms() == 1 && self.promotion() == Some(1) && self.products_above_zero();
        let span = self.greatest(self.summed(count)).log2().floor().min(1e6) as i32 + 1 - self.least_sum();
        (is_short || span <= kept || is_lone && self.product_bits() + self.term_bits() <= kept)
            && self.least_sum() >= least_bit(rule.result)
    }
}
