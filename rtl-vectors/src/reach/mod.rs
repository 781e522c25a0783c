//! Computes which values can reach a register: bounds over all stimuli of a layer.
//!
//! The bounds are intervals, computed from the operands' ranges outwards. They hold for every dot product of
//! up to the layer's number of terms. A value outside them is proved unreachable; a value inside them may or
//! may not be reachable.

mod bits;
mod sets;
mod tree;

use guardbit_hwmodels::bounds::Range;
use guardbit_hwmodels::reduction::{Limits, RunReach};
use guardbit_hwmodels::{Check, Reduce};
use guardbit_num::{Format, Overflow};

pub(crate) use bits::{Bits, Effort};
pub(crate) use sets::Sets;
pub(crate) use tree::{Nodes, left};

use crate::arithmetic::register;
use crate::manifest::{Arithmetic, BiasAt, LevelInfo, Operand, RegisterInfo};

/// Ranges of the values at every register of a datapath.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// Range of exact products.
    pub product: Range,
    /// Range of the values that leave the multipliers, after the register and the shift.
    pub product_out: Range,
    /// Ranges per level, innermost first.
    pub levels: Vec<LevelReach>,
    /// Range of exact results of the bias adder, if there is one.
    pub bias: Option<Range>,
}

/// Ranges of the values at a level. The fields resemble the simulator's results of a level in shape
/// only: these are bounds over all stimuli.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LevelReach {
    /// Range of the values that arrive.
    pub input: Range,
    /// Range of exact results where the level compares them with its rails.
    pub result: Range,
    /// Range of unbounded prefix sums.
    pub prefix: Range,
    /// Range of a run's initial values.
    pub start: Range,
    /// Range of the values that arrive from complete runs.
    pub value: Range,
    /// Values of a complete run, and of a shorter last one, with unlimited widths.
    pub lists: [Option<Values>; 2],
    /// Range of the results that another addition of the run follows; `None` if a run has one value.
    pub early: Option<Range>,
    /// Range of the values that are handed over.
    pub out: Range,
    /// Greatest number of runs of a dot product.
    pub runs: usize,
    /// Whether the run can continue after an addition that can overflow.
    pub goes_on: bool,
}

/// Values that a run adds, or the first ones of which it adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Values {
    /// Range of each value from a complete run of the level below.
    pub full: Range,
    /// Number of such values.
    pub count: usize,
    /// Range of a last value, from a shorter run.
    pub rest: Option<Range>,
}

impl Values {
    /// Returns the values of a run of `products` products.
    fn new(full: Range, rest: Option<Range>, below: usize, products: usize) -> Self {
        let rest = (!products.is_multiple_of(below)).then(|| rest.unwrap_or(full));
        Self { full, count: products / below, rest }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.count + usize::from(self.rest.is_some())
    }

    /// Returns the range of each value.
    pub fn ranges(&self) -> impl Iterator<Item = Range> {
        std::iter::repeat_n(self.full, self.count).chain(self.rest)
    }

    /// Returns the range of the sums of the first values, and 0.
    fn sums(&self, start: Range) -> Range {
        let full = self.full.hull(Range::ZERO).repeated(self.count);
        start
            .plus(full)
            .plus(self.rest.unwrap_or(Range::ZERO).hull(Range::ZERO))
            .hull(start)
            .hull(Range::ZERO)
    }
}

impl Reach {
    /// Returns the reach of a layer whose dot products have up to `terms` products.
    pub fn new(arithmetic: &Arithmetic, terms: usize) -> Self {
        let terms = terms.max(1);
        let operand = |operand: &Operand| Range::new(operand.min, operand.max);
        let product = operand(&arithmetic.activation).times(operand(&arithmetic.weight)).hull(Range::ZERO);
        let product_out = leave(arithmetic.product.fitted(product), &arithmetic.product);
        let mut unbounded = (leave(product, &arithmetic.product), None);
        let mut below = Below { full: product_out, whole: product_out, rest: None, products: 1 };
        let mut levels = Vec::new();
        let count = arithmetic.levels.len();
        for (index, level) in arithmetic.levels.iter().enumerate() {
            let preload = arithmetic.bias.at == BiasAt::PRELOAD && index + 1 == count;
            let start = if preload { word(arithmetic) } else { Range::ZERO };
            let values = terms.div_ceil(below.products);
            let length = level.terms.unwrap_or(values).clamp(1, values);
            let products = (below.products * length).min(terms);
            let rest = terms % products;
            let full = run(level, &below, products, start);
            let part = (rest > 0).then(|| run(level, &below, rest, start));
            let early = products.checked_sub(below.products).filter(|&early| early > 0);
            let list = |products: usize| Values::new(unbounded.0, unbounded.1, below.products, products);
            let lists = [Some(list(products)), (rest > 0).then(|| list(rest))];
            let sums = lists.map(|list| list.map(|list| list.sums(start)));
            levels.push(LevelReach {
                input: below.rest.map_or(below.full, |r| r.hull(below.full)),
                result: part.map_or(full.result, |p| p.result.hull(full.result)),
                prefix: sums.into_iter().flatten().fold(Range::ZERO, Range::hull),
                start,
                value: below.full,
                early: early.map(|early| run(level, &below, early, start).result.hull(start)),
                lists,
                out: part.map_or(full.out, |p| p.out.hull(full.out)),
                runs: terms.div_ceil(products),
                goes_on: full.goes_on || part.is_some_and(|p| p.goes_on),
            });
            unbounded = (
                sums[0].map_or(Range::ZERO, |sum| leave(sum, &level.register)),
                sums[1].map(|sum| leave(sum, &level.register)),
            );
            below = Below { full: full.out, whole: full.whole, rest: part.map(|p| p.out), products };
        }
        let bias = (arithmetic.bias.at == BiasAt::POST).then(|| {
            let (sum, word) = (levels.last().map_or(Range::ZERO, |l| l.out), word(arithmetic));
            Range { min: sum.min + word.min, max: sum.max + word.max }
        });
        Self { product, product_out, levels, bias }
    }
}

/// Returns the range of the bias port.
fn word(arithmetic: &Arithmetic) -> Range {
    Range { min: arithmetic.bias.word_min.into(), max: arithmetic.bias.word_max.into() }
}

/// Values that a level receives: full runs of the level below, and a shorter last one.
struct Below {
    full: Range,
    /// Range of full runs with all products, after which more may follow. The last run of a shorter dot
    /// product may have fewer products.
    whole: Range,
    rest: Option<Range>,
    /// Number of products of a full run.
    products: usize,
}

/// Computes one run of a level of up to `products` products.
fn run(level: &LevelInfo, below: &Below, products: usize, start: Range) -> RunReach {
    let full = products / below.products;
    let mut values = vec![below.full; full];
    // A remainder is the last run of the level below.
    if !products.is_multiple_of(below.products) {
        values.push(below.rest.unwrap_or(below.full));
    }
    let register = &level.register;
    let reach = match level.check {
        // Products are alike, so the number of values says all of a node.
        Check::EachAdd if level.reduce == Reduce::Tree && below.products == 1 => {
            Nodes::new(level, below.full, values.len()).reach()
        }
        Check::EachAdd => level.reduce.reach(&values, below.whole, start, register),
        Check::HandOver => {
            let sum = values.iter().fold(start, |sum, &value| sum.plus(value));
            // A dot product may have fewer terms.
            let result = sum.hull(start).hull(Range::ZERO);
            let out = register.fitted(result);
            RunReach { result, out, whole: out, goes_on: false }
        }
    };
    RunReach { out: leave(reach.out, register), whole: leave(reach.whole, register), ..reach }
}

impl Limits for RegisterInfo {
    fn fitted(&self, range: Range) -> Range {
        let Some((format, overflow)) = format(self) else { return range };
        let (min, max) = overflow.fit_range(range.min, range.max, format);
        Range { min, max }
    }

    fn misfit(&self, range: Range) -> bool {
        rails(self).is_some_and(|rails| !rails.contains(range))
    }
}

/// Returns the range with which a register compares values; `None` if it is wide enough for all.
pub(crate) fn rails(info: &RegisterInfo) -> Option<Range> {
    register(info).ok()?.limits()
}

/// Returns format and overflow mode of a register with a width.
pub(crate) fn format(info: &RegisterInfo) -> Option<(Format, Overflow)> {
    register(info).ok()?.fixed()
}

/// Returns the range after the bits below a register's output are dropped.
fn leave(range: Range, register: &RegisterInfo) -> Range {
    range.shift_right(register.shift, register.round)
}

#[cfg(test)]
mod tests;
