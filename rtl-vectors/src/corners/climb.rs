//! Directed search: changes one operand after the other until a dot product shows what is wanted.
//!
//! The distance of a dot product is that of its nearest sum. A change of a product changes the sums after it by the same
//! amount, as long as nothing is clamped or rounded, so most aims need few steps.

use guardbit_hwmodels::bounds::Range;
use guardbit_hwmodels::{BiasPlace, MacLayer};
use guardbit_num::Overflow;
use guardbit_sim::trace::{StepKind, TraceOperand, trace_observed};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

use super::{Maker, Output};
use crate::arithmetic::one_channel;
use crate::beats::bias_word;
use crate::coverage::{Aim, Miss};

/// Greatest number of products of all dot products that are tried for one aim.
const PRODUCTS: usize = 1 << 19;
/// Greatest number of dot products that are tried for one aim.
const TRIED: usize = 1 << 13;
/// Number of changes without progress after which the search starts anew.
const PATIENCE: usize = 256;
/// Number of weights that are tried for a wanted product.
const WEIGHTS: usize = 24;

/// Greatest number of weights of which all are tried.
const ALL_WEIGHTS: usize = 1 << 9;
/// Distance at which the search looks more closely.
const CLOSE: i128 = 16;
/// Number of dot products that are tried there.
const CLOSE_TRIED: usize = 1 << 11;
/// Greatest multiple of a register's range by which products that it wraps are looked for.
const TURNS: i128 = 4;
/// Greatest distance from a rail at which a product is looked for.
const NEAR: i128 = 1 << 9;

/// What changes of a dot product aim at.
struct Moves {
    /// Low bits of a product that are dropped on the way to the aim's level.
    unit: u32,
    /// Pairs with the least and the greatest product that the multiplier's register holds.
    ends: [TraceOperand; 2],
    /// Rails on the way, as products.
    rails: Vec<i128>,
    /// Whether every weight is tried for a wanted product.
    tries_all: bool,
    /// What products may differ by and leave the same value in the multiplier's register, 0 first.
    turns: Vec<i128>,
}

/// Returns a number from 0 to `count - 1`.
fn below(random: &mut Pcg64Mcg, count: usize) -> usize {
    (random.next_u64() % count.max(1) as u64) as usize
}

impl Maker<'_> {
    /// Returns the operands of a dot product that reaches `aim`, and what follows it. Where biases matter, one of `biases` is
    /// used; without these, the bias is 0.
    pub(super) fn climb(
        &self,
        aim: &Aim,
        biases: Option<Range>,
        random: &mut Pcg64Mcg,
    ) -> Option<(Vec<TraceOperand>, Output)> {
        let found = self.climb_by_changes(aim, biases, random);
        found.or_else(|| Some((self.exactly(aim)?, Output::Visible)))
    }

    fn climb_by_changes(
        &self,
        aim: &Aim,
        biases: Option<Range>,
        random: &mut Pcg64Mcg,
    ) -> Option<(Vec<TraceOperand>, Output)> {
        let levels = &self.layer.datapath.levels;
        let biases = biases.filter(|_| aim.level().is_none_or(|level| level + 1 == levels.len()));
        let mut layer = one_channel(self.layer, 0, None);
        if let Some(all) = layer.bias.as_mut() {
            all[0] = 0;
        }
        let miss = |layer: &MacLayer, operands: &[TraceOperand]| {
            let mut watch = aim.watch();
            let trace = trace_observed(layer, 0, operands, &mut |step| watch.step(step));
            let is_added = layer.datapath.bias.at == BiasPlace::Post;
            watch.biased(trace.delivered + if is_added { bias_word(layer, operands) } else { 0 });
            watch.miss()
        };
        let distance = |miss: Option<Miss>| miss.map_or(i128::MAX, |miss| miss.distance);
        let dropped: u32 = levels[..aim.level().unwrap_or(levels.len())].iter().map(|l| l.shift).sum();
        let unit = dropped + self.layer.datapath.product.shift;
        let mut moves = Moves {
            unit,
            ends: self.held_ends(),
            rails: self.rails(aim.level()),
            tries_all: false,
            turns: self.turns().collect(),
        };
        let mut budget = TRIED.min(PRODUCTS / self.terms.max(1));
        let all = moves.ends.map(|end| vec![end; self.terms]);
        let plain = self.routes(aim, 0, 3).into_iter().chain(all).map(|operands| (operands, None));
        // Of a register that starts from a bias, each way from each bias.
        let from_biases = biases.into_iter().flat_map(|range| {
            [0, range.min, range.max].into_iter().flat_map(|bias| {
                let first = self.layer.datapath.unit_rounding(levels.len() - 1).shift_right(bias, unit);
                // Some end beyond the second rail.
                let ways = self.routes(aim, first, 3).into_iter().chain(self.routes(aim, first, 2));
                ways.map(move |operands| (operands, Some(bias)))
            })
        });
        let full = self.full_values(aim).into_iter().map(|operands| (operands, Some(0)));
        let output = |layer: &MacLayer| match (biases, &layer.bias) {
            (Some(_), Some(all)) => Output::Biased(all[0]),
            _ => Output::Visible,
        };
        let mut starts = plain.chain(from_biases).chain(full);
        let mut nearest: Option<(i128, Vec<TraceOperand>, Option<Vec<i128>>)> = None;
        while budget > 0 {
            let (mut operands, bias) = match starts.next() {
                Some(start) => start,
                None if aim.is_route() && below(random, 2) == 0 => (self.alternating(random), None),
                None => (self.random(random), None),
            };
            if let (Some(range), Some(all)) = (biases, layer.bias.as_mut()) {
                all[0] = bias.unwrap_or_else(|| [0, range.min, range.max][below(random, 3)]);
            }
            let mut now = miss(&layer, &operands);
            let mut waited = 0;
            while waited < PATIENCE && budget > 0 {
                if distance(now) == 0 {
                    return Some((operands, output(&layer)));
                }
                budget -= 1;
                let (mut changed, before) = (None, layer.bias.clone());
                match (biases, layer.bias.as_mut(), now) {
                    (Some(range), Some(all), Some(miss)) if below(random, 8) == 0 => {
                        all[0] = (all[0] + (miss.delta << unit)).clamp(range.min, range.max);
                    }
                    _ => changed = Some(self.change(&operands, now, &moves, random)),
                }
                let next = miss(&layer, changed.as_ref().unwrap_or(&operands));
                waited = if distance(next) < distance(now) { 0 } else { waited + 1 };
                if distance(next) <= distance(now) {
                    now = next;
                    operands = changed.unwrap_or(operands);
                } else {
                    layer.bias = before;
                }
            }
            if nearest.as_ref().is_none_or(|(least, ..)| distance(now) < *least) {
                nearest = Some((distance(now), operands, layer.bias.clone()));
            }
        }
        // Starts that were not reached need no way.
        let found = starts.find_map(|(operands, bias)| {
            layer.bias.iter_mut().for_each(|all| all[0] = bias.unwrap_or(0));
            (distance(miss(&layer, &operands)) == 0).then(|| (operands, output(&layer)))
        });
        let Some((_, mut operands, bias)) = nearest.filter(|(least, ..)| found.is_none() && *least <= CLOSE)
        else {
            return found;
        };
        // Only a few pairs of products make up for a small distance.
        layer.bias = bias;
        moves.tries_all = true;
        let mut now = miss(&layer, &operands);
        for _ in 0..CLOSE_TRIED.min(PRODUCTS / self.terms.max(1)) {
            if distance(now) == 0 {
                return Some((operands, output(&layer)));
            }
            let changed = self.change(&operands, now, &moves, random);
            let next = miss(&layer, &changed);
            if distance(next) <= distance(now) {
                (now, operands) = (next, changed);
            }
        }
        None
    }

    /// Returns the operands with one change, most often one that makes up for the distance.
    fn change(
        &self,
        operands: &[TraceOperand],
        miss: Option<Miss>,
        moves: &Moves,
        random: &mut Pcg64Mcg,
    ) -> Vec<TraceOperand> {
        let mut changed = operands.to_vec();
        let (delta, last_k) = miss.map_or((0, usize::MAX), |miss| (miss.delta, miss.last_k));
        let place = below(random, last_k.saturating_add(1).min(operands.len()));
        let kind = below(random, 9);
        match kind {
            0 => changed[place] = moves.ends[below(random, 2)],
            1 => changed[place] = self.ranges.zero(),
            2 if operands.len() < self.terms => {
                let at = below(random, operands.len() + 1);
                changed.insert(at, moves.ends[below(random, 2)]);
            }
            3 if operands.len() > 1 => {
                changed.remove(place);
            }
            4 => {
                let other = below(random, operands.len());
                changed.swap(place, other);
            }
            // A product as large as a register on the way holds, or a little less.
            5 if !moves.rails.is_empty() => {
                let rail = moves.rails[below(random, moves.rails.len())];
                let bits = below(random, 12);
                let less = below(random, 1 << bits) as i128;
                changed[place] = self.near(rail - rail.signum() * less, moves, random);
            }
            _ => {
                let mut wanted = self.fitted(operands[place]) + (delta << moves.unit);
                if kind == 7 {
                    let unit = moves.unit.min(40);
                    wanted += below(random, 3 << unit) as i128 - (1 << unit);
                }
                // Two products that change in opposite directions reach what one cannot.
                let other = below(random, operands.len());
                if kind == 6 && other != place {
                    let o = operands[other];
                    let next = TraceOperand {
                        activation: o.activation + below(random, 9) as i128 - 4,
                        weight: o.weight + below(random, 3) as i128 - 1,
                    };
                    changed[other] = self.held(next);
                    wanted += self.fitted(o) - self.fitted(changed[other]);
                }
                changed[place] = self.near(wanted, moves, random);
            }
        }
        changed
    }

    /// Returns the pair of stimuli within the ranges that is nearest to a pair.
    fn held(&self, o: TraceOperand) -> TraceOperand {
        let (a, w) = (&self.ranges.activation, &self.ranges.weight);
        self.ranges.nearest(TraceOperand {
            activation: o.activation.clamp(a.min.into(), a.max.into()),
            weight: o.weight.clamp(w.min.into(), w.max.into()),
        })
    }

    /// Returns what the multiplier's register holds.
    pub(super) fn fitted(&self, o: TraceOperand) -> i128 {
        let product = o.activation * o.weight;
        let register = self.ranges.product.register.fixed();
        register.map_or(product, |(format, overflow)| overflow.fit(product, format).value)
    }

    /// Returns what a register that wraps holds, otherwise the product.
    fn wrapped(&self, o: TraceOperand) -> i128 {
        let register = self.ranges.product.register.fixed();
        if register.is_some_and(|(_, mode)| mode == Overflow::Wrap) {
            self.fitted(o)
        } else {
            o.activation * o.weight
        }
    }

    /// Returns the pairs with the least and the greatest product, or those that the multiplier's register holds near its
    /// rails, if it does not hold these.
    fn held_ends(&self) -> [TraceOperand; 2] {
        let ends = self.ranges.ends();
        let Some(limits) = self.ranges.product.register.limits() else { return ends };
        let inwards = [(ends[0], limits.min, 1), (ends[1], limits.max, -1)];
        inwards.map(|(end, rail, step)| {
            let held = (0..NEAR).find_map(|distance| {
                let value = rail + step * distance;
                self.turns().find_map(|turn| self.ranges.product(value + turn))
            });
            if self.fitted(end) == end.activation * end.weight { end } else { held.unwrap_or(end) }
        })
    }

    /// Returns the numbers that products may differ by and leave the same value in the multiplier's register: 0 first, then
    /// those of a register that wraps.
    fn turns(&self) -> impl Iterator<Item = i128> + use<> {
        let register = self.ranges.product.register.fixed();
        let turn =
            register.filter(|(_, mode)| *mode == Overflow::Wrap).map(|(format, _)| 1i128 << format.bits());
        let ends = self.ranges.ends().map(|end| end.activation * end.weight);
        let most = turn.map_or(0, |turn| (ends[1] - ends[0]) / turn).min(TURNS);
        (0..=2 * most)
            .map(move |index| (index + 1) / 2 * if index % 2 == 0 { 1 } else { -1 } * turn.unwrap_or(0))
    }

    /// Returns the rails of the registers up to a level, as products: those that a value must not cross on its way.
    fn rails(&self, level: Option<usize>) -> Vec<i128> {
        let levels = &self.layer.datapath.levels;
        let mut dropped = self.layer.datapath.product.shift;
        let mut rails = Vec::new();
        for stage in &levels[..level.unwrap_or(levels.len())] {
            let limits = stage.register.limits();
            rails.extend(limits.iter().flat_map(|limits| [limits.min << dropped, limits.max << dropped]));
            dropped += stage.shift;
        }
        rails
    }

    /// Returns operands that lead to a result of an aim's level by values as large as the levels below hand over.
    fn full_values(&self, aim: &Aim) -> Option<Vec<TraceOperand>> {
        let level = aim.level().filter(|&level| level > 0)?;
        let operands = self.full_operands(level, aim.nearest()?);
        (!operands.is_empty()).then_some(operands)
    }

    /// Returns operands that take the sums of an aim's level, which start from `start`, as fast as possible beyond one rail,
    /// then beyond the other, and back: the first `parts` of that, as far as there is room.
    fn routes(&self, aim: &Aim, start: i128, parts: usize) -> Vec<Vec<TraceOperand>> {
        let (Some(level), true) = (aim.level(), aim.is_route()) else { return Vec::new() };
        let Some(limits) = self.layer.datapath.levels[level].register.limits() else { return Vec::new() };
        let ends = self.ranges.ends();
        let room = if level == 0 { 1 } else { self.value_terms(level) };
        // Values of complete runs of equal products, as if every register were wide enough.
        let mut layer = one_channel(self.layer, 0, None);
        layer.bias.iter_mut().for_each(|biases| biases.fill(0));
        let values = ends.map(|end| {
            let mut value = None;
            trace_observed(&layer, 0, &vec![end; room], &mut |step| {
                if step.level == level && step.kind != StepKind::HandOver {
                    value = value.or(Some(step.unbounded));
                }
            });
            value.unwrap_or(0)
        });
        let [down, up] = values;
        if down >= 0 || up <= 0 {
            return Vec::new();
        }
        let steps = |distance: i128, step: i128| (distance + step - 1).div_euclid(step).max(0);
        let orders = [(0, limits.min - 1, 1, limits.max + 1), (1, limits.max + 1, 0, limits.min - 1)];
        orders
            .into_iter()
            .map(|(first, near, second, far)| {
                let mut sum = start;
                let mut operands = Vec::new();
                for (end, to) in [(first, near), (second, far), (first, 0)].into_iter().take(parts) {
                    let count = steps((to - sum) * values[end].signum(), values[end].abs());
                    let left = self.terms - operands.len();
                    let products = usize::try_from(count).unwrap_or(left).saturating_mul(room).min(left);
                    operands.extend(vec![ends[end]; products]);
                    sum += count * values[end];
                }
                operands
            })
            .collect()
    }

    /// Returns parts of the least and the greatest product, which take sums as far as they can go.
    pub(super) fn alternating(&self, random: &mut Pcg64Mcg) -> Vec<TraceOperand> {
        let mut end = below(random, 2);
        let mut operands = Vec::with_capacity(self.terms);
        while operands.len() < self.terms {
            let part = (1 + below(random, self.terms)).min(self.terms - operands.len());
            operands.extend(vec![self.ranges.ends()[end]; part]);
            end = 1 - end;
        }
        operands
    }

    /// Returns a pair whose product is near `product`, of some random weights and the smallest ones, or of all.
    fn near(&self, product: i128, moves: &Moves, random: &mut Pcg64Mcg) -> TraceOperand {
        let weight = &self.ranges.weight;
        let count = (i128::from(weight.max) - i128::from(weight.min) + 1) as usize;
        let mut best = self.ranges.zero();
        let all = moves.tries_all && count <= ALL_WEIGHTS;
        for tried in 0..if all { count } else { WEIGHTS } {
            let weight = match tried {
                tried if all => i128::from(weight.min) + tried as i128,
                0 => 1,
                1 => -1,
                _ => i128::from(weight.min) + below(random, count) as i128,
            };
            for turn in &moves.turns {
                let activation = (product + turn).checked_div(weight).unwrap_or(0);
                let found = self.held(TraceOperand { activation, weight });
                let distance = |o: TraceOperand| (self.wrapped(o) - product).abs();
                if distance(found) < distance(best) {
                    best = found;
                }
            }
        }
        best
    }
}
