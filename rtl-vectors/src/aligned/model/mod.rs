//! A model of the reference RTL of floating-point accumulators, register by register, with the built-in faults.
//!
//! It shows which beats reach what (bins), and which faults they show. Expected values never come from here.

mod block;
mod names;

use guardbit_num::{FloatFormat, Incoming, Rounding, Specials};

use super::fault::Fault;
use super::unit::Unit;
pub(crate) use names::BINS;
pub(super) use names::has_bin;
use names::{ACCUMULATOR, Names, PRODUCT};

/// Exponent with which a zero takes part in the choice of the largest one.
const ZERO: i32 = -126;
/// No shift is longer: nothing is left of a term.
const FAR: i32 = 100;

/// What enters in one cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Beat {
    pub valid: bool,
    pub clear: bool,
    pub last: bool,
    /// Activation and weight of every lane, used or not.
    pub codes: Vec<[u32; 2]>,
    pub keep: Vec<bool>,
    /// Scales of activation and weight of every term, used or not; none of a unit without them.
    pub scales: Vec<[u32; 2]>,
}

/// What the registers show after a beat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    pub acc: u32,
    pub total: u32,
    pub cut: bool,
    pub vanished: bool,
    /// The result, if the beat ends a dot product.
    pub sum: Option<u32>,
}

/// The registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Model {
    unit: Unit,
    fault: Option<Fault>,
    acc: u32,
    total: u32,
    fresh: bool,
    first: bool,
    count: usize,
}

/// A finite term, `sig * 2^(expo - frac)`, infinity or NaN.
#[derive(Debug, Clone, Copy)]
struct Term {
    negative: bool,
    sig: u64,
    frac: i32,
    expo: i32,
    inf: bool,
    nan: bool,
}

/// Receives the name of what a beat reaches.
type Reached<'r> = dyn FnMut(&'static str, bool) + 'r;

/// A sum in units of `2^(expo - bits)`.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    total: i128,
    expo: i32,
    bits: i32,
    cut: bool,
    vanished: bool,
    /// Whether it is the float32 sum.
    is_promoted: bool,
}

impl Term {
    fn leading(&self) -> Option<i32> {
        self.sig.checked_ilog2().map(|bit| self.expo - self.frac + bit as i32)
    }

    /// Returns whether the term counts as infinite where the accumulator is added apart.
    fn is_beyond(&self) -> bool {
        !self.inf && !self.nan && self.leading().is_some_and(|leading| leading >= 128)
    }
}

impl Model {
    pub fn new(unit: Unit, fault: Option<Fault>) -> Self {
        Self { unit, fault, acc: 0, total: 0, fresh: true, first: true, count: 0 }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// Returns what the registers show after a beat, and calls `reached` for each bin with the sign of what is in it.
    pub fn step(&mut self, beat: &Beat, reached: &mut Reached<'_>) -> Option<Shown> {
        if !beat.valid && !self.has(Fault::BubbleAdds) {
            return None;
        }
        let clear = beat.clear && !self.has(Fault::ClearIgnored);
        let code = if clear || self.fresh { 0 } else { self.acc };
        let is_scaled = self.unit.scales.is_some();
        let lanes = beat.codes.len() - usize::from(self.has(Fault::LaneMissed) && !is_scaled);
        let used = |lane: usize| beat.keep[lane] || self.has(Fault::KeepIgnored) || is_scaled;
        let products: Vec<(usize, Term)> = (0..lanes)
            .filter(|&lane| used(lane))
            .map(|lane| {
                let mut ignored = |_: &'static str, _: bool| {};
                let own: &mut Reached<'_> =
                    if is_scaled && !beat.keep[lane] { &mut ignored } else { reached };
                (lane, self.product(beat.codes[lane], own))
            })
            .collect();
        let products = match self.unit.scales {
            None => products,
            Some(scales) => self.scaled(scales, beat, &products, reached),
        };
        let c = self.decode(self.unit.dot.rule.result, code, reached);
        let (sum, special) = self.add(&products, c, reached);
        let rule = &self.unit.dot.rule;
        self.acc = match special {
            Some(code) => code,
            None => self.encode(rule.result, rule.result_rounding, rule.negative_zero, sum, reached),
        };
        let done = if beat.clear { 0 } else { self.count };
        let (mut promotes, mut shown_total) = (false, 0);
        if let Some(every) = self.unit.promotion() {
            let border = done + 1 == every + usize::from(self.has(Fault::PromotionLate));
            promotes = border || beat.last && !self.has(Fault::LastNotPromoted);
            let first = beat.clear || self.first;
            if promotes {
                reached(if border { "promoted_at_border" } else { "promoted_at_end" }, false);
                let starts = if self.has(Fault::TotalOfCut) { self.first } else { first };
                let start = if starts && !self.has(Fault::TotalKept) { 0 } else { self.total };
                self.total = self.promoted(start, reached);
            }
            self.count = if promotes { 0 } else { done + 1 };
            self.first = beat.last || first && !promotes;
            shown_total = self.total;
        }
        self.fresh = promotes && !self.has(Fault::AccKept) || beat.last;
        let is_finite = special.is_none();
        let sum_code = if self.unit.promotion().is_some() { self.total } else { self.acc };
        Some(Shown {
            acc: self.acc,
            total: shown_total,
            cut: is_finite && sum.cut,
            vanished: is_finite && sum.vanished,
            sum: beat.last.then_some(sum_code),
        })
    }

    fn decode(&self, format: FloatFormat, code: u32, reached: &mut Reached<'_>) -> Term {
        let frac = format.fraction_bits() as i32;
        let exponent_bits = format.bits() - u32::from(format.is_signed()) - format.fraction_bits();
        let (field, fraction) = (code >> frac & ((1 << exponent_bits) - 1), code & ((1 << frac) - 1));
        let negative = format.is_signed() && code >> (format.bits() - 1) & 1 == 1;
        let ones = (1 << exponent_bits) - 1;
        let mut sig = u64::from(fraction) | u64::from(field != 0) << frac;
        let least = format.least_exponent();
        let mut expo = match field {
            0 => least - i32::from(self.has(Fault::SubnormalExponent)),
            _ => field as i32 + least - 1,
        };
        if field == 0 && sig != 0 && self.has(Fault::SubnormalFlushed) {
            sig = 0;
        }
        if sig == 0 && !self.has(Fault::ZeroExponentLeast) {
            expo = ZERO;
        }
        let (inf, nan) = match format.specials() {
            Specials::Ieee => (field == ones && fraction == 0, field == ones && fraction != 0),
            Specials::LastIsNan => (false, field == ones && fraction == (1 << frac) - 1),
            Specials::NegativeZeroIsNan => (false, negative && field == 0 && fraction == 0),
            Specials::None => (false, false),
        };
        let has_sign = negative && format.specials() != Specials::NegativeZeroIsNan;
        let nan = nan && !(has_sign && self.has(Fault::NanUnsigned));
        if field == 0 && fraction != 0 {
            reached("subnormal", negative);
        }
        if field == 0 && fraction == 0 && negative && !nan {
            reached("negative_zero", true);
        }
        Term { negative, sig, frac, expo, inf, nan }
    }

    fn product(&self, [a, w]: [u32; 2], reached: &mut Reached<'_>) -> Term {
        let a = self.decode(self.unit.activation, a, reached);
        let w = self.decode(self.unit.weight, w, reached);
        let sig = a.sig * w.sig;
        let zero_times = a.inf && w.sig == 0 || w.inf && a.sig == 0;
        let operand_nan = a.nan || w.nan;
        for (operand, [nan, infinite]) in
            [(a, ["nan_activation", "infinite_activation"]), (w, ["nan_weight", "infinite_weight"])]
        {
            if operand.nan || operand.inf {
                reached(if operand.nan { nan } else { infinite }, operand.negative);
            }
        }
        if zero_times && !operand_nan {
            reached("nan_zero_times_infinity", false);
        }
        let frac = a.frac + w.frac;
        let normal = self.has(Fault::NormalizedExponent) && sig >> (frac + 1) & 1 == 1;
        Term {
            negative: a.negative != (w.negative && !self.has(Fault::SignDropped)),
            sig,
            frac: frac + i32::from(normal),
            expo: a.expo + w.expo + i32::from(normal),
            inf: a.inf || w.inf,
            nan: operand_nan && !self.has(Fault::NanLost)
                || zero_times && !self.has(Fault::ZeroTimesInfinity),
        }
    }

    fn add(&self, products: &[(usize, Term)], c: Term, reached: &mut Reached<'_>) -> (Sum, Option<u32>) {
        let rule = &self.unit.dot.rule;
        let special = self.special(products, c, reached);
        let mut ignored = |_: &'static str, _: bool| {};
        let reached: &mut Reached<'_> = if special.is_some() { &mut ignored } else { reached };
        let bits = rule.fraction_bits as i32 + i32::from(self.has(Fault::OneBitMore))
            - i32::from(self.has(Fault::OneBitFewer));
        let cut = match self.has(Fault::AlignRounding) {
            true => wrong(rule.cut),
            false => rule.cut,
        };
        let largest = |terms: &[(usize, Term)]| terms.iter().map(|(_, term)| term.expo).max().unwrap_or(ZERO);
        let some = |terms: &[(usize, Term)]| terms.iter().any(|(_, term)| term.sig != 0) || c.sig != 0;
        let sum = match rule.incoming {
            Incoming::Term => {
                let own = largest(products);
                let is_last = own > c.expo;
                let expo = if self.has(Fault::AccumulatorNotLargest) { own } else { own.max(c.expo) };
                reached(if is_last { "products_largest" } else { "accumulator_largest" }, false);
                let mut sum = Sum { expo, bits, ..Sum::default() };
                for (_, term) in products {
                    self.take(&mut sum, term, cut, PRODUCT, reached);
                }
                self.take(&mut sum, &c, cut, ACCUMULATOR, reached);
                sum
            }
            Incoming::Apart { interleaved, sum_bits, bits: acc_bits, reach } => {
                let group = |terms: &[(usize, Term)], reached: &mut Reached<'_>| {
                    let mut sum = Sum { expo: largest(terms), bits, ..Sum::default() };
                    terms.iter().for_each(|(_, term)| self.take(&mut sum, term, cut, PRODUCT, reached));
                    sum
                };
                let sum = if interleaved && !self.has(Fault::NotInterleaved) {
                    let part = |parity: usize| -> Vec<(usize, Term)> {
                        products.iter().filter(|(lane, _)| lane % 2 == parity).copied().collect()
                    };
                    let [even, odd] = [0, 1].map(|parity| group(&part(parity), reached));
                    let expo = even.expo.max(odd.expo);
                    let down = |sum: Sum| self.floor(sum.total, expo - sum.expo);
                    if down(even) << (expo - even.expo).min(60) != even.total
                        || down(odd) << (expo - odd.expo).min(60) != odd.total
                    {
                        reached("half_cut", false);
                    }
                    Sum {
                        total: down(even) + down(odd),
                        expo,
                        cut: even.cut || odd.cut,
                        vanished: even.vanished || odd.vanished,
                        ..even
                    }
                } else {
                    group(products, reached)
                };
                let expo = sum.expo.max(c.expo);
                let is_last = sum.expo > c.expo;
                reached(if is_last { "products_largest" } else { "accumulator_largest" }, false);
                let sum_bits = sum_bits as i32;
                let far = reach.is_some_and(|reach| {
                    let reach = reach as i32 - i32::from(self.has(Fault::ReachShort));
                    c.expo < expo - reach && !self.has(Fault::ReachIgnored)
                });
                if far && c.sig != 0 {
                    reached("accumulator_beyond_reach", c.negative);
                }
                let up = (sum_bits - bits).max(0);
                let shift = expo - sum.expo + (bits - sum_bits).max(0);
                let moved = self.floor(sum.total << up, shift);
                if shift > 0 && shift < 60 && moved << shift != sum.total << up {
                    reached("products_sum_cut", sum.total < 0);
                }
                let mut own = Sum { expo, bits: acc_bits as i32, ..Sum::default() };
                if !far {
                    let floor = match self.has(Fault::AccumulatorTruncated) {
                        true => Rounding::TowardZero,
                        false => Rounding::Floor,
                    };
                    self.take(&mut own, &c, floor, ACCUMULATOR, reached);
                }
                Sum {
                    is_promoted: false,
                    total: moved + (own.total << (sum_bits - acc_bits as i32)),
                    expo,
                    bits: sum_bits,
                    cut: sum.cut || own.cut,
                    vanished: sum.vanished || own.vanished,
                }
            }
        };
        if sum.total == 0 && some(products) {
            reached(if sum.cut { "cancelled_but_cut" } else { "cancelled" }, false);
        }
        (sum, special)
    }

    /// Shifts a sum right, toward minus infinity.
    fn floor(&self, total: i128, shift: i32) -> i128 {
        let shift = shift.clamp(0, FAR) as u32;
        match self.has(Fault::SumTruncated) {
            true => Rounding::TowardZero.shift_right(total, shift),
            false => total >> shift,
        }
    }

    /// Adds a term.
    fn take(&self, sum: &mut Sum, term: &Term, round: Rounding, names: &Names, reached: &mut Reached<'_>) {
        let distance = sum.expo - term.expo + term.frac - sum.bits;
        // A greater exponent than the largest one wraps to a long distance.
        let shift = if sum.expo < term.expo { FAR } else { distance.min(FAR) };
        let (kept, guard, sticky) = split(term.sig.into(), shift);
        let up = self.rounds_up(round, term.negative, kept, guard, sticky);
        let magnitude = kept as i128 + i128::from(up);
        sum.total += if term.negative { -magnitude } else { magnitude };
        let cut = guard || sticky;
        sum.cut |= cut && (sticky || !self.has(Fault::CutWithoutGuard));
        sum.vanished |= cut && kept == 0;
        if guard && !sticky {
            reached(names.tie, term.negative);
        }
        if cut {
            reached(if kept == 0 { names.vanished } else { names.cut }, term.negative);
        }
        if let Some(leading) = term.leading() {
            let below = sum.expo - leading - sum.bits;
            if let Some(name) = usize::try_from(below + 1).ok().and_then(|place| names.places.get(place)) {
                reached(name, term.negative);
            }
        }
    }

    fn rounds_up(&self, round: Rounding, negative: bool, kept: u128, guard: bool, sticky: bool) -> bool {
        let odd = kept & 1 == 1;
        match round {
            Rounding::Floor => negative && (guard || sticky),
            Rounding::TowardZero => false,
            _ if sticky || !guard => guard,
            Rounding::HalfUp => !negative,
            Rounding::HalfDown => negative,
            Rounding::HalfAway => true,
            Rounding::HalfToZero => false,
            Rounding::HalfEven => odd || self.has(Fault::TieUp),
            Rounding::HalfOdd => !odd,
        }
    }

    fn encode(
        &self,
        format: FloatFormat,
        round: Rounding,
        negative_zero: bool,
        sum: Sum,
        reached: &mut Reached<'_>,
    ) -> u32 {
        let promotes = sum.is_promoted;
        let (negative, magnitude) = (sum.total < 0, sum.total.unsigned_abs());
        let Some(top) = magnitude.checked_ilog2() else { return 0 };
        let (frac, least) = (format.fraction_bits() as i32, format.least_exponent());
        let leading = sum.expo - sum.bits + top as i32;
        let is_subnormal = leading < least;
        if is_subnormal && self.has(Fault::ResultFlushed) {
            return 0;
        }
        let place = leading.max(least);
        let (kept, guard, sticky) = split(magnitude, place - frac - (sum.expo - sum.bits));
        let round = match self.has(Fault::ResultRounding) && !promotes {
            true => wrong(round),
            false => round,
        };
        let up = self.rounds_up(round, negative, kept, guard, sticky);
        let code = (u128::from((place - least) as u32) << frac) + kept + u128::from(up);
        if !promotes {
            let name = match (guard, sticky, kept & 1) {
                (false, false, _) => "result_exact",
                (false, true, _) => "result_below_half",
                (true, false, 0) => "result_tie_even",
                (true, false, _) => "result_tie_odd",
                (true, true, _) => "result_above_half",
            };
            reached(name, negative);
            if is_subnormal {
                reached("result_subnormal", negative);
            }
            if up && (kept + 1) & kept == 0 {
                reached("result_carry", negative);
            }
        } else if guard {
            let name = if sticky {
                "promoted_above_half"
            } else if kept & 1 == 0 {
                "promoted_tie_even"
            } else {
                "promoted_tie_odd"
            };
            reached(name, negative);
        }
        if code > u128::from(format.largest()) {
            reached("overflow", negative);
            return match self.has(Fault::Saturates) && !promotes {
                true => format.largest() | sign(format, negative),
                false => format.overflowed(negative, guardbit_num::FloatOverflow::Special),
            };
        }
        if code == 0 && negative {
            reached("negative_to_zero", true);
        }
        let keeps_sign = negative_zero != (self.has(Fault::ZeroSign) && !promotes)
            && format.specials() != Specials::NegativeZeroIsNan;
        let is_negative = negative && (keeps_sign || code != 0);
        code as u32 | sign(format, is_negative)
    }

    fn promoted(&self, total: u32, reached: &mut Reached<'_>) -> u32 {
        let mut ignored = |_: &'static str, _: bool| {};
        let t = self.decode(FloatFormat::FLOAT32, total, &mut ignored);
        let a = self.decode(self.unit.dot.rule.result, self.acc, &mut ignored);
        if a.nan || t.nan || a.inf && t.inf && a.negative != t.negative {
            return FloatFormat::FLOAT32.nan().unwrap_or(0);
        }
        if a.inf || t.inf {
            let negative = if a.inf { a.negative } else { t.negative };
            return FloatFormat::FLOAT32.infinity(negative).unwrap_or(0);
        }
        let normal = |term: Term| {
            let zeros = term.leading().map_or(0, |leading| term.expo - leading);
            Term { sig: term.sig << zeros, expo: term.expo - zeros, ..term }
        };
        // Only subnormals of formats with a narrower exponent are normal here.
        let a = if self.unit.dot.rule.result.least_exponent() > ZERO { normal(a) } else { a };
        let expo = a.expo.max(t.expo);
        let shifted = |term: &Term, sticky: Fault, wraps: Fault| {
            let far = (expo - term.expo) as u32;
            let shift = if self.has(wraps) { far % 32 } else { far.min(27) };
            let wide = i128::from(term.sig) << (23 - term.frac) << 30 >> shift;
            let lost = wide & ((1 << 28) - 1) != 0;
            let kept = match self.has(sticky) {
                true => wide >> 27,
                false => wide >> 28 << 1 | i128::from(lost),
            };
            if term.negative { -kept } else { kept }
        };
        let total = shifted(&a, Fault::PromotionSticky, Fault::AccumulatorWraps)
            + shifted(&t, Fault::TotalSticky, Fault::TotalWraps);
        let sum = Sum { total, expo, bits: 26, is_promoted: true, ..Sum::default() };
        let round = match self.has(Fault::PromotionTruncated) {
            true => Rounding::TowardZero,
            false => Rounding::HalfEven,
        };
        self.encode(FloatFormat::FLOAT32, round, false, sum, reached)
    }

    fn special(&self, products: &[(usize, Term)], c: Term, reached: &mut Reached<'_>) -> Option<u32> {
        let rule = &self.unit.dot.rule;
        let apart = rule.incoming != Incoming::Term && !self.has(Fault::NeverBeyond);
        if c.nan {
            reached("nan_accumulator", false);
        }
        let c_nan = c.nan && !self.has(Fault::AccumulatorNanLost);
        let nan = c_nan || products.iter().any(|(_, term)| term.nan);
        let (mut infinite, mut beyond) = ([false; 2], [false; 2]);
        for term in products.iter().map(|(_, term)| term).chain([&c]) {
            infinite[usize::from(term.negative)] |= term.inf;
            beyond[usize::from(term.negative)] |= apart && term.is_beyond();
        }
        if infinite == [false; 2] && beyond != [false; 2] {
            reached("beyond", beyond[1]);
        }
        let found = if infinite == [false; 2] { beyond } else { infinite };
        if nan {
            return Some(rule.nan);
        }
        match found {
            [false, false] => None,
            [true, true] => {
                reached("nan_of_infinities", false);
                match self.has(Fault::InfinitiesAdd) {
                    true => Some(rule.result.overflowed(true, guardbit_num::FloatOverflow::Special)),
                    false => Some(rule.nan),
                }
            }
            [_, negative] => {
                reached("infinity", negative);
                Some(rule.result.overflowed(negative, guardbit_num::FloatOverflow::Special))
            }
        }
    }
}

/// Returns the sign bit of a code.
fn sign(format: FloatFormat, negative: bool) -> u32 {
    u32::from(negative) << (format.bits() - 1)
}

/// Returns the rounding of a fault.
fn wrong(rounding: Rounding) -> Rounding {
    match rounding {
        Rounding::TowardZero => Rounding::Floor,
        _ => Rounding::TowardZero,
    }
}

/// Returns a magnitude without its last `shift` bits, the first of these, and whether another one is 1.
fn split(magnitude: u128, shift: i32) -> (u128, bool, bool) {
    if shift <= 0 {
        return (magnitude << -shift, false, false);
    }
    let shift = shift.min(FAR + 20) as u32;
    let rest = magnitude & ((1 << (shift - 1)) - 1);
    (magnitude >> shift, magnitude >> (shift - 1) & 1 == 1, rest != 0)
}

impl Beat {
    /// Returns a cycle without a beat.
    pub fn bubble(lanes: usize) -> Self {
        Self {
            valid: false,
            clear: false,
            last: false,
            codes: vec![[0; 2]; lanes],
            keep: vec![false; lanes],
            scales: Vec::new(),
        }
    }
}
