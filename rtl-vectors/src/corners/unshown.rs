//! Cases for what no other case shows: the upper clamp, rails of the multiplier's register, width and mode of the bias adder, a
//! clear in the middle of a dot product, and a reset while a sticky flag is set. Rarer ones are in `rare`.

use guardbit_hwmodels::bounds::Range;
use guardbit_hwmodels::{Check, MacLayer};
use guardbit_num::{Format, Multiplier, Overflow};
use guardbit_sim::trace::{StepKind, TraceOperand, trace_observed};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

use super::output::{ALMOST_ONE, MOST_DOUBLINGS};
use super::{Maker, Output};
use crate::arithmetic::one_channel;
use crate::beats::{Beats, Dot, LevelState, VALID, bias_input};
use crate::coverage::Aim;
use crate::manifest::{Arithmetic, BiasAt};
use crate::reach::{Reach, format, rails};

/// Number of pairs of dot products that are tried for a clear.
const TRIED: usize = 256;
/// Greatest distance from a rail at which a product is looked for.
const NEAR: i128 = 1 << 9;
/// Number of sums that are tried for another register of the bias adder.
const ATTEMPTS: usize = 6;
/// A bench resets after an overflow once this part of the beats is sent.
const RESET_AFTER: usize = 4;

/// Returns cases of `layer` that show what `dots` do not show. They come last.
pub(crate) fn unshown(layer: &MacLayer, arithmetic: &Arithmetic, dots: &[Dot], seed: u64) -> Vec<Dot> {
    let mut maker = Maker::new(layer, arithmetic);
    let mut random = Pcg64Mcg::seed_from_u64(seed ^ 4);
    let mut beats = Beats::new(maker.lanes, arithmetic.levels.len());
    let ends: Vec<usize> = dots
        .iter()
        .map(|dot| {
            beats.send(dot, arithmetic, &mut random, &mut |_| ());
            beats.len()
        })
        .collect();
    if !beats.codes.contains(&arithmetic.requantize.clamp_max) {
        maker.upper_clamp(arithmetic, &mut random);
    }
    maker.product_beyond(arithmetic);
    maker.bias_register(arithmetic, dots, &beats, &mut random);
    if !dots.windows(2).any(|pair| maker.shows_clear(arithmetic, &pair[0], &pair[1])) {
        maker.clear(arithmetic, &mut random);
    }
    maker.reset_of_flag(arithmetic, dots, &beats, &ends);
    maker.flag_of_loaded(arithmetic, &beats, &mut random);
    maker.float64(arithmetic, dots, &mut random);
    maker.dots
}

impl Maker<'_> {
    /// Adds a sum whose code is the upper clamp, if a search finds one.
    fn upper_clamp(&mut self, arithmetic: &Arithmetic, random: &mut Pcg64Mcg) {
        let requantize = &arithmetic.requantize;
        let doublings = requantize.exp_max.clamp(0, MOST_DOUBLINGS);
        let above = i128::from(requantize.clamp_max) - i128::from(requantize.zero_point);
        // The bias adder may do anything with what it does not hold.
        let most = rails(&arithmetic.bias.register).map_or(i128::MAX >> 8, |rails| rails.max);
        let least = (above.max(0) + (1 << doublings) - 1) >> doublings;
        let unit = self.layer.datapath.unit_shift(self.layer.datapath.levels.len()) as i32;
        let real = ALMOST_ONE * 2f64.powi(doublings as i32 - unit);
        let Ok(multiplier) = Multiplier::new(real) else { return };
        if !requantize.in_rtl || least > most {
            return;
        }
        let aim = Aim::of_output(Range { min: least, max: most });
        let Some((operands, output)) = self.climb(&aim, self.biases(), random) else { return };
        let bias = if let Output::Biased(bias) = output { bias } else { 0 };
        self.push("clamp_found".into(), "requantize_clamp", operands, Output::Scaled(multiplier, bias));
    }

    /// Adds products beyond the rails of the multiplier's register, where the first level alone would not show these rails: it
    /// holds the rail at its own, so that one unit more overflows.
    fn product_beyond(&mut self, arithmetic: &Arithmetic) {
        let (product, level) = (&arithmetic.product, &arithmetic.levels[0]);
        let is_plain =
            product.shift == 0 && level.check == Check::EachAdd && !level.reduce.takes_run_at_once();
        let (Some(product), Some(level), true) = (rails(product), rails(&level.register), is_plain) else {
            return;
        };
        for (name, rail, edge, out) in
            [("max", product.max, level.max, 1), ("min", product.min, level.min, -1)]
        {
            let beyond = (1..NEAR).find_map(|distance| self.ranges.product(rail + out * distance));
            let before = self.walk(0, &[edge - rail]);
            let is_hidden = out * rail > out * edge && (level.min..=level.max).contains(&(edge - rail));
            let (Some(beyond), Some(mut operands), true) = (beyond, before, is_hidden) else { continue };
            operands.push(beyond);
            self.add(format!("product_{name}_seen"), "product_boundary", operands);
        }
    }

    /// Adds sums of the bias adder whose codes differ if it has another width or mode, for every one of these that `dots` do not
    /// show.
    fn bias_register(&mut self, arithmetic: &Arithmetic, dots: &[Dot], beats: &Beats, random: &mut Pcg64Mcg) {
        let info = &arithmetic.bias.register;
        let reach = Reach::new(arithmetic, self.layer.order.len()).bias;
        let (Some((format, mode)), Some(reach), true) = (format(info), reach, arithmetic.requantize.in_rtl)
        else {
            return;
        };
        let held = |(format, mode): (Format, Overflow), sum: i128| {
            let unused = 128 - info.port_bits;
            mode.fit(sum, format).value << unused >> unused
        };
        let code = |layer: &MacLayer, sum: i128| {
            let requantize = &arithmetic.requantize;
            let code = layer.requantizers[0].requantize(sum, requantize.zero_point.into());
            code.clamp(requantize.clamp_min.into(), requantize.clamp_max.into())
        };
        let shows = |other: (Format, Overflow), layer: &MacLayer, sum: i128| {
            let [own, other] = [(format, mode), other].map(|register| held(register, sum));
            own != other && code(layer, own) != code(layer, other)
        };
        let width = |bits: u32| Format::new(bits, format.is_signed()).ok();
        let modes = [Overflow::Wrap, Overflow::Saturate, Overflow::SaturateSymmetric];
        let others = modes.map(|other| Some((format, other))).into_iter();
        let others =
            others.chain([format.bits() - 1, format.bits() + 1].map(|bits| Some((width(bits)?, mode))));
        let unit = self.layer.datapath.unit_shift(self.layer.datapath.levels.len()) as i32;
        let scaled = (0..=16).step_by(2).filter_map(|shift| {
            let multiplier = Multiplier::new(ALMOST_ONE * 2f64.powi(-shift - unit)).ok()?;
            Some((multiplier, one_channel(self.layer, 0, Some(multiplier))))
        });
        let multipliers: Vec<_> = scaled.collect();
        let rails = Range { min: format.min(), max: format.max() };
        let span = rails.max - rails.min;
        let finished = || dots.iter().filter(|dot| dot.cut_after.is_none()).zip(&beats.sums);
        for other in others.flatten() {
            let is_shown = |(dot, sum): (&Dot, &i64)| {
                shows(other, &dot.layer, i128::from(*sum) + i128::from(bias_input(dot)))
            };
            if finished().any(is_shown) {
                continue;
            }
            // Beside the rails of this register and of one of half the size, then farther away.
            let edges = [(rails.max, 1), (rails.min, -1), (rails.max / 2, 1), (rails.min / 2, -1)];
            let sums = (0..64).flat_map(|step| {
                let far = if step < 4 { step } else { step * span / 32 };
                edges.map(|(edge, out)| edge + out * far)
            });
            let sums = sums.chain([reach.min, reach.max]).filter(|sum| (reach.min..=reach.max).contains(sum));
            // Between two codes, if both registers hold numbers of one sign.
            let between = |sum: i128| {
                let size: i128 =
                    [(format, mode), other].map(|register| held(register, sum).abs()).iter().sum();
                let real = move |k: u32| f64::from(2 * k + 1) / size as f64;
                let reals = (0..64).map(real).filter(|real| *real <= 1.0);
                reals.filter_map(move |real| Multiplier::new(real * 2f64.powi(-unit)).ok())
            };
            let mut found = sums.flat_map(|sum| {
                let shown = multipliers.iter().find(|(_, layer)| shows(other, layer, sum));
                let between =
                    || between(sum).find(|&one| shows(other, &one_channel(self.layer, 0, Some(one)), sum));
                let multiplier = shown.map(|(multiplier, _)| *multiplier).or_else(between);
                multiplier.map(|multiplier| (sum, multiplier))
            });
            let case = found.by_ref().take(ATTEMPTS).find_map(|(sum, multiplier)| {
                let aim = Aim::of_output(Range::point(sum));
                let (operands, output) = self.climb(&aim, self.biases(), random)?;
                Some((operands, multiplier, if let Output::Biased(bias) = output { bias } else { 0 }))
            });
            if let Some((operands, multiplier, bias)) = case {
                let id = format!("bias_found_{}", self.dots.len());
                self.push(id, "bias_boundary", operands, Output::Scaled(multiplier, bias));
            }
        }
    }

    /// Adds a dot product that is cut off, and one whose result would differ if it went on from there.
    fn clear(&mut self, arithmetic: &Arithmetic, random: &mut Pcg64Mcg) {
        let (lanes, before) = (self.lanes, self.dots.len());
        let few = (0..12).map(|size| self.few(self.terms, size));
        let mut candidates: Vec<_> = few.flatten().map(|all| [all.clone(), all]).collect();
        for _ in 0..TRIED {
            if lanes < self.terms {
                candidates.push([(); 2].map(|()| self.random(random)));
            }
        }
        for [first, second] in candidates {
            for cut in 1..first.len().div_ceil(lanes).min(4) {
                let class = "clear_mid_burst";
                self.push("cut_found".into(), class, first.clone(), Output::Visible);
                if let Some(dot) = self.dots.last_mut() {
                    dot.cut_after = Some(cut);
                }
                let short = second[..second.len().min(2 * lanes)].to_vec();
                self.push("after_cut_found".into(), class, short, Output::Visible);
                match &self.dots[before..] {
                    [cut, after] if self.shows_clear(arithmetic, cut, after) => return,
                    _ => self.dots.truncate(before),
                }
            }
        }
    }

    /// Returns whether a serial level holds something else after the first beat of `next` if it does not start anew after
    /// `cut`, which is cut off.
    fn shows_clear(&self, arithmetic: &Arithmetic, cut: &Dot, next: &Dot) -> bool {
        let Some(beats) = cut.cut_after else { return false };
        // Per level, what a run that is not complete holds, and whether it overflowed.
        let mut held = vec![None; arithmetic.levels.len()];
        trace_observed(&cut.layer, 0, &cut.operands, &mut |step| {
            if step.last_k < beats * self.lanes {
                let stuck = held[step.level].is_some_and(|(_, stuck)| stuck) || step.overflow.is_some();
                held[step.level] = (step.kind == StepKind::Add).then_some((step.value, stuck));
            }
        });
        let mut differs = vec![None; held.len()];
        trace_observed(&next.layer, 0, &next.operands, &mut |step| {
            let info = &arithmetic.levels[step.level];
            // A level that gets nothing in the first beat starts anew in any case.
            let is_first =
                differs[step.level].is_none() && step.kind == StepKind::Add && step.last_k < self.lanes;
            let Some((value, stuck)) = held[step.level].filter(|_| is_first) else { return };
            let loads = arithmetic.bias.at == BiasAt::PRELOAD && step.level + 1 == held.len();
            let register = format(&info.register).filter(|_| info.check == Check::EachAdd);
            let fit = |value: i128| register.map(|(format, mode)| mode.fit(value, format)).ok_or(value);
            let first = if loads {
                fit(bias_input(next).into()).map_or_else(|value| value, |fit| fit.value)
            } else {
                0
            };
            let latches = register.is_some_and(|(_, mode)| mode.latches());
            let hides = info.reduce.takes_run_at_once() || latches && stuck;
            differs[step.level] = Some(!hides && fit(step.result) != fit(step.result - first + value));
        });
        differs.contains(&Some(true))
    }

    /// Repeats a dot product that sets a sticky flag, unless the last level with one shows it late enough for a bench to reset
    /// it there.
    fn reset_of_flag(&mut self, arithmetic: &Arithmetic, dots: &[Dot], beats: &Beats, ends: &[usize]) {
        let levels = arithmetic.levels.iter().zip(&beats.states).rev();
        let mut flags =
            levels.filter(|(level, _)| !level.reduce.takes_run_at_once()).map(|(_, states)| states);
        let Some((states, last)) =
            flags.find_map(|states| Some((states, states.iter().rposition(|state| state.sticky)?)))
        else {
            return;
        };
        // The beat after the flag is one that a reset can take the place of.
        let is_late = |&(beat, state): &(usize, &LevelState)| {
            let next = beats.ctrl.get(beat + 1).is_some_and(|ctrl| ctrl >> VALID & 1 == 1);
            state.sticky && next && beat >= beats.len() / RESET_AFTER
        };
        if states.iter().enumerate().any(|state| is_late(&state)) {
            return;
        }
        let number = ends.partition_point(|&end| end <= last);
        let Some(dot) = dots.get(number) else { return };
        // The bench resets with the beat that follows.
        let zeros = vec![self.ranges.zero()];
        self.dots.push(Dot { id: "flag_late".into(), class: "clear_after_overflow".into(), ..dot.clone() });
        let clean = if self.ranges.allows(zeros[0]) { zeros } else { dot.operands.clone() };
        self.push("flag_cleared".into(), "clear_after_overflow", clean, Output::Visible);
    }

    /// Returns `count` products of a few units times `2^size` each; `None` if a product is none of the layer's operands.
    pub(super) fn few(&self, count: usize, size: u32) -> Option<Vec<TraceOperand>> {
        let values = [3i128, -1, 5, 2, -4].into_iter().cycle().take(count);
        values.map(|value| Some(self.ranges.solve(value << size, 1, 1)?[0])).collect()
    }
}
