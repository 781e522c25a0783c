//! Scales of blocks in the model, as in `gb_aligned_block.sv`.

use guardbit_num::FloatFormat;

use super::super::fault::Fault;
use super::super::formats::has_zero;
use super::super::unit::Scales;
use super::{Beat, Model, Reached, Term};

impl Model {
    /// Returns the terms of a beat: products, or groups of them, times their scales.
    pub(super) fn scaled(
        &self,
        scales: Scales,
        beat: &Beat,
        products: &[(usize, Term)],
        reached: &mut Reached<'_>,
    ) -> Vec<(usize, Term)> {
        let group = self.unit.group();
        let terms = self.unit.terms() - usize::from(self.has(Fault::LaneMissed));
        let mut exponents: Vec<i32> = Vec::new();
        let mut all = Vec::new();
        for slot in 0..terms {
            let lanes = slot * group..(slot + 1) * group;
            let count = beat.keep[lanes.clone()].iter().filter(|&&keep| keep).count();
            if count == 0 && !self.has(Fault::KeepIgnored) {
                continue;
            }
            let own = match scales.group {
                None => products[slot].1,
                Some(_) => {
                    let kept: Vec<Term> = lanes
                        .filter(|&lane| beat.keep[lane] || self.has(Fault::GroupKeepIgnored))
                        .map(|lane| products[lane].1)
                        .collect();
                    self.exact(&kept, reached)
                }
            };
            if count < group && count > 0 {
                reached("group_short", false);
            }
            let mut codes = beat.scales[slot];
            if self.has(Fault::ScaleShared) {
                codes[0] = beat.scales[0][0];
            }
            let mut ignored = |_: &'static str, _: bool| {};
            let term = self.times_scales(scales, own, codes, if count > 0 { reached } else { &mut ignored });
            if term.sig != 0 && !term.nan {
                exponents.push(term.expo - own.expo);
            }
            all.push((slot, term));
        }
        let (least, most) = (exponents.iter().min(), exponents.iter().max());
        if let (Some(least), Some(most)) = (least, most)
            && most - least > self.unit.dot.rule.fraction_bits as i32
        {
            reached("scales_apart", false);
        }
        all
    }

    /// Returns the exact sum of products of finite codes.
    fn exact(&self, products: &[Term], reached: &mut Reached<'_>) -> Term {
        let formats = [self.unit.activation, self.unit.weight];
        let least: i32 = formats.map(FloatFormat::least_exponent).iter().sum();
        let frac = products.first().map_or(0, |term| term.frac);
        let value = |term: &Term| {
            // A smaller exponent wraps to a long distance.
            let value =
                u32::try_from(term.expo - least).map_or(0, |shift| i128::from(term.sig) << shift.min(60));
            if term.negative { -value } else { value }
        };
        let mut total: i128 = products.iter().map(value).sum();
        if total == 0 && products.iter().any(|term| term.sig != 0) {
            reached("group_cancelled", false);
        }
        if self.has(Fault::GroupCarryLost) {
            let unused = i128::BITS - (self.unit.group_bits() - 1);
            total = total << unused >> unused;
        }
        let (inf, nan) = (false, false);
        Term { negative: total < 0, sig: total.unsigned_abs() as u64, frac: frac - least, expo: 0, inf, nan }
    }

    /// Returns a term times its scales.
    fn times_scales(&self, scales: Scales, own: Term, codes: [u32; 2], reached: &mut Reached<'_>) -> Term {
        let mut decoded = [own; 2];
        for (side, format) in scales.formats.into_iter().enumerate() {
            let code = codes[side];
            decoded[side] = match has_zero(format) {
                1 => self.decode(format, code, reached),
                _ => Term {
                    negative: false,
                    sig: 1,
                    frac: 0,
                    expo: code as i32 + format.least_exponent(),
                    inf: false,
                    nan: Some(code) == format.nan(),
                },
            };
            let scale = decoded[side];
            if scale.nan {
                reached(["nan_activation_scale", "nan_weight_scale"][side], false);
            } else if scale.sig == 0 {
                reached("zero_scale", false);
            } else if code == has_zero(format) {
                reached("least_scale", false);
            } else if code == format.largest() {
                reached("largest_scale", false);
            }
        }
        let [a, w] = decoded;
        let a_sig = match self.has(Fault::ScaleFractionDropped) {
            true => a.sig >> a.frac << a.frac,
            false => a.sig,
        };
        let mut expo = own.expo + w.expo;
        if !self.has(Fault::ScaleExponentDropped) {
            expo += a.expo;
        }
        if self.has(Fault::ScaleExponentWraps) {
            expo = i32::from(expo as i8);
        }
        let nan = if self.has(Fault::ScaleNanLost) { a.nan && w.nan } else { a.nan || w.nan };
        Term {
            sig: own.sig * a_sig * w.sig,
            frac: own.frac + a.frac + w.frac,
            expo,
            nan: own.nan || nan,
            ..own
        }
    }
}
