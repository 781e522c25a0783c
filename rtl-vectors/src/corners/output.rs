//! Corner cases of the bias adder and the requantizer.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use guardbit_hwmodels::BiasPlace;
use guardbit_hwmodels::bounds::Range;
use guardbit_num::{Multiplier, Scheme};
use guardbit_sim::trace::TraceOperand;

use super::{Maker, Output};
use crate::beats::weight_side;
use crate::manifest::{Arithmetic, BiasAt};
use crate::reach::rails;

/// Greatest power of two of a multiplier that is greater than 1.
pub(super) const MOST_DOUBLINGS: i64 = 16;
/// Greatest multiplier of 31 bits below 1.
pub(super) const ALMOST_ONE: f64 = 1.0 - 1.0 / (1u32 << 31) as f64;

/// Returns sums and multipliers whose exact product lies below a tie by less than half a unit in the last
/// place of a float64. Sums are `from` or more, `count` per tie.
pub(super) fn float64_ties(from: i32, count: usize) -> impl Iterator<Item = (i128, Multiplier)> {
    let tie = |sum: i32, half: i32| {
        let multiplier = Multiplier::new(f64::from(half) / 2.0 / f64::from(sum)).ok()?;
        let is_rounded = f64::from(sum) * multiplier.real() == f64::from(half) / 2.0;
        (from_tie(sum, half, multiplier) == Ordering::Less && is_rounded).then_some((sum.into(), multiplier))
    };
    odd(1, 8).flat_map(move |half| odd(from, 400).filter_map(move |sum| tie(sum, half)).take(count))
}

/// Returns sums and multipliers whose exact product rounds to another integer than its float32, which is a tie.
fn float32_ties() -> impl Iterator<Item = (i128, Multiplier)> {
    let tie = |sum: i32, half: i32| {
        let real = half as f32 / 2.0 / sum as f32;
        let multiplier = Multiplier::new(real.into()).ok()?;
        let is_rounded = sum as f32 * real == half as f32 / 2.0;
        // The tie goes to the even neighbour, the exact product to the nearer one.
        let upwards = half / 2 % 2 == 1;
        let other = if upwards { Ordering::Less } else { Ordering::Greater };
        (is_rounded && from_tie(sum, half, multiplier) == other).then_some((sum.into(), multiplier))
    };
    odd(1, 16).flat_map(move |half| odd(3, 400).filter_map(move |sum| tie(sum, half)).take(2))
}

fn odd(from: i32, to: i32) -> impl Iterator<Item = i32> {
    (from..to).step_by(2)
}

/// Compares the exact product of a sum and a multiplier with `half` halves.
fn from_tie(sum: i32, half: i32, multiplier: Multiplier) -> Ordering {
    let (significand, exponent) = multiplier.exact();
    (u128::from(significand) * sum as u128).cmp(&((half as u128) << (52 - exponent)))
}

impl Maker<'_> {
    /// Adds ties of both parities and signs, clamp edges, and multipliers of 0 and almost 1.
    pub(super) fn requantize(&mut self, exp_max: i64) {
        let clamp = match &self.layer.dots.finish {
            guardbit_graph::Finish::Requantize(stage) => stage.clamp,
            guardbit_graph::Finish::Divide(_) => (i32::MIN, i32::MAX),
        };
        let around = |code: i32| [code.saturating_sub(1), code, code.saturating_add(1)];
        let zero_point = match &self.layer.dots.finish {
            guardbit_graph::Finish::Requantize(stage) => stage.output_zero_point,
            guardbit_graph::Finish::Divide(_) => 0,
        };
        let mut clamped = BTreeSet::new();
        let codes: BTreeSet<i32> = around(clamp.0).into_iter().chain(around(clamp.1)).collect();
        for exponent in [1u32, 3, 7] {
            let Ok(multiplier) = Multiplier::new(0.5f64.powi(exponent as i32)) else { continue };
            let half = 1i128 << (exponent - 1);
            for odd in [1, 3, -1, -3, 5, -5] {
                let target = odd * half;
                self.scaled(format!("tie_{exponent}_{odd}"), "requantize_tie", target, multiplier);
                self.scaled(format!("below_tie_{exponent}_{odd}"), "requantize_tie", target - 1, multiplier);
            }
            for code in codes.iter().copied() {
                let target = (i128::from(code) - i128::from(zero_point)) << exponent;
                let before = self.dots.len();
                self.scaled(format!("clamp_{exponent}_{code}"), "requantize_clamp", target, multiplier);
                if self.dots.len() > before {
                    clamped.insert(code);
                }
            }
        }
        // Clamps that no sum reaches with half of its size.
        if let Ok(multiplier) = Multiplier::new(ALMOST_ONE) {
            for code in codes {
                let target = i128::from(code) - i128::from(zero_point);
                if !clamped.contains(&code) {
                    let before = self.dots.len();
                    self.scaled(format!("clamp_0_{code}"), "requantize_clamp", target, multiplier);
                    if self.dots.len() > before {
                        clamped.insert(code);
                    }
                }
            }
        }
        // The upper clamp, with the layer's own sizes of multipliers, if no sum reaches it with smaller ones.
        for exponent in 1..=exp_max.min(MOST_DOUBLINGS) {
            let target = (i128::from(clamp.1) - i128::from(zero_point) - 1) / (1 << exponent) + 1;
            let Ok(multiplier) = Multiplier::new(ALMOST_ONE * 2f64.powi(exponent as i32)) else { continue };
            if clamp.1 > zero_point && !clamped.contains(&clamp.1) {
                let before = self.dots.len();
                let id = format!("clamp_up_{exponent}_{}", clamp.1);
                self.scaled(id, "requantize_clamp", target, multiplier);
                if self.dots.len() > before {
                    clamped.insert(clamp.1);
                }
            }
        }
        for (label, real) in [("zero", 0.0), ("almost_one", ALMOST_ONE)] {
            let Ok(multiplier) = Multiplier::new(real) else { continue };
            for target in [100, -100, 4097, -4097] {
                self.scaled(
                    format!("multiplier_{label}_{target}"),
                    "requantize_multiplier",
                    target,
                    multiplier,
                );
            }
        }
    }

    /// Adds products near a tie, which a float rounds to the tie.
    pub(super) fn requantize_float(&mut self, arithmetic: &Arithmetic) {
        match self.layer.exact_requantizers.first().map(|r| r.scheme()) {
            Some(Scheme::Float64Away) => {
                let before = self.dots.len();
                if self.greatest(arithmetic) >= 400 {
                    self.float_ties(float64_ties(129, 2));
                }
                if self.dots.len() == before {
                    self.float_ties(float64_ties(3, 2));
                }
            }
            Some(Scheme::Even) => self.float_ties(float32_ties()),
            _ => {}
        }
    }

    fn float_ties(&mut self, ties: impl Iterator<Item = (i128, Multiplier)>) {
        for (index, (target, multiplier)) in ties.enumerate() {
            for sign in [1, -1] {
                let id = format!("float_tie_{index}_{}", sign * target);
                self.scaled(id, "requantize_float", sign * target, multiplier);
            }
        }
    }

    /// Adds a dot product whose requantizer input is `target`: it delivers `target` in the unit at the end of
    /// the datapath, with a bias of 0, or a part of it, with a bias that makes up for the rest.
    pub(super) fn scaled(&mut self, id: String, class: &str, target: i128, multiplier: Multiplier) {
        let (last, _) = self.last();
        let unit = 2f64.powi(self.layer.datapath.unit_shift(last + 1) as i32);
        let Ok(multiplier) = Multiplier::new(multiplier.real() / unit) else { return };
        if let Some(operands) = self.delivering(target) {
            self.push(id, class, operands, Output::Scaled(multiplier, 0));
            return;
        }
        if self.has_sums_of_operands() {
            return;
        }
        let Some(ends) = self.biases() else { return };
        // Towards 0, so that the bias is one of the layer's range.
        let word = |target: i128, shift: u32| (target << shift).clamp(ends.min, ends.max) / (1 << shift);
        let (operands, bias) = match self.layer.datapath.bias.at {
            BiasPlace::Post => {
                let shift = self.layer.datapath.unit_shift(last + 1);
                let word = word(target, shift);
                (self.ending_or_nothing(target - word, 0), word << shift)
            }
            // The register starts from the bias.
            BiasPlace::Preload => {
                let shift = self.layer.datapath.unit_shift(last);
                let word = word(target << self.last().1, shift);
                (self.ending_or_nothing(target, word), word << shift)
            }
            BiasPlace::PostRequantize => return,
        };
        if let Some(operands) = operands {
            self.push(id, class, operands, Output::Scaled(multiplier, bias));
        }
    }

    /// Returns operands for which the last level delivers exactly `sum`; `None` if its register does not hold it, or
    /// if there are none.
    fn delivering(&self, sum: i128) -> Option<Vec<TraceOperand>> {
        self.ending(sum, 0)
    }

    /// Returns operands for which the last level, if it starts from `first`, delivers exactly `sum`; `None` if its register
    /// does not hold one of both, or if there are none.
    fn ending(&self, sum: i128, first: i128) -> Option<Vec<TraceOperand>> {
        self.ending_or_nothing(sum, first).filter(|_| sum << self.last().1 != first)
    }

    /// Returns the operands of [`ending`](Self::ending), or a product of 0 if `first` is the sum already.
    fn ending_or_nothing(&self, sum: i128, first: i128) -> Option<Vec<TraceOperand>> {
        let (last, dropped) = self.last();
        let value = sum << dropped;
        let limits = self.layer.datapath.levels[last].register.limits();
        if limits.is_some_and(|limits| !limits.contains(Range::point(value).hull(Range::point(first)))) {
            return None;
        }
        let operands = self.walk(last, &[value - first])?;
        Some(if operands.is_empty() { vec![self.ranges.zero()] } else { operands })
    }

    /// Returns the range of the layer's biases, including 0; `None` without biases.
    pub(super) fn biases(&self) -> Option<Range> {
        let biases = self.layer.bias.as_ref()?;
        Some(biases.iter().fold(Range::ZERO, |range, &bias| range.hull(Range::point(bias))))
    }

    /// Returns whether a multiple of a sum of operands is added with the bias.
    fn has_sums_of_operands(&self) -> bool {
        self.layer.input_sum_factor[0] != 0 || self.layer.weight_sum_factor != 0
    }

    /// Returns the size of the greatest sums that the last level delivers in both directions.
    fn greatest(&self, arithmetic: &Arithmetic) -> i128 {
        let (last, dropped) = self.last();
        let info = &arithmetic.levels[last];
        let limit = |bound: i64, rail: Option<i64>| {
            i128::from(bound).abs().min(rail.map_or(i128::MAX, |r| i128::from(r).abs()))
        };
        limit(info.bound_max, info.max).min(limit(info.bound_min, info.min)) >> dropped
    }

    /// Adds multipliers of every exponent of the layer's own, with sums of both signs.
    pub(super) fn exponents(&mut self, arithmetic: &Arithmetic) {
        let most = self.greatest(arithmetic);
        let requantize = &arithmetic.requantize;
        for exponent in requantize.exp_min.max(-40) as i32..=requantize.exp_max.min(0) as i32 {
            for (label, fraction) in [("least", 0.5), ("greatest", 1.0 - 2f64.powi(-24))] {
                let Ok(multiplier) = Multiplier::new(fraction * 2f64.powi(exponent)) else { continue };
                // About 50 steps of the output code from the zero point, if the sum reaches so far.
                let size = (50.0 / multiplier.real()).min(most as f64) as i128;
                for sign in [1, -1] {
                    let id = format!("exponent_{exponent}_{label}_{}", if sign > 0 { "up" } else { "down" });
                    self.scaled(id, "requantize_exponent", sign * size, multiplier);
                }
            }
        }
    }

    /// Adds sums and biases of opposite signs whose total lies around 0.
    pub(super) fn opposite_signs(&mut self, arithmetic: &Arithmetic) {
        let Some(ends) = self.biases().filter(|_| arithmetic.bias.at == BiasAt::POST) else { return };
        if self.has_sums_of_operands() {
            return;
        }
        let (last, dropped) = self.last();
        let shift = self.layer.datapath.unit_shift(last + 1);
        for (label, end) in [("up", ends.max >> shift), ("down", -(-ends.min >> shift))] {
            // The sum that takes the bias back, as far as the register holds one.
            let limits = self.layer.datapath.levels[last].register.limits();
            let bound =
                limits.map_or(-end << dropped, |limits| (-end << dropped).clamp(limits.min, limits.max));
            let Some(sum) = self.farthest(last, bound).map(|sum| sum >> dropped) else { continue };
            for (size, sum) in [("most", sum), ("half", sum / 2), ("few", sum / 16)] {
                for total in [-2, -1, 0, 1, 2] {
                    let bias = (total - sum) << shift;
                    let Some(operands) = self.delivering(sum) else { continue };
                    if (ends.min..=ends.max).contains(&bias) {
                        let id = format!("opposite_{label}_{size}_{total}");
                        self.push(id, "bias_opposite", operands, Output::Biased(bias));
                    }
                }
            }
        }
    }

    /// Returns the last level, and the number of bits that it drops.
    fn last(&self) -> (usize, u32) {
        let levels = &self.layer.datapath.levels;
        (levels.len() - 1, levels.last().map_or(0, |l| l.shift))
    }

    /// Adds results of the bias adder at and around its rails, and around those of an adder with one bit
    /// less, which only large biases approach. Several biases are used.
    pub(super) fn post_bias(&mut self, arithmetic: &Arithmetic) {
        let (Some(rails), Some(biases)) = (rails(&arithmetic.bias.register), &self.layer.bias) else {
            return;
        };
        if self.layer.datapath.bias.at != BiasPlace::Post {
            return;
        }
        let ends = Range {
            min: biases.iter().copied().min().unwrap_or(0).min(0),
            max: biases.iter().copied().max().unwrap_or(0).max(0),
        };
        let (last, _) = self.last();
        let shift = self.layer.datapath.unit_shift(last + 1);
        let factor = i128::from(self.layer.input_sum_factor[0]);
        let beyond = (rails.max - rails.min) / 4;
        let halves = [("half_max", rails.max >> 1, 1), ("half_min", rails.min / 2, -1)];
        let edges = [("max", rails.max, 1), ("min", rails.min, -1)].into_iter().chain(halves);
        let near = edges.flat_map(|(rail, edge, out)| {
            let distances = [("inside", -out), ("at", 0), ("beyond", out), ("far", beyond * out)];
            distances.map(|(label, distance)| (format!("{rail}_{label}"), edge + distance))
        });
        let targets = near.chain([("zero".into(), 0), ("minus_one".into(), -1)]);
        for (label, target) in targets.collect::<Vec<_>>() {
            for (number, bias) in [ends.max, ends.min, ends.max / 2, ends.min / 2].into_iter().enumerate() {
                let delivered = target - (bias >> shift);
                let Some(operands) = self.delivering(delivered) else { continue };
                // Two steps, since each shows the neighbours of a sum from one side only.
                let activations: i128 = operands.iter().map(|o| o.activation).sum();
                let side = factor * activations + weight_side(self.layer, &operands);
                let bias = ((target - delivered) << shift) - side;
                if !(ends.min..=ends.max).contains(&bias) {
                    continue;
                }
                for side in ["up", "down"] {
                    let id = format!("bias_{label}_{number}_{side}");
                    self.push(id, "bias_boundary", operands.clone(), Output::Biased(bias));
                }
            }
        }
    }

    /// Adds runs of a register that starts with a bias, the least and the greatest one: from there to the
    /// rails and back.
    pub(super) fn preload(&mut self, arithmetic: &Arithmetic) {
        let (last, _) = self.last();
        let Some(biases) = self.layer.bias.as_ref().filter(|_| arithmetic.bias.at == BiasAt::PRELOAD) else {
            return;
        };
        let shift = self.layer.datapath.unit_shift(last);
        let round = self.layer.datapath.unit_rounding(last);
        let rails = rails(&arithmetic.levels[last].register);
        let ends = [("max", biases.iter().max(), 1), ("min", biases.iter().min(), -1)];
        for (end, bias, out) in ends {
            let Some(&bias) = bias else { continue };
            let start = round.shift_right(bias, shift);
            let mut steps = vec![("stays", vec![out, -out]), ("inwards", vec![-3 * out])];
            for (label, rail) in rails.iter().flat_map(|r| [("max", r.max), ("min", r.min)]) {
                let out = if label == "max" { 1 } else { -1 };
                steps.push((label, vec![rail - start, out, -3 * out]));
            }
            for (label, half) in
                rails.iter().flat_map(|r| [("half_max", r.max >> 1), ("half_min", r.min / 2)])
            {
                let out = if label == "half_max" { 1 } else { -1 };
                steps.push((label, vec![half + out - start]));
            }
            for (label, rail) in rails.iter().flat_map(|r| [("max", r.max), ("min", r.min)]) {
                let operands = self.farthest_operands(last, rail - start);
                if !operands.is_empty() {
                    let id = format!("preload_{end}_farthest_{label}");
                    self.push(id, "preload", operands, Output::Biased(bias));
                }
            }
            for (label, steps) in steps {
                if let Some(operands) = self.walk(last, &steps).filter(|o| !o.is_empty()) {
                    let id = format!("preload_{end}_{label}");
                    self.push(id, "preload", operands, Output::Biased(bias));
                }
            }
        }
    }
}
