//! Corner cases of the bias adder and the requantizer.

use guardbit_hwmodels::BiasPlace;
use guardbit_hwmodels::bounds::Range;
use guardbit_num::{Multiplier, Scheme};

use super::{Maker, Output};
use crate::beats::weight_side;
use crate::manifest::{Arithmetic, BiasAt};
use crate::reach::rails;

/// Returns sums and multipliers whose exact product lies below a tie by less than half a unit in the last
/// place of a float64.
fn float_ties() -> impl Iterator<Item = (i128, Multiplier)> {
    let odd = |from: i32, to: i32| (from..to).step_by(2);
    let tie = |sum: i32, half: i32| {
        let multiplier = Multiplier::new(f64::from(half) / 2.0 / f64::from(sum)).ok()?;
        let (significand, exponent) = multiplier.exact();
        let exact = u128::from(significand) * sum as u128;
        let is_below = exact < (half as u128) << (52 - exponent);
        let is_rounded = f64::from(sum) * multiplier.real() == f64::from(half) / 2.0;
        (is_below && is_rounded).then_some((sum.into(), multiplier))
    };
    odd(1, 8).flat_map(move |half| odd(129, 400).filter_map(move |sum| tie(sum, half)).take(2))
}

impl Maker<'_> {
    /// Adds ties of both parities and signs, clamp edges, and multipliers of 0 and almost 1.
    pub(super) fn requantize(&mut self) {
        for exponent in [1u32, 3, 7] {
            let Ok(multiplier) = Multiplier::new(0.5f64.powi(exponent as i32)) else { continue };
            let half = 1i128 << (exponent - 1);
            for odd in [1, 3, -1, -3, 5, -5] {
                let target = odd * half;
                self.scaled(format!("tie_{exponent}_{odd}"), "requantize_tie", target, multiplier);
                self.scaled(format!("below_tie_{exponent}_{odd}"), "requantize_tie", target - 1, multiplier);
            }
            let zero_point = match &self.layer.dots.finish {
                guardbit_graph::Finish::Requantize(stage) => stage.output_zero_point,
                guardbit_graph::Finish::Divide(_) => 0,
            };
            for code in [-129, -128, -127, 126, 127, 128, 255, 256] {
                let target = i128::from(code - zero_point) << exponent;
                self.scaled(format!("clamp_{exponent}_{code}"), "requantize_clamp", target, multiplier);
            }
        }
        for (label, real) in [("zero", 0.0), ("almost_one", 1.0 - f64::from(1u32 << 31).recip())] {
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

    /// Adds products just below a tie, which a float64 rounds to the tie.
    pub(super) fn requantize_float(&mut self) {
        let scheme = self.layer.exact_requantizers.first().map(|r| r.scheme());
        if scheme != Some(Scheme::Float64Away) {
            return;
        }
        for (index, (target, multiplier)) in float_ties().enumerate() {
            for sign in [1, -1] {
                let id = format!("float_tie_{index}_{}", sign * target);
                self.scaled(id, "requantize_float", sign * target, multiplier);
            }
        }
    }

    /// Adds a dot product whose requantizer input is `target`: it delivers `target` in the unit at the end of
    /// the datapath, with a bias of 0.
    fn scaled(&mut self, id: String, class: &str, target: i128, multiplier: Multiplier) {
        let (last, dropped) = self.last();
        let unit = 2f64.powi(self.layer.datapath.unit_shift(last + 1) as i32);
        let Ok(multiplier) = Multiplier::new(multiplier.real() / unit) else { return };
        if let Some(operands) = self.walk(last, &[target << dropped]).filter(|o| !o.is_empty()) {
            self.push(id, class, operands, Output::Scaled(multiplier));
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
        let (last, dropped) = self.last();
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
                let Some(operands) = self.walk(last, &[delivered << dropped]) else { continue };
                // Two steps, since each shows the neighbours of a sum from one side only.
                let activations: i128 = operands.iter().map(|o| o.activation).sum();
                let side = factor * activations + weight_side(self.layer, &operands);
                let bias = ((target - delivered) << shift) - side;
                if operands.is_empty() || !(ends.min..=ends.max).contains(&bias) {
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
            for (label, steps) in steps {
                if let Some(operands) = self.walk(last, &steps).filter(|o| !o.is_empty()) {
                    let id = format!("preload_{end}_{label}");
                    self.push(id, "preload", operands, Output::Biased(bias));
                }
            }
        }
    }
}
