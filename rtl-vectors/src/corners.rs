//! Corner cases: sums at and around every rail, on every path, and what flow control and requantizers get wrong.
//!
//! Every case is made for one level with a width, through the levels below it: a path is a list of steps, each of
//! which the level adds as one value or a few of one sign. A step is solved for; a path that the layer's terms and
//! operand ranges cannot take is left out, and the coverage table shows what is missing.

use guardbit_hwmodels::{Check, MacLayer, Reduce};
use guardbit_num::{Multiplier, Scheme};
use guardbit_sim::trace::TraceOperand;

use crate::beats::{self, Dot};
use crate::contract::one_channel;
use crate::manifest::Arithmetic;
use crate::solve::Ranges;

/// Products of a generated dot product, at most: enough for any path, and short enough for a slow simulator.
const MAX_TERMS: usize = 1024;

/// The corner cases of `layer`.
pub(crate) fn corners(layer: &MacLayer, arithmetic: &Arithmetic) -> Vec<Dot> {
    let mut maker = Maker {
        layer,
        ranges: Ranges { activation: arithmetic.activation.clone(), weight: arithmetic.weight.clone() },
        terms: layer.order.len().min(MAX_TERMS),
        lanes: beats::lanes(&layer.datapath, layer.order.len()),
        dots: Vec::new(),
    };
    for (level, info) in arithmetic.levels.iter().enumerate() {
        if let (Some(min), Some(max)) = (info.min, info.max) {
            maker.level(level, &info.name, min.into(), max.into());
        }
    }
    maker.operands();
    maker.bounds();
    maker.flow();
    maker.requantize();
    maker.requantize_float();
    maker.dots
}

/// Sums and multipliers whose exact product lies below a tie by less than half a unit of a float64.
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

struct Maker<'a> {
    layer: &'a MacLayer,
    ranges: Ranges,
    terms: usize,
    lanes: usize,
    dots: Vec<Dot>,
}

impl Maker<'_> {
    /// Boundary sums from both sides, transients, order witnesses and saturation state of one level.
    fn level(&mut self, level: usize, name: &str, min: i128, max: i128) {
        let edges = [("max", max, 1), ("min", min, -1)];
        for (rail, edge, out) in edges {
            for (label, target) in [("inside", edge - out), ("at", edge), ("beyond", edge + out)] {
                let class = format!("boundary_{rail}_{label}");
                self.path(level, &format!("{class}_from_zero"), &class, &[target], 0);
                self.path(level, &format!("{class}_by_one"), &class, &[target - out, out], 0);
                self.path(
                    level,
                    &format!("{class}_from_outside"),
                    &class,
                    &[edge + 2 * out, target - edge - 2 * out],
                    0,
                );
            }
            let big = edge + out - edge / 4;
            let step = edge / 4;
            // The excursion comes back by more than it went out, so that clamping shows.
            self.path(level, &format!("{name}_{rail}_excursion"), "transient", &[big, step, -step, -step], 0);
            self.path(
                level,
                &format!("{name}_{rail}_excursions"),
                "transient",
                &[big, step, -step, step, -step, step, -step],
                0,
            );
            self.path(
                level,
                &format!("{name}_{rail}_out_and_through"),
                "transient",
                &[edge + out, -edge - edge / 2],
                0,
            );
            let one_run = self.value_terms(level);
            for at in 0..self.lanes.min(64) {
                let lead = at * if level == 0 { 1 } else { one_run };
                self.path(
                    level,
                    &format!("{name}_{rail}_position_{at}"),
                    "transient_position",
                    &[edge + out, -step],
                    lead,
                );
            }
            self.path(level, &format!("{name}_{rail}_last"), "transient_last", &[edge, out], self.terms);
            self.path(
                level,
                &format!("{name}_{rail}_leave"),
                "saturation_state",
                &[edge + out + step, -out, -step],
                0,
            );
            self.path(
                level,
                &format!("{name}_{rail}_far"),
                "saturation_state",
                &[2 * edge, edge, -edge, -edge],
                0,
            );
            self.path(
                level,
                &format!("{name}_{rail}_rail_to_rail"),
                "saturation_state",
                &[edge + out, -2 * edge - 3 * out, edge],
                0,
            );
            // All up, then all down: any other order of these overflows elsewhere, or nowhere.
            let (up, three) = (edge / 2 + out, edge / 3);
            self.path(level, &format!("{name}_{rail}_order_a"), "order_witness", &[up, up, -up, -up], 0);
            self.path(level, &format!("{name}_{rail}_order_b"), "order_witness", &[up, -up, up, -up], 0);
            self.path(
                level,
                &format!("{name}_{rail}_order_c"),
                "order_witness",
                &[three, up, three, -up, -three],
                0,
            );
            self.path(level, &format!("{name}_{rail}_wrap_benign"), "wrap_benign", &[edge, step, -edge], 0);
            self.path(level, &format!("{name}_{rail}_wrap_harmful"), "wrap_harmful", &[edge, step], 0);
        }
        for (label, steps) in [
            ("zero_from_above", [5, -5]),
            ("zero_from_below", [-5, 5]),
            ("minus_one_from_above", [5, -6]),
            ("minus_one_from_below", [-5, 4]),
        ] {
            self.path(level, &format!("{name}_{label}"), "boundary_zero", &steps, 0);
        }
    }

    /// Operand extremes, single live lanes, walking ones.
    fn operands(&mut self) {
        for (index, pair) in self.ranges.extremes().into_iter().enumerate() {
            self.add(format!("extreme_{index}"), "operand_extremes", vec![pair]);
            self.add(
                format!("extreme_all_{index}"),
                "operand_extremes",
                vec![pair; self.lanes.max(4).min(self.terms)],
            );
            let negated = self.ranges.extremes()[3 - index];
            let alternating =
                [pair, negated].into_iter().cycle().take(self.lanes.max(6).min(self.terms)).collect();
            self.add(format!("extreme_alternating_{index}"), "operand_extremes", alternating);
        }
        for lane in 0..self.lanes.min(self.terms) {
            for (label, value) in [("up", lane as i128 + 1), ("down", -(lane as i128) - 1)] {
                let Some(live) = self.ranges.solve(value, 1) else { continue };
                let mut operands = vec![self.ranges.zero(); self.lanes];
                operands[lane] = live[0];
                self.add(format!("single_lane_{lane}_{label}"), "single_lane", operands);
            }
        }
        let (a, w) = (self.ranges.activation.clone(), self.ranges.weight.clone());
        let powers = |max: i64| (0..62).map(|bit| 1i64 << bit).take_while(move |&v| v <= max);
        let one = w.max.clamp(w.min, 1).into();
        let walking: Vec<_> =
            powers(a.max).map(|v| TraceOperand { activation: v.into(), weight: one }).collect();
        self.add("walking_activation".into(), "walking_ones", walking);
        let one = a.max.clamp(a.min, 1).into();
        let walking: Vec<_> = powers(w.max)
            .filter(|&v| v >= w.min)
            .map(|v| TraceOperand { activation: one, weight: v.into() })
            .collect();
        self.add("walking_weight".into(), "walking_ones", walking);
    }

    /// The real weights of the channels with the largest sums, on the activations that attain them.
    fn bounds(&mut self) {
        if self.layer.weights.is_empty() || self.layer.order.len() > MAX_TERMS {
            return;
        }
        let (low, high) = (i128::from(self.ranges.activation.min), i128::from(self.ranges.activation.max));
        let attain = |weights: &[i32], up: bool| -> Vec<TraceOperand> {
            let choose = |&w: &i32| TraceOperand {
                activation: if (w > 0) == up { high } else { low },
                weight: w.into(),
            };
            weights.iter().map(choose).collect()
        };
        for (label, up) in [("max", true), ("min", false)] {
            let sum = |c: &usize| {
                let sum: i128 =
                    attain(&self.layer.weights[*c], up).iter().map(|o| o.activation * o.weight).sum();
                if up { sum } else { -sum }
            };
            let Some(channel) = (0..self.layer.weights.len()).max_by_key(sum) else { continue };
            let operands = attain(&self.layer.weights[channel], up);
            self.push(format!("bound_{label}"), "bound_attained", channel, operands, None);
        }
    }

    /// Bubbles, short dot products, tails, a clear in the middle, back-to-back.
    fn flow(&mut self) {
        let long: Vec<_> = self.mixed(self.terms.min(6 * self.lanes.max(8)));
        for n in [1, 2, 3] {
            self.add(format!("bubble_every_{n}"), "bubble", long.clone());
            if let Some(dot) = self.dots.last_mut() {
                dot.bubble_every = Some(n);
            }
        }
        let lanes = self.lanes;
        for terms in [1, 2, 3, lanes.saturating_sub(1), lanes, lanes + 1, 2 * lanes - 1, 2 * lanes + 1] {
            if terms > 0 && terms <= self.terms {
                let operands = self.mixed(terms);
                self.add(format!("terms_{terms}_{}", self.dots.len()), "tail", operands);
            }
        }
        for (index, cut) in [1, 2, 5].into_iter().enumerate() {
            self.add(format!("cut_{index}"), "clear_mid_burst", long.clone());
            if let Some(dot) = self.dots.last_mut() {
                dot.cut_after = Some(cut);
            }
            self.add(format!("after_cut_{index}"), "clear_mid_burst", self.mixed(self.terms.min(2 * lanes)));
        }
        // A dot product that overflows, cleared at once by one that must not remember it.
        let full = vec![self.ranges.extremes()[3]; self.terms.min(64.max(lanes))];
        for index in 0..2 {
            self.add(format!("overflow_cut_{index}"), "clear_after_overflow", full.clone());
            if let Some(dot) = self.dots.last_mut().filter(|_| index == 0) {
                let beats = dot.operands.len().div_ceil(lanes);
                dot.cut_after = Some(beats.saturating_sub(1).max(1));
            }
            self.add(
                format!("clean_{index}"),
                "clear_after_overflow",
                vec![self.ranges.zero(); self.terms.min(lanes + 1)],
            );
        }
        for index in 0..3 {
            self.add(format!("back_to_back_{index}"), "back_to_back", self.mixed(lanes.min(self.terms)));
        }
    }

    /// Ties of both parities and signs, clamp edges, multipliers 0 and almost 1.
    fn requantize(&mut self) {
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

    /// Products just below a tie, which a float64 rounds to the tie.
    fn requantize_float(&mut self) {
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

    /// A dot product that delivers `target`, with a bias of 0: what the requantizer sees.
    fn scaled(&mut self, id: String, class: &str, target: i128, multiplier: Multiplier) {
        if let Some(operands) = self.ranges.solve(target, self.terms).filter(|o| !o.is_empty()) {
            self.push(id, class, 0, operands, Some(multiplier));
            let bias = self.dots.last_mut().and_then(|dot| dot.layer.bias.as_mut());
            bias.into_iter().flatten().for_each(|b| *b = 0);
        }
    }

    /// `count` products of mixed size and sign.
    fn mixed(&self, count: usize) -> Vec<TraceOperand> {
        let extremes = self.ranges.extremes();
        let halved = |index: usize| {
            let o = extremes[(index * 7 + 3) % 4];
            TraceOperand {
                activation: o.activation / (1 + (index % 5) as i128),
                weight: o.weight / (1 + (index % 3) as i128),
            }
        };
        let fits = |o: TraceOperand| {
            if o.weight < i128::from(self.ranges.weight.min) || o.weight == 0 {
                self.ranges.zero()
            } else {
                o
            }
        };
        (0..count).map(|index| fits(halved(index))).collect()
    }

    /// Products that one value of `level` is made of, at most.
    fn value_terms(&self, level: usize) -> usize {
        self.layer.datapath.levels[..level]
            .iter()
            .map(|l| l.terms.run_length(self.terms))
            .product::<usize>()
            .clamp(1, self.terms)
    }

    /// A path of sums through `level`, after `lead` empty terms (as many as fit, if that is more).
    fn path(&mut self, level: usize, id: &str, class: &str, steps: &[i128], lead: usize) {
        let Some(operands) = self.walk(level, steps) else { return };
        if operands.is_empty() || operands.len() > self.terms {
            return;
        }
        let lead = lead.min(self.terms - operands.len());
        // Above the innermost level only whole values may stand in front.
        let lead = lead / self.value_terms(level) * self.value_terms(level);
        let mut all = vec![self.ranges.zero(); lead];
        all.extend(operands);
        self.add(format!("l{level}_{id}"), class, all);
    }

    fn walk(&self, level: usize, steps: &[i128]) -> Option<Vec<TraceOperand>> {
        let mut operands = Vec::new();
        for &step in steps {
            let mut rest = step;
            while rest != 0 {
                let value = if level == 0 { rest } else { self.largest_value(level - 1, rest)? };
                operands.extend(self.value(level, value)?);
                rest -= value;
                if operands.len() > self.terms {
                    return None;
                }
            }
        }
        Some(operands)
    }

    /// One value for `level`: its products, and empty terms up to the end of the runs below.
    fn value(&self, level: usize, value: i128) -> Option<Vec<TraceOperand>> {
        let room = if level == 0 { self.terms } else { self.value_terms(level) };
        let mut operands = self.ranges.solve(value, room)?;
        if level > 0 {
            operands.resize(room, self.ranges.zero());
        }
        Some(operands)
    }

    /// The part of `rest` that the levels up to `below` deliver at once: within their limits and their terms.
    fn largest_value(&self, below: usize, rest: i128) -> Option<i128> {
        let mut value = rest;
        for level in &self.layer.datapath.levels[..=below] {
            if let guardbit_hwmodels::Register::Fixed { format, overflow } = level.register {
                let (low, high) = overflow.limits(format);
                value = value.clamp(low, high);
            }
            let exact_inside = level.check == Check::HandOver || level.reduce == Reduce::Tree;
            debug_assert!(exact_inside || level.reduce == Reduce::Serial);
        }
        let room = self.value_terms(below + 1);
        let extremes = self.ranges.extremes();
        let products = extremes.iter().map(|o| o.activation * o.weight);
        let reach = if rest > 0 { products.max()? } else { products.min()? };
        // One product less than there is room for: the last one ends the sum.
        let reach = reach / 2 * room.saturating_sub(1).max(1) as i128;
        let value = if rest > 0 { value.min(reach) } else { value.max(reach) };
        (value != 0 && value.signum() == rest.signum()).then_some(value)
    }

    fn add(&mut self, id: String, class: &str, operands: Vec<TraceOperand>) {
        if !operands.is_empty() && operands.len() <= self.terms {
            self.push(id, class, 0, operands, None);
        }
    }

    fn push(
        &mut self,
        id: String,
        class: &str,
        channel: usize,
        operands: Vec<TraceOperand>,
        multiplier: Option<Multiplier>,
    ) {
        self.dots.push(Dot {
            id,
            group: "corner",
            class: class.into(),
            place: None,
            layer: one_channel(self.layer, channel, multiplier),
            operands,
            bubble_every: None,
            cut_after: None,
        });
    }
}
