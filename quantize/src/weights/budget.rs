//! Whether weights fit every register of a datapath, whatever the activations are.
//!
//! The same bound as [`LayerBounds`](guardbit_hwmodels::bounds::LayerBounds) proves for finished weights, kept up to date
//! while they are chosen one by one: with products of any activation and weight, no run of any level leaves its register.
//! Inner and outer accumulators are levels like any others, so AXE's budgets of tiles (Colbert et al., "Accumulator-Aware
//! Post-Training Quantization", 2024) are the special case of two levels without shifts. Every operand range contains 0, so
//! the bound holds for every prefix and for every order.

use guardbit_graph::Graph;
use guardbit_hwmodels::bounds::{Range, operand_ranges};
use guardbit_hwmodels::{BiasPlace, MacLayer, Register, ShiftRounding, ZeroPoint};
use guardbit_num::Rounding;

/// What the registers of a layer hold, for weights whose zero point is 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgets {
    /// By place in the order of addition, all that a multiplier can see of the activation.
    operands: Vec<Range>,
    product: Stage,
    levels: Vec<Level>,
    /// By cell, the place of its product in the order of addition.
    places: Vec<usize>,
    bias: BiasStage,
}

/// What a register holds, and what it hands on.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stage {
    rails: Option<Range>,
    shift: u32,
    round: ShiftRounding,
}

#[derive(Debug, Clone, PartialEq)]
struct Level {
    stage: Stage,
    /// Values of the level below that a run takes.
    run: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct BiasStage {
    at: BiasPlace,
    rails: Option<Range>,
    /// What each step of a weight adds to the bias: less the zero point that products of raw codes leave behind.
    folded: i128,
    shift: u32,
    round: Rounding,
}

/// The weights of one output channel, as far as they are chosen, and the sums that they allow. All are 0 at first.
#[derive(Debug, Clone)]
pub struct Budget<'a> {
    of: &'a Budgets,
    codes: Vec<i32>,
    /// By level and run.
    sums: Vec<Vec<Range>>,
    /// The bias in steps of a product, constants of zero points included.
    bias: i128,
}

/// `rails` with room for `slack` on both sides.
fn less(rails: Range, slack: i128) -> Range {
    Range { min: rails.min + slack, max: rails.max - slack }
}

impl Stage {
    fn new(register: Register, shift: u32, round: ShiftRounding) -> Self {
        Self { rails: register.limits(), shift, round }
    }

    /// With room for `slack` on both sides.
    fn less(self, slack: i128) -> Self {
        Self { rails: self.rails.map(|rails| less(rails, slack)), ..self }
    }

    fn holds(&self, value: Range) -> bool {
        self.rails.is_none_or(|rails| rails.contains(value))
    }

    fn hands_on(&self, value: Range) -> Range {
        value.shift_right(self.shift, self.round)
    }
}

impl Budgets {
    /// Returns the budgets of a layer of a program over `graph`, from its input codes, zero point and datapath. Its weights and
    /// biases do not matter, but for the weights' zero point, which has to be 0, and for whether there are biases.
    pub fn new(graph: &Graph, layer: &MacLayer) -> Self {
        let datapath = &layer.datapath;
        let mut values = layer.order.len();
        let mut levels = Vec::with_capacity(datapath.levels.len());
        // A run of products in any order may hold any of them: then each register takes all, and what roundings of single
        // runs can make of them.
        let any_order = datapath.order.walk.depends_on_data();
        let mut slack = 0;
        for level in &datapath.levels {
            let run = level.terms.run_length(values).max(1);
            values = values.div_ceil(run);
            slack *= run as i128;
            let stage = Stage::new(level.register, level.shift, level.round).less(slack);
            levels.push(Level { stage, run: if any_order { layer.order.len().max(1) } else { run } });
            // One run has the same products in every order.
            slack += i128::from(any_order && level.shift > 0 && values > 1);
        }
        let mut places = vec![0; layer.order.len()];
        layer.order.iter().enumerate().for_each(|(place, &cell)| places[cell] = place);
        let folds = datapath.operands.zero_point == ZeroPoint::Fold;
        let unit = match datapath.bias.at {
            BiasPlace::Preload => datapath.levels.len().saturating_sub(1),
            BiasPlace::Post | BiasPlace::PostRequantize => datapath.levels.len(),
        };
        Self {
            operands: operand_ranges(graph, layer),
            product: Stage::new(datapath.product.register, datapath.product.shift, datapath.product.round),
            levels,
            places,
            bias: BiasStage {
                at: datapath.bias.at,
                // Without anything to add there is no adder.
                rails: layer
                    .bias
                    .as_ref()
                    .and_then(|_| datapath.bias.register.limits())
                    .map(|rails| less(rails, slack)),
                folded: if folds { -i128::from(layer.dots.input_zero_point) } else { 0 },
                shift: datapath.unit_shift(unit),
                round: datapath.unit_rounding(unit),
            },
        }
    }

    /// A channel with that bias, in steps of a product, and weights of 0.
    pub fn channel(&self, bias: i64) -> Budget<'_> {
        let mut values = self.places.len();
        let mut sums = Vec::with_capacity(self.levels.len());
        for level in &self.levels {
            values = values.div_ceil(level.run);
            sums.push(vec![Range::ZERO; values]);
        }
        Budget { of: self, codes: vec![0; self.places.len()], sums, bias: bias.into() }
    }
}

impl<'a> Budget<'a> {
    /// The codes chosen so far.
    pub fn codes(&self) -> &[i32] {
        &self.codes
    }

    /// Gives a cell a code if every register holds all that is possible then; otherwise nothing changes. 0 always fits.
    pub fn set(&mut self, cell: usize, code: i32) -> bool {
        let old = self.codes[cell];
        self.put(cell, code);
        if code == 0 || self.holds(cell) {
            return true;
        }
        self.put(cell, old);
        false
    }

    /// Gives a cell the code nearest to `code`, between 0 and it, that fits, and says which.
    pub fn set_nearest(&mut self, cell: usize, code: i32) -> i32 {
        if self.set(cell, code) {
            return code;
        }
        // What is possible only grows with a weight of either sign.
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

    /// The biases, in steps of a product and before constants of zero points are added, with which every register holds all
    /// that is possible; `None` if there is no such bias.
    pub fn biases(&self) -> Option<Range> {
        let bias = &self.of.bias;
        let sum = self.last_sum();
        let (rails, sum) = match bias.at {
            BiasPlace::Preload => (self.of.levels.last()?.stage.rails, sum),
            BiasPlace::Post => (bias.rails, self.of.levels.last()?.stage.hands_on(sum)),
            BiasPlace::PostRequantize => (None, sum),
        };
        let any = Range::new(i32::MIN, i32::MAX);
        let Some(rails) = rails else { return Some(any) };
        let high = self.furthest(rails.max - sum.max.max(0), 1);
        let low = self.furthest(rails.min - sum.min.min(0), -1);
        let folded = self.folded();
        let within = Range { min: (low - folded).max(any.min), max: (high - folded).min(any.max) };
        (within.min <= within.max).then_some(within)
    }

    /// The bias furthest to the side of `sign` that is `limit` at most, in its unit.
    fn furthest(&self, limit: i128, sign: i128) -> i128 {
        let bias = &self.of.bias;
        let unit = 1i128 << bias.shift;
        let within = |value: i128| (limit - bias.round.shift_right(value, bias.shift)) * sign >= 0;
        // Every way of rounding keeps whole units, and moves others by less than one.
        let (mut holds, mut fails) = (limit * unit, (limit + sign) * unit);
        while (fails - holds).abs() > 1 {
            let middle = holds + (fails - holds) / 2;
            if within(middle) { holds = middle } else { fails = middle }
        }
        holds
    }

    /// What the last level may hold, without what it starts from.
    fn last_sum(&self) -> Range {
        self.sums.last().and_then(|runs| runs.first()).copied().unwrap_or(Range::ZERO)
    }

    fn folded(&self) -> i128 {
        self.of.bias.folded * self.codes.iter().map(|&code| i128::from(code)).sum::<i128>()
    }

    fn product(&self, cell: usize, code: i32) -> Range {
        self.of.operands[self.of.places[cell]].times(Range::point(code))
    }

    fn put(&mut self, cell: usize, code: i32) {
        let stage = self.of.product;
        let [mut old, mut new] =
            [self.codes[cell], code].map(|code| stage.hands_on(self.product(cell, code)));
        let mut place = self.of.places[cell];
        for (level, sums) in self.of.levels.iter().zip(&mut self.sums) {
            place /= level.run;
            let sum = &mut sums[place];
            let before = *sum;
            *sum = Range { min: before.min - old.min + new.min, max: before.max - old.max + new.max };
            (old, new) = (level.stage.hands_on(before), level.stage.hands_on(*sum));
        }
        self.codes[cell] = code;
    }

    /// Whether the registers that the product of a cell comes by hold everything.
    fn holds(&self, cell: usize) -> bool {
        if !self.of.product.holds(self.product(cell, self.codes[cell])) {
            return false;
        }
        let mut place = self.of.places[cell];
        let last = self.of.levels.len().saturating_sub(1);
        for (index, (level, sums)) in self.of.levels.iter().zip(&self.sums).enumerate() {
            place /= level.run;
            let start = match index == last && self.of.bias.at == BiasPlace::Preload {
                true => self.bias_in_unit(),
                false => Range::ZERO,
            };
            if !level.stage.holds(sums[place].plus(start).hull(start).hull(Range::ZERO)) {
                return false;
            }
        }
        let Some(level) = self.of.levels.last().filter(|_| self.of.bias.at == BiasPlace::Post) else {
            return true;
        };
        let out = level.stage.hands_on(self.last_sum().hull(Range::ZERO));
        self.of.bias.rails.is_none_or(|rails| rails.contains(out.plus(self.bias_in_unit())))
    }

    fn bias_in_unit(&self) -> Range {
        let bias = &self.of.bias;
        Range::point(self.bias + self.folded()).shift_right(bias.shift, bias.round)
    }
}
