//! Decides whether weights fit every register of a datapath for all activations.
//!
//! The bound equals the one that [`LayerBounds`](guardbit_hwmodels::bounds::LayerBounds) proves for finished
//! weights, but is updated incrementally while weights are chosen one by one. With products of any activation
//! and weight, no run of any level leaves its register. Inner and outer accumulators are ordinary levels, so
//! AXE's tile budgets (Colbert et al., "Accumulator-Aware Post-Training Quantization", 2024) are the special
//! case of two levels without shifts. Every operand range contains 0, so the bound holds for every prefix and
//! every order.

use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::{Range, operand_ranges};
use guardbit_hwmodels::{BiasPlace, MacLayer, Register, ShiftRounding, ZeroPoint};
use guardbit_num::Rounding;

/// Registers of a layer as limits for weights whose zero point is 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgets {
    /// Activation operands that the multiplier can receive, per cell.
    operands: Vec<Span>,
    product: Stage,
    levels: Vec<Level>,
    bias: BiasStage,
    /// Whether the exact sum of all products is the only value that a register has to hold.
    one_sum: bool,
}

/// [`Range`] with fast integers. Sums of 16-bit products are far from their limits, and rails beyond
/// [`Span::MOST`] never matter.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    min: i64,
    max: i64,
}

impl Span {
    const ZERO: Self = Self { min: 0, max: 0 };
    const MOST: i128 = 1 << 61;

    fn of(range: Range) -> Self {
        let within = |value: i128| value.clamp(-Self::MOST, Self::MOST) as i64;
        Self { min: within(range.min), max: within(range.max) }
    }

    fn range(self) -> Range {
        Range::new(self.min, self.max)
    }

    fn plus(self, value: i64) -> Self {
        Self { min: self.min + value, max: self.max + value }
    }

    fn includes(self, other: Self) -> bool {
        self.min <= other.min && other.max <= self.max
    }

    fn with(self, value: i64) -> Self {
        Self { min: self.min.min(value), max: self.max.max(value) }
    }

    fn times(self, code: i32) -> Self {
        let [a, b] = [self.min * i64::from(code), self.max * i64::from(code)];
        Self { min: a.min(b), max: a.max(b) }
    }

    /// Returns a sum of spans with one span replaced.
    fn replaced(self, old: Self, new: Self) -> Self {
        Self { min: self.min - old.min + new.min, max: self.max - old.max + new.max }
    }
}

/// Range that a register holds, and the conversion to the next one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stage {
    rails: Option<Span>,
    shift: u32,
    round: ShiftRounding,
}

#[derive(Debug, Clone, PartialEq)]
struct Level {
    stage: Stage,
    /// Index of the run that contains each cell's product.
    runs: Vec<usize>,
    /// Number of runs.
    count: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct BiasStage {
    at: BiasPlace,
    rails: Option<Span>,
    /// Amount that each step of a weight adds to the bias: the negated zero point, for products of raw codes.
    folded: i128,
    shift: u32,
    round: Rounding,
}

/// Weights of one output channel chosen so far, and the resulting sums. All weights are 0 initially.
#[derive(Debug, Clone)]
pub struct Budget<'a> {
    of: &'a Budgets,
    codes: Vec<i32>,
    /// Sum of all codes.
    total: i64,
    /// Sums by level and run.
    sums: Vec<Vec<Span>>,
    /// Bias in steps of a product, including constants of zero points.
    bias: i128,
    /// Limits of the sum, if there is only one.
    limits: Option<Span>,
}

/// Returns `rails` reduced by `slack` on both sides.
fn less(rails: Range, slack: i128) -> Range {
    Range { min: rails.min + slack, max: rails.max - slack }
}

impl Stage {
    /// Returns a register with `slack` reserved on both sides.
    fn new(register: Register, shift: u32, round: ShiftRounding, slack: i128) -> Self {
        Self { rails: register.limits().map(|rails| Span::of(less(rails, slack))), shift, round }
    }

    fn holds(&self, value: Span) -> bool {
        self.rails.is_none_or(|rails| rails.includes(value))
    }

    fn hands_on(&self, value: Span) -> Span {
        if self.shift == 0 { value } else { Span::of(value.range().shift_right(self.shift, self.round)) }
    }
}

impl BiasStage {
    /// Converts a bias in steps of a product to the unit of the register that takes it.
    fn in_unit(&self, bias: i128) -> i64 {
        Span::of(Range::point(bias).shift_right(self.shift, self.round)).min
    }
}

impl Budgets {
    /// Returns the budgets of a layer of a program over `graph`, from its input codes, zero point and
    /// datapath. Weights and biases are ignored, except that the weights' zero point must be 0, and that the
    /// presence of biases matters.
    pub fn new(graph: &Graph, layer: &MacLayer) -> Self {
        let datapath = &layer.datapath;
        let cells = layer.order.len();
        let mut places = vec![0; cells];
        layer.order.iter().enumerate().for_each(|(place, &cell)| places[cell] = place);
        let operands = operand_ranges(graph, layer);
        let operands = places.iter().map(|&place| Span::of(operands[place])).collect();
        let mut values = cells;
        let mut levels = Vec::with_capacity(datapath.levels.len());
        // In a data-dependent order, a run may contain any products. Each register must then hold all of
        // them, plus the possible roundings of single runs.
        let any_order = datapath.order.walk.depends_on_data();
        let mut slack = 0;
        for level in &datapath.levels {
            let run = level.terms.run_length(values).max(1);
            values = values.div_ceil(run);
            slack *= run as i128;
            let stage = Stage::new(level.register, level.shift, level.round, slack);
            let run = if any_order { cells.max(1) } else { run };
            places.iter_mut().for_each(|place| *place /= run);
            let count = places.iter().max().map_or(0, |last| last + 1);
            levels.push(Level { stage, runs: places.clone(), count });
            // A single run has equal products in every order.
            slack += i128::from(any_order && level.shift > 0 && values > 1);
        }
        let folds = datapath.operands.zero_point == ZeroPoint::Fold;
        let unit = match datapath.bias.at {
            BiasPlace::Preload => datapath.levels.len().saturating_sub(1),
            BiasPlace::Post | BiasPlace::PostRequantize => datapath.levels.len(),
        };
        let product =
            Stage::new(datapath.product.register, datapath.product.shift, datapath.product.round, 0);
        let is_exact = |stage: &Stage| stage.shift == 0;
        let one_sum = matches!(&levels[..], [level] if level.count == 1 && is_exact(&level.stage))
            && is_exact(&product)
            && product.rails.is_none()
            && (!folds || layer.dots.input_zero_point == 0);
        Self {
            operands,
            product,
            levels,
            one_sum,
            bias: BiasStage {
                at: datapath.bias.at,
                // Without an addend there is no adder.
                rails: layer
                    .bias
                    .as_ref()
                    .and_then(|_| datapath.bias.register.limits())
                    .map(|rails| Span::of(less(rails, slack))),
                folded: if folds { -i128::from(layer.dots.input_zero_point) } else { 0 },
                shift: datapath.unit_shift(unit),
                round: datapath.unit_rounding(unit),
            },
        }
    }

    /// Returns a channel with bias `bias`, in steps of a product, and weights of 0.
    pub fn channel(&self, bias: i64) -> Budget<'_> {
        let sums = self.levels.iter().map(|level| vec![Span::ZERO; level.count]).collect();
        let limits = self.one_sum.then(|| self.limits(bias));
        Budget { of: self, codes: vec![0; self.operands.len()], total: 0, sums, bias: bias.into(), limits }
    }

    /// Returns the range that the only sum may reach with that bias. It contains 0.
    fn limits(&self, bias: i64) -> Span {
        const NOTHING: Span = Span { min: 1, max: -1 };
        let bias = self.bias.in_unit(bias.into());
        let (start, end) = match self.bias.at {
            BiasPlace::Preload => (bias, None),
            BiasPlace::Post => (0, self.bias.rails.map(|rails| rails.plus(-bias))),
            BiasPlace::PostRequantize => (0, None),
        };
        let level = self.levels.first().and_then(|level| level.stage.rails);
        let any = Span { min: i64::MIN, max: i64::MAX };
        // The initial value has to fit too, and so does 0.
        let own =
            level.map_or(any, |rails| if rails.includes(Span::ZERO) { rails.plus(-start) } else { NOTHING });
        let end = end.unwrap_or(any);
        Span { min: own.min.max(end.min), max: own.max.min(end.max) }
    }

    /// Returns the range of a cell's product as the multiplier hands it on.
    fn product(&self, cell: usize, code: i32) -> Span {
        self.product.hands_on(self.operands[cell].times(code))
    }
}

impl<'a> Budget<'a> {
    /// Returns the codes chosen so far.
    pub fn codes(&self) -> &[i32] {
        &self.codes
    }

    /// Assigns a code to a cell if every register then holds all possible values; otherwise changes nothing.
    /// 0 always fits.
    pub fn set(&mut self, cell: usize, code: i32) -> bool {
        if let Some(limits) = self.limits {
            return self.set_in_one_sum(limits, cell, code);
        }
        let old = self.codes[cell];
        self.put(cell, code);
        if code == 0 || self.holds(cell) {
            return true;
        }
        self.put(cell, old);
        false
    }

    /// Assigns to a cell the code between 0 and `code` that is nearest to `code` and fits, and returns it.
    pub fn set_nearest(&mut self, cell: usize, code: i32) -> i32 {
        if self.set(cell, code) {
            return code;
        }
        if let Some(limits) = self.limits {
            let code = self.nearest_in_one_sum(limits, cell, code);
            self.set_in_one_sum(limits, cell, code);
            return code;
        }
        // The possible range only grows with the magnitude of a weight.
        let (mut fits, mut fails) = (0, code.unsigned_abs());
        while fails - fits > 1 {
            let middle = fits + (fails - fits) / 2;
            match self.set(cell, code.signum() * middle as i32) {
                true => fits = middle,
                false => fails = middle,
            }
        }
        let code = code.signum() * fits as i32;
        self.set(cell, code);
        code
    }

    fn set_in_one_sum(&mut self, limits: Span, cell: usize, code: i32) -> bool {
        let [old, new] = [self.codes[cell], code].map(|code| self.of.operands[cell].times(code));
        let sum = &mut self.sums[0][0];
        let next = sum.replaced(old, new);
        let holds = code == 0 || limits.includes(next);
        if holds {
            *sum = next;
            self.total += i64::from(code) - i64::from(self.codes[cell]);
            self.codes[cell] = code;
        }
        holds
    }

    /// Returns the fitting code nearest to `code`, which itself does not fit. Each step of it adds an equal
    /// amount to both ends of the sum.
    fn nearest_in_one_sum(&self, limits: Span, cell: usize, code: i32) -> i32 {
        let operand = self.of.operands[cell];
        let others = self.sums[0][0].replaced(operand.times(self.codes[cell]), Span::ZERO);
        let step = operand.times(code.signum());
        let most = |room: i64, step: i64| if step == 0 { i64::MAX } else { room / step };
        let room = [others.min.saturating_sub(limits.min), limits.max.saturating_sub(others.max)];
        if room.iter().any(|&room| room < 0) {
            return 0;
        }
        let steps = most(room[0], -step.min).min(most(room[1], step.max)).min(i64::from(code.unsigned_abs()));
        code.signum() * steps as i32
    }

    /// Returns whether all cells could be [`set`](Self::set) to `codes`, one after the other, starting from
    /// 0.
    pub fn fits(&self, codes: impl Iterator<Item = i32>) -> bool {
        let of = self.of;
        if let Some(limits) = self.limits {
            let (mut sum, mut any) = (Span::ZERO, false);
            for (operand, code) in of.operands.iter().zip(codes) {
                sum = sum.replaced(Span::ZERO, operand.times(code));
                any |= code != 0;
            }
            return !any || limits.includes(sum);
        }
        if of.bias.folded != 0 {
            // Constants of zero points rise and fall with the weights, so each step has to fit.
            let mut own = of.channel(0);
            own.bias = self.bias;
            return codes.enumerate().all(|(cell, code)| own.set(cell, code));
        }
        // Otherwise the possible range only grows, and the final range decides.
        let mut sums: Vec<Option<Span>> = vec![None; of.levels.first().map_or(0, |level| level.count)];
        let mut any = false;
        for (cell, code) in codes.enumerate().filter(|&(_, code)| code != 0) {
            if !of.product.holds(of.operands[cell].times(code)) {
                return false;
            }
            any = true;
            if let Some(level) = of.levels.first() {
                let sum = &mut sums[level.runs[cell]];
                *sum = Some(sum.unwrap_or(Span::ZERO).replaced(Span::ZERO, of.product(cell, code)));
            }
        }
        for (index, level) in of.levels.iter().enumerate() {
            if !sums.iter().flatten().all(|&sum| self.level_holds(index, sum)) {
                return false;
            }
            let Some(next) = of.levels.get(index + 1) else { break };
            let mut above = vec![None; next.count];
            for (cell, &run) in level.runs.iter().enumerate() {
                // The first cell of a run adds the sum of the whole run.
                if let Some(sum) = sums[run].take() {
                    let into: &mut Option<Span> = &mut above[next.runs[cell]];
                    *into = Some(into.unwrap_or(Span::ZERO).replaced(Span::ZERO, level.stage.hands_on(sum)));
                }
            }
            sums = above;
        }
        !any || self.end_holds(sums.first().copied().flatten().unwrap_or(Span::ZERO))
    }

    /// Returns the biases with which every register holds all possible values; `None` if there is no such
    /// bias. They are in steps of a product, before constants of zero points are added.
    pub fn biases(&self) -> Option<Range> {
        let bias = &self.of.bias;
        let sum = self.last_sum();
        let (rails, sum) = match bias.at {
            BiasPlace::Preload => (self.of.levels.last()?.stage.rails, sum),
            BiasPlace::Post => (bias.rails, self.of.levels.last()?.stage.hands_on(sum)),
            BiasPlace::PostRequantize => (None, sum),
        };
        let (rails, sum) = (rails.map(Span::range), sum.range());
        let any = Range::new(i32::MIN, i32::MAX);
        let Some(rails) = rails else { return Some(any) };
        let high = self.furthest(rails.max - sum.max.max(0), 1);
        let low = self.furthest(rails.min - sum.min.min(0), -1);
        let folded = self.folded();
        let within = Range { min: (low - folded).max(any.min), max: (high - folded).min(any.max) };
        (within.min <= within.max).then_some(within)
    }

    /// Returns the most extreme bias on the side of `sign` whose rounded value is at most `limit`, in its
    /// unit.
    fn furthest(&self, limit: i128, sign: i128) -> i128 {
        let bias = &self.of.bias;
        let unit = 1i128 << bias.shift;
        let within = |value: i128| (limit - bias.round.shift_right(value, bias.shift)) * sign >= 0;
        // Every rounding keeps whole units, and moves other values by less than one.
        let (mut holds, mut fails) = (limit * unit, (limit + sign) * unit);
        while (fails - holds).abs() > 1 {
            let middle = holds + (fails - holds) / 2;
            if within(middle) { holds = middle } else { fails = middle }
        }
        holds
    }

    /// Returns the range that the last level may add to its initial value.
    fn last_sum(&self) -> Span {
        self.sums.last().and_then(|runs| runs.first()).copied().unwrap_or(Span::ZERO)
    }

    fn folded(&self) -> i128 {
        self.of.bias.folded * i128::from(self.total)
    }

    fn put(&mut self, cell: usize, code: i32) {
        let [mut old, mut new] = [self.codes[cell], code].map(|code| self.of.product(cell, code));
        for (level, sums) in self.of.levels.iter().zip(&mut self.sums) {
            let sum = &mut sums[level.runs[cell]];
            let before = *sum;
            *sum = before.replaced(old, new);
            (old, new) = (level.stage.hands_on(before), level.stage.hands_on(*sum));
        }
        self.total += i64::from(code) - i64::from(self.codes[cell]);
        self.codes[cell] = code;
    }

    /// Returns whether the registers on the path of a cell's product hold all values.
    fn holds(&self, cell: usize) -> bool {
        let sums = |(index, (level, sums)): (usize, (&Level, &Vec<Span>))| {
            self.level_holds(index, sums[level.runs[cell]])
        };
        self.of.product.holds(self.of.operands[cell].times(self.codes[cell]))
            && self.of.levels.iter().zip(&self.sums).enumerate().all(sums)
            && self.end_holds(self.last_sum())
    }

    /// Returns whether the register of a level holds all values of a run with sum `sum`.
    fn level_holds(&self, index: usize, sum: Span) -> bool {
        let starts = index + 1 == self.of.levels.len() && self.of.bias.at == BiasPlace::Preload;
        let start = if starts { self.bias_in_unit() } else { 0 };
        self.of.levels[index].stage.holds(sum.plus(start).with(start).with(0))
    }

    /// Returns whether the bias adder holds all results of the last level's sum.
    fn end_holds(&self, sum: Span) -> bool {
        let Some(level) = self.of.levels.last().filter(|_| self.of.bias.at == BiasPlace::Post) else {
            return true;
        };
        let Some(rails) = self.of.bias.rails else { return true };
        let out = level.stage.hands_on(sum.with(0)).plus(self.bias_in_unit());
        rails.includes(out)
    }

    fn bias_in_unit(&self) -> i64 {
        self.of.bias.in_unit(self.bias + self.folded())
    }
}
