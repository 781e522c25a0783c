//! Corner cases that belong to no level: operand extremes, single lanes, the layer's largest sums, flow
//! control.

use guardbit_sim::trace::{StepKind, TraceOperand, trace_observed};

use super::{MAX_TERMS, Maker, Output};
use crate::arithmetic::one_channel;
use crate::manifest::Arithmetic;
use crate::reach::rails;

impl Maker<'_> {
    /// Adds single products at and around the rails of the multiplier's register.
    pub(super) fn product(&mut self, arithmetic: &Arithmetic) {
        let Some(rails) = rails(&arithmetic.product) else { return };
        let near = [("max", rails.max), ("min", rails.min), ("zero", 0)];
        for (label, rail) in near {
            for distance in -1..=1 {
                if let Some(operand) = self.ranges.product(rail + distance) {
                    self.add(format!("product_{label}{distance:+}"), "product_boundary", vec![operand]);
                }
            }
        }
    }

    /// Adds operand extremes, dot products with a single nonzero lane at every position, and walking ones
    /// (powers of two).
    pub(super) fn operands(&mut self) {
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
                let Some(live) = self.ranges.solve(value, 1, 1) else { continue };
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

    /// Adds the real weights of the channels with the largest sums, with activations that attain them.
    pub(super) fn bounds(&mut self) {
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
                    attain(&self.layer.weights.channel(*c), up).iter().map(|o| o.activation * o.weight).sum();
                if up { sum } else { -sum }
            };
            let Some(channel) = (0..self.layer.weights.channels()).max_by_key(sum) else { continue };
            let operands = attain(&self.layer.weights.channel(channel), up);
            self.push(format!("bound_{label}"), "bound_attained", operands, Output::Channel(channel));
        }
    }

    /// Adds bubbles, short dot products, tails, a clear in the middle of a dot product, and back-to-back dot
    /// products.
    pub(super) fn flow(&mut self) {
        let long: Vec<_> = self.lasting(self.terms.min(6 * self.lanes.max(8)));
        for n in [1, 2, 3] {
            self.add(format!("bubble_every_{n}"), "bubble", long.clone());
            if let Some(dot) = self.dots.last_mut() {
                dot.bubble_every = Some(n);
            }
        }
        let lanes = self.lanes;
        // Short trees: their last node ends with a lane that does not end a node in a full tree.
        for (index, pair) in [(0, 3), (1, 1)] {
            for terms in 2..lanes.min(self.terms + 1) {
                let operands = vec![self.ranges.extremes()[pair]; terms];
                self.add(format!("extreme_tail_{index}_{terms}"), "tail", operands);
            }
        }
        // One pair of lanes against all others.
        for (index, (few, most)) in [(0, 1), (1, 0)].into_iter().enumerate().filter(|_| lanes > 2) {
            let ends = self.ranges.ends();
            let operands = (0..lanes.min(self.terms)).map(|lane| ends[if lane < 2 { few } else { most }]);
            self.add(format!("pair_against_{index}"), "operand_extremes", operands.collect());
        }
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
            self.add(
                format!("after_cut_{index}"),
                "clear_mid_burst",
                self.lasting(self.terms.min(2 * lanes)),
            );
        }
        // A dot product that overflows, cleared immediately by one that must not be affected by it.
        let full = vec![self.ranges.extremes()[3]; self.terms.min(64.max(lanes))];
        // Cut before its end, not at all, and where possibly no level's run has ended.
        let beats = full.len().div_ceil(lanes);
        for (index, cut) in [beats.saturating_sub(1).max(1), beats, 1, 2, 3].into_iter().enumerate() {
            self.add(format!("overflow_cut_{index}"), "clear_after_overflow", full.clone());
            if let Some(dot) = self.dots.last_mut().filter(|_| cut < beats) {
                dot.cut_after = Some(cut);
            }
            let few = self.terms.min(lanes + 1);
            let zeros = vec![self.ranges.zero(); few];
            let clean = if self.ranges.allows(zeros[0]) { zeros } else { self.mixed(few) };
            self.add(format!("clean_{index}"), "clear_after_overflow", clean);
        }
        for index in 0..3 {
            self.add(format!("back_to_back_{index}"), "back_to_back", self.mixed(lanes.min(self.terms)));
        }
    }

    /// Returns `count` products of mixed size and sign, small enough that most sums of them are not 0: registers may
    /// replace what does not fit by 0.
    fn lasting(&self, count: usize) -> Vec<TraceOperand> {
        let mixed = self.mixed(count);
        let one = one_channel(self.layer, 0, None);
        // Percentage of the sums that are not 0, of the level with the least.
        let lasting = |operands: &[TraceOperand]| {
            let mut counts = vec![(0, 0); one.datapath.levels.len()];
            // Dot products are cut after a few beats.
            let first = operands.len().min(6 * self.lanes);
            trace_observed(&one, 0, &operands[..first], &mut |step| {
                if step.kind == StepKind::Add {
                    let (last, all) = counts[step.level];
                    counts[step.level] = (last + usize::from(step.value != 0), all + 1);
                }
            });
            let shares = counts.into_iter().filter(|&(_, all)| all > 0).map(|(last, all)| 100 * last / all);
            shares.min().unwrap_or(100)
        };
        if lasting(&mixed) >= 80 {
            return mixed;
        }
        let candidates = (0..12).filter_map(|size| self.few(count, size));
        candidates.chain([mixed.clone()]).max_by_key(|operands| lasting(operands)).unwrap_or(mixed)
    }

    /// Returns `count` products of mixed size and sign.
    fn mixed(&self, count: usize) -> Vec<TraceOperand> {
        let extremes = self.ranges.extremes();
        let halved = |index: usize| {
            let o = extremes[(index * 7 + 3) % 4];
            self.ranges.nearest(TraceOperand {
                activation: o.activation / (1 + (index % 5) as i128),
                weight: o.weight / (1 + (index % 3) as i128),
            })
        };
        let fits = |o: TraceOperand| {
            let zero = self.ranges.zero();
            let is_zero = o.weight < i128::from(self.ranges.weight.min) || o.weight == 0;
            if is_zero && self.ranges.allows(zero) { zero } else { o }
        };
        (0..count).map(|index| fits(halved(index))).collect()
    }
}
