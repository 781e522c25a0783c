//! A unit that adds floating-point products: what it computes, beat by beat, and which units the reference RTL has.

use guardbit_graph::DType;
use guardbit_hwmodels::{FloatAccumulation, FloatMacLayer, FloatResult};
use guardbit_num::{AlignedDot, FloatDot, FloatFormat, Incoming, Rounding, Term};

use super::manifest::{FloatArithmetic, FormatInfo};
use crate::VectorError;
use crate::sizes::MAX_LANES;

/// Formats of the operands, and how their products are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    pub activation: FloatFormat,
    pub weight: FloatFormat,
    pub dot: AlignedDot,
}

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
        let is_scaled =
            [&layer.dots.activations, &layer.dots.weights].iter().any(|operand| operand.blocks.is_some());
        if is_scaled || layer.groups.is_some() {
            return Err(VectorError::FloatUnsupported {
                layer: layer.name.clone(),
                what: "a layer with scales of blocks".into(),
                help: "export a layer of a network with one scale per tensor or channel, e.g. `guardbit quantize --weights \
                       e4m3 --activations e4m3`",
            });
        }
        Self::new(&layer.name, [layer.dots.activations.dtype, layer.dots.weights.dtype], &layer.accumulation)
    }

    /// Returns the unit of a layer with operands of these types.
    ///
    /// # Errors
    /// [`VectorError::FloatUnsupported`] if the reference RTL has no such unit.
    pub fn new(
        layer: &str,
        dtypes: [DType; 2],
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
        if dot.terms > MAX_LANES {
            let what = format!("additions of {} products (at most {MAX_LANES})", dot.terms);
            return Err(refused(
                what,
                "add fewer products at a time, e.g. --set float_accumulation.terms=32",
            ));
        }
        Ok(Self { activation, weight, dot })
    }

    /// Returns products of one addition.
    pub fn lanes(&self) -> usize {
        self.dot.terms
    }

    /// Returns additions until the accumulator is promoted.
    pub fn promotion(&self) -> Option<usize> {
        self.dot.promotion
    }

    /// Returns the exact product of two codes.
    pub fn product(&self, [a, w]: [u32; 2]) -> Term {
        Term::of(self.activation, a).times(Term::of(self.weight, w))
    }

    /// Returns the states after each addition of a dot product, by the arithmetic of `guardbit_num`. The last addition
    /// promotes only if the dot product ends with it.
    pub fn states(&self, products: &[[u32; 2]], ends: bool) -> Vec<State> {
        let rule = &self.dot.rule;
        let every = self.promotion().unwrap_or(usize::MAX);
        let count = products.len().div_ceil(self.lanes());
        let (mut code, mut total) = (0, 0);
        let beats = products.chunks(self.lanes()).enumerate();
        let state = |(index, beat): (usize, &[[u32; 2]])| {
            let terms: Vec<Term> = beat.iter().map(|&codes| self.product(codes)).collect();
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
            terms: self.dot.terms,
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
        [self.activation, self.weight].map(least_bit).iter().sum()
    }

    /// Returns an exponent such that every sum of products of one addition is a multiple of its power of two: no product is
    /// cut below the fraction bits of the least exponent.
    pub fn least_products(&self) -> i32 {
        let [a, w] = [self.activation, self.weight].map(FloatFormat::least_exponent);
        self.least_bit().max(a + w - self.dot.rule.fraction_bits as i32)
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
            Incoming::Term => (self.lanes() + 1) as f64 * power(rule.fraction_bits),
        };
        let rounded = match rule.result_rounding {
            Rounding::TowardZero => 0.0,
            _ => power(rule.result.fraction_bits()),
        };
        // The first addition has no accumulator.
        let additions = (self.summed(count).div_ceil(self.lanes()).max(1) - 1) as f64;
        let growth = additions * (1.0 + aligned + rounded).log2();
        self.product_top() + 2 + ((count.max(1) as f64).log2() + growth).ceil().min(1e6) as i32
    }

    /// Returns how many of `count` products an accumulator adds before it starts at zero again.
    pub fn summed(&self, count: usize) -> usize {
        count.min(self.promotion().unwrap_or(usize::MAX).saturating_mul(self.lanes()))
    }

    /// Returns the largest exponent of a product.
    pub fn product_top(&self) -> i32 {
        [self.activation, self.weight].map(top).iter().sum()
    }

    /// Returns the bits of a product below its exponent.
    fn product_bits(&self) -> i32 {
        (self.activation.fraction_bits() + self.weight.fraction_bits()) as i32
    }

    /// Returns whether every product, zeros too, has an exponent of at least -126, which is that of a zero accumulator.
    pub fn products_above_zero(&self) -> bool {
        [self.activation, self.weight].map(FloatFormat::least_exponent).iter().sum::<i32>() >= -126
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
        let formats = [self.activation, self.weight];
        let unit = f64::from(rule.fraction_bits).exp2();
        let cut = |significand: f64| match rule.cut {
            Rounding::TowardZero => (significand * unit).floor() / unit,
            Rounding::Floor => (significand * unit).ceil() / unit,
            _ => (significand * unit + 0.5).floor() / unit,
        };
        let full = |format: FloatFormat| 2.0 - f64::from(-(format.fraction_bits() as i32)).exp2();
        let any = cut(formats.map(full).iter().product());
        let one = match largest {
            true => {
                let top = formats.map(|format| magnitude(format) / f64::from(top(format)).exp2());
                cut(top.iter().product()).max(any / 2.0)
            }
            false => any,
        };
        // Each of two halves may be cut toward minus infinity.
        let is_interleaved = matches!(rule.incoming, Incoming::Apart { interleaved: true, .. });
        one * self.lanes() as f64 + if is_interleaved { 2.0 / unit } else { 0.0 }
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
        for _ in 0..count.div_ceil(self.lanes()) {
            // The largest exponent.
            let expo = if sum > 0.0 { top.max(f64::log2(sum).floor()) } else { top };
            let added = match rule.incoming {
                Incoming::Apart { sum_bits, bits, .. } => {
                    up(sum, power(expo - f64::from(bits))) + products + power(expo - f64::from(sum_bits))
                }
                Incoming::Term if rule.cut == Rounding::TowardZero => sum + products,
                Incoming::Term => {
                    let terms = (self.lanes() + 1) as f64;
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
        let before = (self.summed(count).div_ceil(self.lanes()).max(1) - 1) * self.lanes();
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
        let own = match self.lanes() {
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
        let is_lone = self.lanes() == 1 && self.promotion() == Some(1) && self.products_above_zero();
        self.largest_exponent(count) + spare - self.least_bit() <= kept
            || is_lone && self.product_bits() + spare <= kept
    }

    /// Returns whether no product loses a bit before products are added, if `spare` further bits are dropped.
    pub fn are_products_exact(&self, count: usize, spare: i32) -> bool {
        let bits = self.dot.rule.fraction_bits as i32;
        match self.dot.rule.incoming {
            Incoming::Term => self.is_aligned_exactly(count, spare),
            Incoming::Apart { interleaved, .. } => {
                let is_lone = self.lanes() == 1 || interleaved && self.lanes() == 2;
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
        let is_lone = self.lanes() == 1 && self.products_above_zero();
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
        let is_lone = self.lanes() == 1 && self.promotion() == Some(1) && self.products_above_zero();
        let span = self.greatest(self.summed(count)).log2().floor().min(1e6) as i32 + 1 - self.least_sum();
        (is_short || span <= kept || is_lone && self.product_bits() + 2 <= kept)
            && self.least_sum() >= least_bit(rule.result)
    }
}

/// Returns the exponent of the last bit of a subnormal.
pub(super) fn least_bit(format: FloatFormat) -> i32 {
    format.least_exponent() - format.fraction_bits() as i32
}

/// Returns the exponent of the largest finite number.
pub(super) fn top(format: FloatFormat) -> i32 {
    (format.largest() >> format.fraction_bits()) as i32 + format.least_exponent() - 1
}

/// Returns the largest number of a format.
pub(super) fn magnitude(format: FloatFormat) -> f64 {
    let one = 1u32 << format.fraction_bits();
    f64::from(top(format)).exp2() * f64::from(one | format.largest() & (one - 1)) / f64::from(one)
}
