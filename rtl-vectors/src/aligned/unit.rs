//! A unit that adds floating-point products: what it computes, beat by beat, and which units the reference RTL has.

use guardbit_graph::DType;
use guardbit_hwmodels::{FloatAccumulation, FloatResult};
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

    /// Returns an exponent such that every sum is a multiple of its power of two. The accumulator's exponent is at least
    /// -126, also if it is zero.
    pub fn least_sum(&self) -> i32 {
        let bits = match self.dot.rule.incoming {
            Incoming::Term => self.dot.rule.fraction_bits,
            Incoming::Apart { sum_bits, .. } => sum_bits,
        };
        self.least_bit().max(-126 - bits as i32)
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
        self.bound(self.summed(count)) > top(self.dot.rule.result)
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
        self.bound(self.summed(count)) + spare - self.least_bit() <= kept
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

    /// Returns whether no sum of `count` products needs rounding to the result.
    pub fn is_result_exact(&self, count: usize) -> bool {
        let rule = &self.dot.rule;
        let bits = match rule.incoming {
            Incoming::Term => rule.fraction_bits,
            Incoming::Apart { sum_bits, .. } => sum_bits,
        };
        // Products are at most 4 in units of the largest exponent, the accumulator 2, and a floor adds 1.
        let most = (4 * self.lanes() as u128 + 3) << bits;
        let register = (u128::BITS - most.leading_zeros()) as i32;
        let is_lone = self.lanes() == 1 && self.promotion() == Some(1) && self.products_above_zero();
        let lone = if is_lone { self.product_bits() + 2 } else { i32::MAX };
        let span = (self.bound(self.summed(count)) - self.least_bit()).min(register).min(lone);
        span <= rule.result.fraction_bits() as i32 + 1 && self.least_sum() >= least_bit(rule.result)
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
