//! Sums at and around every rail of a level, on every path, through the levels below it.
//!
//! A path is a list of steps. The level adds each step as one value, or as a few values of one sign. Levels
//! below may drop bits: a step is then composed of products that are multiples of what they drop, so that
//! nothing is rounded on the way.

use guardbit_hwmodels::bounds::Range;
use guardbit_sim::trace::TraceOperand;

use super::Maker;
use crate::manifest::LevelInfo;

/// Number of other values to try if no products sum to the wanted one.
const NEAR: i128 = 64;

/// Rail of a level.
#[derive(Clone, Copy)]
struct Rail<'a> {
    level: usize,
    /// Name of the level in names of cases.
    name: &'a str,
    /// Either `max` or `min`.
    side: &'static str,
    /// Last value that the level does not change.
    edge: i128,
    /// Direction of a step outwards: 1 or -1.
    out: i128,
}

impl Rail<'_> {
    /// Returns the name of a case at this rail.
    fn id(&self, what: &str) -> String {
        format!("{}_{}_{what}", self.name, self.side)
    }
}

impl Maker<'_> {
    /// Adds boundary sums from both sides, transients, order witnesses and saturation states of one level.
    pub(super) fn level(&mut self, level: usize, name: &str, min: i128, max: i128) {
        let rails = [("max", max, 1), ("min", min, -1)];
        for rail in rails.map(|(side, edge, out)| Rail { level, name, side, edge, out }) {
            self.boundaries(rail);
            self.transients(rail);
            self.saturation_states(rail);
            self.orders(rail);
        }
        self.across(level, name, min, max);
        self.runs(level, name, max);
        for (label, steps) in [
            ("zero_from_above", [5, -5]),
            ("zero_from_below", [-5, 5]),
            ("minus_one_from_above", [5, -6]),
            ("minus_one_from_below", [-5, 4]),
        ] {
            self.path(level, &format!("{name}_{label}"), "boundary_zero", &steps, 0);
        }
    }

    /// Adds sums at and beyond the rails of a register of one bit less, and the greatest sums: they show the width of
    /// a register whose own rails cannot be reached.
    pub(super) fn widths(&mut self, level: usize, info: &LevelInfo, min: i128, max: i128) {
        let name = &info.name;
        for (side, edge, out) in [("max", max >> 1, 1), ("min", min / 2, -1)] {
            if edge != 0 {
                self.path(level, &format!("{name}_half_{side}_at"), "width", &[edge], 0);
                self.path(level, &format!("{name}_half_{side}_beyond"), "width", &[edge + out], 0);
            }
            let bound = if out > 0 { info.bound_max } else { info.bound_min };
            let operands = self.farthest_operands(level, i128::from(bound).clamp(min, max));
            self.add(format!("l{level}_{name}_farthest_{side}"), "width", operands);
        }
    }

    /// Returns the sum nearest to `bound`, and between 0 and it, to which [`walk`](Self::walk) finds a way; `None` if
    /// there is none but 0.
    pub(super) fn farthest(&self, level: usize, bound: i128) -> Option<i128> {
        let (mut near, mut far) = (0, bound.abs() + 1);
        while far - near > 1 {
            let middle = near + (far - near) / 2;
            match self.walk(level, &[middle * bound.signum()]) {
                Some(_) => near = middle,
                None => far = middle,
            }
        }
        (near != 0).then_some(near * bound.signum())
    }

    /// Returns operands with a sum near `bound`, or as near as the values of a run lead, the last one from fewer
    /// products than a whole value has.
    pub(super) fn farthest_operands(&self, level: usize, bound: i128) -> Vec<TraceOperand> {
        self.operands_of_values(level, bound, &|rest| self.largest_value(level, rest))
    }

    /// Returns the operands of [`farthest_operands`](Self::farthest_operands), of values as large as the levels below can
    /// hand over.
    pub(super) fn full_operands(&self, level: usize, bound: i128) -> Vec<TraceOperand> {
        self.operands_of_values(level, bound, &|rest| self.greatest_value(level, rest))
    }

    /// Returns operands with a sum near `bound`; `value` returns the greatest value to add to what is left.
    fn operands_of_values(
        &self,
        level: usize,
        bound: i128,
        value: &dyn Fn(i128) -> Option<i128>,
    ) -> Vec<TraceOperand> {
        if level == 0 {
            let steps = self.farthest(level, bound);
            return steps.and_then(|step| self.walk(level, &[step])).unwrap_or_default();
        }
        let dropped: u32 = self.layer.datapath.levels[..level].iter().map(|l| l.shift).sum();
        let (room, end) = (self.value_terms(level), self.value_terms(level + 1).min(self.terms));
        let (mut operands, mut sum) = (Vec::new(), 0);
        while operands.len() < end && sum != bound {
            let here = room.min(end - operands.len());
            let Some(most) = value(bound - sum) else { break };
            // Not every value is a sum of few products.
            let mut values = (0..NEAR).map(|less| most - less * most.signum()).filter(|v| v * most > 0);
            let found = values.find_map(|v| Some((v, self.ranges.solve(v << dropped, here, 1 << dropped)?)));
            let Some((value, mut products)) = found else { break };
            products.resize(here, self.ranges.zero());
            operands.extend(products);
            sum += value;
        }
        operands
    }

    /// Adds sums inside a rail, at it and beyond it.
    fn boundaries(&mut self, Rail { level, side, edge, out, .. }: Rail<'_>) {
        for (label, target) in [("inside", edge - out), ("at", edge), ("beyond", edge + out)] {
            let class = format!("boundary_{side}_{label}");
            let back = target - edge - 2 * out;
            self.path(level, &format!("{class}_from_zero"), &class, &[target], 0);
            self.path(level, &format!("{class}_by_one"), &class, &[target - out, out], 0);
            self.path(level, &format!("{class}_from_outside"), &class, &[edge + 2 * out, back], 0);
        }
    }

    /// Adds prefixes beyond a rail at different places of a run.
    fn transients(&mut self, rail: Rail<'_>) {
        let Rail { level, edge, out, .. } = rail;
        let (big, step) = (edge + out - edge / 4, edge / 4);
        // The excursion returns by more than it went out, so that clamping has an effect.
        self.at_rail(rail, "excursion", "transient", &[big, step, -step, -step]);
        self.at_rail(rail, "excursions", "transient", &[big, step, -step, step, -step, step, -step]);
        self.at_rail(rail, "out_and_through", "transient", &[edge + out, -edge - edge / 2]);
        let value = if level == 0 { 1 } else { self.value_terms(level) };
        for at in 0..self.lanes.min(64) {
            let id = rail.id(&format!("position_{at}"));
            self.path(level, &id, "transient_position", &[edge + out, -step], at * value);
        }
        self.path(level, &rail.id("last"), "transient_last", &[edge, out], self.terms);
    }

    /// Adds further values after a register was clamped, wrapped or stuck.
    fn saturation_states(&mut self, rail: Rail<'_>) {
        let Rail { edge, out, .. } = rail;
        let step = edge / 4;
        self.at_rail(rail, "leave", "saturation_state", &[edge + out + step, -out, -step]);
        self.at_rail(rail, "far", "saturation_state", &[2 * edge, edge, -edge, -edge]);
        self.at_rail(rail, "rail_to_rail", "saturation_state", &[edge + out, -2 * edge - 3 * out, edge]);
    }

    /// Adds one set of values in several orders, and sums that wrap back or do not.
    fn orders(&mut self, rail: Rail<'_>) {
        let Rail { edge, out, .. } = rail;
        // All up, then all down: any other order of these values overflows elsewhere, or nowhere.
        let (up, three, step) = (edge / 2 + out, edge / 3, edge / 4);
        self.at_rail(rail, "order_a", "order_witness", &[up, up, -up, -up]);
        self.at_rail(rail, "order_b", "order_witness", &[up, -up, up, -up]);
        self.at_rail(rail, "order_c", "order_witness", &[three, up, three, -up, -three]);
        self.at_rail(rail, "wrap_benign", "wrap_benign", &[edge, step, -edge]);
        self.at_rail(rail, "wrap_harmful", "wrap_harmful", &[edge, step]);
    }

    fn at_rail(&mut self, rail: Rail<'_>, what: &str, class: &str, steps: &[i128]) {
        self.path(rail.level, &rail.id(what), class, steps, 0);
    }

    /// Adds paths from beyond one rail to beyond the other, and back to between them.
    fn across(&mut self, level: usize, name: &str, min: i128, max: i128) {
        for (rail, edge, other, out) in [("max", max, min, 1), ("min", min, max, -1)] {
            let (first, back) = (edge + out, other - edge - 2 * out);
            self.path(level, &format!("{name}_{rail}_across"), "saturation_state", &[first, back], 0);
            let home = [first, back, out - other];
            self.path(level, &format!("{name}_{rail}_across_home"), "saturation_state", &home, 0);
        }
    }

    /// Adds values of extreme products in both directions, which do not fit the registers of the levels below
    /// either.
    fn runs(&mut self, level: usize, name: &str, max: i128) {
        let reach = self.ranges.reach();
        let ends = self.ranges.ends();
        let room = if level == 0 { 1 } else { self.value_terms(level) };
        let least = reach.max.min(-reach.min).max(1);
        // As few products as take the level beyond a rail, at most as many as a value has.
        let dropped: u32 = self.layer.datapath.levels[..level].iter().map(|l| l.shift).sum();
        let few = (((max + 2) << dropped) / least + 1).clamp(1, room as i128) as usize;
        // Multiples of that number of products, one per value.
        let patterns: [&[i8]; 10] = [
            &[1, -1],
            &[-1, 1],
            &[1, -4],
            &[-1, 4],
            &[1, -1, -1],
            &[-1, 1, 1],
            &[1, -1, -1, 1],
            &[-1, 1, 1, -1],
            &[-1, 1, 1, 1],
            &[1, -1, -1, -1],
        ];
        for (index, pattern) in patterns.into_iter().enumerate() {
            let mut operands = Vec::new();
            for &times in pattern {
                let products = (few * usize::from(times.unsigned_abs())).min(room);
                operands.extend(vec![ends[usize::from(times > 0)]; products]);
                operands.extend(vec![self.ranges.zero(); room - products]);
            }
            if operands.len() <= self.value_terms(level + 1) {
                self.add(format!("l{level}_{name}_extremes_{index}"), "saturation_state", operands);
            }
        }
    }

    /// Adds a path of sums through `level`, after at most `lead` empty terms.
    fn path(&mut self, level: usize, id: &str, class: &str, steps: &[i128], lead: usize) {
        let Some(operands) = self.walk(level, steps) else { return };
        if operands.is_empty() {
            return;
        }
        let lead = lead.min(self.terms - operands.len());
        // Above the innermost level, only whole values may precede the path.
        let lead = lead / self.value_terms(level) * self.value_terms(level);
        let mut all = vec![self.ranges.zero(); lead];
        all.extend(operands);
        self.add(format!("l{level}_{id}"), class, all);
    }

    /// Returns operands that take `level` through `steps`, in its unit; `None` if there are none within the
    /// layer's terms.
    pub(super) fn walk(&self, level: usize, steps: &[i128]) -> Option<Vec<TraceOperand>> {
        let dropped: u32 = self.layer.datapath.levels[..level].iter().map(|l| l.shift).sum();
        let mut operands = Vec::new();
        for &step in steps {
            let mut rest = step;
            while rest != 0 {
                let value = if level == 0 { rest } else { self.largest_value(level, rest)? };
                let room = if level == 0 { self.terms } else { self.value_terms(level) };
                let mut products = self.ranges.solve(value << dropped, room, 1 << dropped)?;
                if level > 0 {
                    // Empty terms up to the end of the runs below.
                    products.resize(room, self.ranges.zero());
                }
                operands.extend(products);
                rest -= value;
                // The end of a run would start the level anew.
                if operands.len() > self.value_terms(level + 1) {
                    return None;
                }
            }
        }
        Some(operands)
    }

    /// Returns the greatest number of products in one value of `level`.
    pub(super) fn value_terms(&self, level: usize) -> usize {
        self.layer.datapath.levels[..level]
            .iter()
            .map(|l| l.terms.run_length(self.terms))
            .product::<usize>()
            .clamp(1, self.terms)
    }

    /// Returns the part of `rest` that the levels below `level` can deliver as one value, within their rails
    /// and their terms.
    fn largest_value(&self, level: usize, rest: i128) -> Option<i128> {
        // One product less than the available room: the last one completes the sum.
        let spare = self.value_terms(level).saturating_sub(1).max(1) as i128;
        let reach = self.ranges.reach();
        self.value_within(level, rest, Range { min: -(-reach.min / 2 * spare), max: reach.max / 2 * spare })
    }

    /// Returns the part of `rest` that the levels below `level` may deliver as one value of extreme products.
    fn greatest_value(&self, level: usize, rest: i128) -> Option<i128> {
        self.value_within(level, rest, self.ranges.reach().repeated(self.value_terms(level)))
    }

    /// Returns the part of `rest` that is within the rails of the levels below `level`, and whose products sum to a value of
    /// `products`.
    fn value_within(&self, level: usize, rest: i128, products: Range) -> Option<i128> {
        let below = &self.layer.datapath.levels[..level];
        let mut range = Range { min: rest.min(0), max: rest.max(0) };
        for (index, stage) in below.iter().enumerate() {
            let dropped: u32 = below[index..].iter().map(|l| l.shift).sum();
            if let Some(Range { min, max }) = stage.register.limits() {
                range = Range { min: range.min.max(-(-min >> dropped)), max: range.max.min(max >> dropped) };
            }
        }
        let dropped: u32 = below.iter().map(|l| l.shift).sum();
        let value = match rest > 0 {
            true => range.max.min(products.max >> dropped),
            false => range.min.max(-(-products.min >> dropped)),
        };
        (value != 0).then_some(value)
    }
}
