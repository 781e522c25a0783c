//! Cases for what few sums or biases show: rounding in float64, and a flag of a register that starts from a bias.

use guardbit_hwmodels::MacLayer;
use guardbit_hwmodels::bounds::Range;
use guardbit_num::{Multiplier, Scheme};
use guardbit_sim::trace::{StepKind, trace, trace_observed};
use rand_pcg::Pcg64Mcg;

use super::output::float64_ties;
use super::{Maker, Output};
use crate::arithmetic::one_channel;
use crate::beats::{Beats, Dot, bias_word};
use crate::coverage::Aim;
use crate::manifest::{Arithmetic, BiasAt};
use crate::reach::rails;

/// Number of sums per tie that are tried.
const SUMS: usize = 8;
/// Number of sums that a search looks for.
const SEARCHED: usize = 6;
/// Number of dot products that are tried for a flag.
const TRIED: usize = 256;

/// Returns whether a sum shows a product that is not rounded to float64, and a multiplier that is cut to 31 bits.
fn shows(arithmetic: &Arithmetic, layer: &MacLayer, sum: i128) -> [bool; 2] {
    let requantize = &arithmetic.requantize;
    let zero_point = i128::from(requantize.zero_point);
    let clamped = |code: i128| code.clamp(requantize.clamp_min.into(), requantize.clamp_max.into());
    let code = clamped(layer.requantizers[0].requantize(sum, zero_point));
    let (significand, exponent) = layer.requantizers[0].multiplier().exact();
    let shift = 53 - exponent;
    if !(1..64).contains(&shift) || sum.unsigned_abs() >> 53 != 0 {
        return [false; 2];
    }
    let exact = (u128::from(significand) * sum.unsigned_abs() + (1u128 << (shift - 1))) >> shift;
    let cut = (sum as f64 * (significand >> 22 << 22) as f64 * 2f64.powi(-shift)).round();
    [exact as i128 * sum.signum(), cut as i128].map(|scaled| clamped(scaled + zero_point) != code)
}

impl Maker<'_> {
    /// Adds sums for which a product in float64 differs from the exact one, and one with a multiplier of 31 bits, unless `dots`
    /// show both.
    pub(super) fn float64(&mut self, arithmetic: &Arithmetic, dots: &[Dot], random: &mut Pcg64Mcg) {
        let scheme = self.layer.exact_requantizers.first().map(|r| r.scheme());
        if !arithmetic.requantize.in_rtl || scheme != Some(Scheme::Float64Away) {
            return;
        }
        let mut left = [true; 2];
        let mut note = |dot: &Dot| {
            let sum = trace(&dot.layer, 0, &dot.operands).biased;
            let before = left;
            let found = shows(arithmetic, &dot.layer, sum);
            left = [left[0] && !found[0], left[1] && !found[1]];
            (left != before, left == [false; 2])
        };
        if dots.iter().filter(|dot| dot.cut_after.is_none()).any(|dot| note(dot).1) {
            return;
        }
        let unit = 2f64.powi(self.layer.datapath.unit_shift(self.layer.datapath.levels.len()) as i32);
        let mut searched = 0;
        for (sum, real) in float64_ties(3, SUMS).flat_map(|(sum, real)| [(sum, real), (-sum, real)]) {
            let Ok(multiplier) = Multiplier::new(real.real() / unit) else { continue };
            if shows(arithmetic, &one_channel(self.layer, 0, Some(multiplier)), sum) == [false; 2] {
                continue;
            }
            let before = self.dots.len();
            self.scaled(format!("float_found_{sum}"), "requantize_float", sum, real);
            if self.dots.len() == before && searched < SEARCHED {
                searched += 1;
                let aim = Aim::of_output(Range::point(sum));
                if let Some((operands, output)) = self.climb(&aim, self.biases(), random) {
                    let bias = if let Output::Biased(bias) = output { bias } else { 0 };
                    let id = format!("float_found_{sum}");
                    self.push(id, "requantize_float", operands, Output::Scaled(multiplier, bias));
                }
            }
            match self.dots.last().filter(|_| self.dots.len() > before).map(&mut note) {
                Some((_, true)) => return,
                Some((false, _)) => self.dots.truncate(before),
                _ => {}
            }
        }
    }

    /// Adds a dot product whose last level starts from a bias within its rails and overflows later, and one without an
    /// overflow, unless the flag is set in some beat. A bias beyond the rails sets none.
    pub(super) fn flag_of_loaded(&mut self, arithmetic: &Arithmetic, beats: &Beats, random: &mut Pcg64Mcg) {
        let last = arithmetic.levels.len() - 1;
        let info = &arithmetic.levels[last];
        let is_shown = info.reduce.takes_run_at_once() || beats.states[last].iter().any(|state| state.sticky);
        let (Some(rails), Some(ends), BiasAt::PRELOAD, false) =
            (rails(&info.register), self.biases(), arithmetic.bias.at, is_shown)
        else {
            return;
        };
        let shift = self.layer.datapath.unit_shift(last);
        let mut layer = one_channel(self.layer, 0, None);
        for tried in 0..TRIED {
            let operands = if tried % 2 == 0 { self.alternating(random) } else { self.random(random) };
            for rail in [rails.max, rails.min] {
                layer.bias = Some(vec![0]);
                let side = bias_word(&layer, &operands);
                let bias = ((rail - side) << shift).clamp(ends.min, ends.max);
                layer.bias = Some(vec![bias]);
                let mut is_set = false;
                trace_observed(&layer, 0, &operands, &mut |step| {
                    is_set |= step.level == last && step.kind == StepKind::Add && step.overflow.is_some();
                });
                if !is_set {
                    continue;
                }
                // Twice, so that one comes after the beats in which a bench does not reset yet.
                for _ in 0..2 {
                    let class = "clear_after_overflow";
                    self.push("flag_found".into(), class, operands.clone(), Output::Biased(bias));
                    self.push("flag_cleared".into(), class, vec![self.ranges.zero()], Output::Biased(0));
                }
                return;
            }
        }
    }
}
