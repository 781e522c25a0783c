//! Which values can reach a register, whatever the operands: bounds over all stimuli of a layer.
//!
//! Intervals, from the operands' ranges outwards. They hold for every dot product of up to the layer's number of
//! terms; whatever lies outside them is proved unreachable. What lies inside may or may not be reachable.

use crate::contract::{Range, register, rounding};
use crate::manifest::{Arithmetic, LevelInfo, Stage};
use guardbit_hwmodels::Register;
use guardbit_num::{Format, Overflow};

const ZERO: Range = Range { min: 0, max: 0 };

/// What can be seen at every register of a datapath.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// Exact products.
    pub product: Range,
    /// What leaves the multipliers: fitted and shifted.
    pub product_out: Range,
    /// Levels, innermost first.
    pub levels: Vec<LevelReach>,
    /// Exact results of the bias adder, where there is one.
    pub bias: Option<Range>,
}

/// What can be seen at a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LevelReach {
    /// What arrives.
    pub input: Range,
    /// Exact results where the level compares them with its rails.
    pub result: Range,
    /// Unbounded prefix sums.
    pub prefix: Range,
    /// What the level starts a run from.
    pub start: Range,
    /// Unbounded values that arrive.
    pub step: Range,
    /// Most values in a run.
    pub values: usize,
    /// What is handed over.
    pub out: Range,
    /// Most runs of a dot product.
    pub runs: usize,
    /// Whether a value can be added in the run after an addition that can overflow.
    pub goes_on: bool,
}

impl Reach {
    /// The reach of a layer whose dot products have up to `terms` products.
    pub fn new(arithmetic: &Arithmetic, terms: usize) -> Self {
        let terms = terms.max(1);
        let (a, w) = (&arithmetic.activation, &arithmetic.weight);
        let corners = [a.min, a.max].map(|a| [w.min, w.max].map(|w| i128::from(a) * i128::from(w)));
        let product = corners.as_flattened().iter().fold(ZERO, |r, &v| r.join(Range { min: v, max: v }));
        let product_out = leave(fitted(product, &arithmetic.product), &arithmetic.product);
        let mut unbounded = leave(product, &arithmetic.product);
        let mut below = Below { full: product_out, whole: product_out, rest: None, products: 1 };
        let mut levels = Vec::new();
        let count = arithmetic.levels.len();
        for (index, level) in arithmetic.levels.iter().enumerate() {
            let preload = arithmetic.bias.at == "preload" && index + 1 == count;
            let start = if preload { word(arithmetic) } else { ZERO };
            let values = terms.div_ceil(below.products);
            let length = level.terms.unwrap_or(values).clamp(1, values);
            let products = (below.products * length).min(terms);
            let rest = terms % products;
            let full = Run::new(level, &below, products, start);
            let part = (rest > 0).then(|| Run::new(level, &below, rest, start));
            let seen = part.map_or(full.result, |p| p.result.join(full.result));
            let sum = |r: Range| Range {
                min: (start.min + r.min * length as i128).min(0),
                max: (start.max + r.max * length as i128).max(0),
            };
            let prefix = sum(unbounded);
            levels.push(LevelReach {
                input: below.rest.map_or(below.full, |r| r.join(below.full)),
                result: seen,
                prefix,
                start,
                step: unbounded,
                values: length,
                out: part.map_or(full.out, |p| p.out.join(full.out)),
                runs: terms.div_ceil(products),
                goes_on: full.goes_on || part.is_some_and(|p| p.goes_on),
            });
            unbounded = leave(prefix, &level.stage);
            below = Below { full: full.out, whole: full.whole, rest: part.map(|p| p.out), products };
        }
        let bias = (arithmetic.bias.at == "post").then(|| {
            let (sum, word) = (levels.last().map_or(ZERO, |l| l.out), word(arithmetic));
            Range { min: sum.min + word.min, max: sum.max + word.max }
        });
        Self { product, product_out, levels, bias }
    }
}

/// What the bias port can show.
fn word(arithmetic: &Arithmetic) -> Range {
    Range { min: arithmetic.bias.word_min.into(), max: arithmetic.bias.word_max.into() }
}

/// The values that a level gets: full runs of the level below, and a shorter last one.
struct Below {
    full: Range,
    /// Those with all products, behind which more may follow; the last of a shorter dot product may have fewer.
    whole: Range,
    rest: Option<Range>,
    /// Products of a full one.
    products: usize,
}

/// One run of a level.
#[derive(Clone, Copy)]
struct Run {
    result: Range,
    out: Range,
    /// What is handed over if no product is missing.
    whole: Range,
    goes_on: bool,
}

impl Run {
    /// A run of up to `products` products.
    fn new(level: &LevelInfo, below: &Below, products: usize, start: Range) -> Self {
        let full = products / below.products;
        let mut values = vec![below.full; full];
        // A remainder is the last run of the level below.
        if !products.is_multiple_of(below.products) {
            values.push(below.rest.unwrap_or(below.full));
        }
        match (level.reduce.as_str(), level.check.as_str()) {
            ("tree", "each_add") => Self::tree(level, &values, below.whole),
            (_, "hand_over") => {
                let sum = values.iter().fold(start, |sum, &value| sum.plus(value));
                // A dot product may have fewer terms.
                let result = sum.join(start).join(ZERO);
                let out = leave(fitted(result, &level.stage), &level.stage);
                Self { result, out, whole: out, goes_on: false }
            }
            _ => Self::serial(level, &values, below.whole, start),
        }
    }

    fn serial(level: &LevelInfo, values: &[Range], whole: Range, start: Range) -> Self {
        let stage = &level.stage;
        let rails = rails(stage);
        let misfit = |r: Range| rails.is_some_and(|rails| r.min < rails.min || r.max > rails.max);
        let mut result = start.join(ZERO);
        let mut held = fitted(result, stage);
        let mut out = held;
        let mut goes_on = misfit(result) && !values.is_empty();
        for (index, &value) in values.iter().enumerate() {
            let last = held.plus(value);
            result = result.join(last);
            out = out.join(fitted(last, stage));
            if index + 1 < values.len() {
                let sum = held.plus(whole);
                goes_on |= misfit(sum);
                held = held.join(fitted(sum, stage));
            }
        }
        let out = leave(out, stage);
        Self { result, out, whole: out, goes_on }
    }

    fn tree(level: &LevelInfo, values: &[Range], whole: Range) -> Self {
        let leaf = values.iter().fold(ZERO, |r, &v| r.join(v));
        let (mut node, mut result) = (leaf, ZERO);
        let rounds = usize::BITS - values.len().saturating_sub(1).leading_zeros();
        for _ in 0..rounds {
            let sum = Range { min: 2 * node.min, max: 2 * node.max };
            result = result.join(sum);
            // An odd last value passes up unchanged.
            node = node.join(fitted(sum, &level.stage));
        }
        let whole = pairwise(vec![whole; values.len()], &level.stage);
        Self { result, out: leave(node, &level.stage), whole: leave(whole, &level.stage), goes_on: false }
    }
}

/// What a tree makes of exactly these values: pairs, round after round, an odd last one unchanged.
fn pairwise(mut values: Vec<Range>, stage: &Stage) -> Range {
    while values.len() > 1 {
        let pair = |pair: &[Range]| match *pair {
            [a, b] => fitted(a.plus(b), stage),
            _ => pair[0],
        };
        values = values.chunks(2).map(pair).collect();
    }
    values.first().copied().unwrap_or(ZERO)
}

/// What a register compares values with; none if it is as wide as it takes.
pub(crate) fn rails(stage: &Stage) -> Option<Range> {
    let (format, overflow) = format(stage)?;
    let (min, max) = overflow.limits(format);
    Some(Range { min, max })
}

/// The format and mode of a register of a width.
pub(crate) fn format(stage: &Stage) -> Option<(Format, Overflow)> {
    match register(stage).ok()? {
        Register::Auto => None,
        Register::Fixed { format, overflow } => Some((format, overflow)),
    }
}

/// What a register holds of exact values in `range`.
fn fitted(range: Range, stage: &Stage) -> Range {
    let Some((format, overflow)) = format(stage) else { return range };
    let (min, max) = overflow.limits(format);
    if min <= range.min && range.max <= max {
        return range;
    }
    match overflow {
        Overflow::Observe | Overflow::Trap => range,
        Overflow::Wrap => Range { min: format.min(), max: format.max() },
        Overflow::Saturate | Overflow::SaturateSymmetric | Overflow::Sticky => {
            Range { min: range.min.clamp(min, max), max: range.max.clamp(min, max) }
        }
        Overflow::SaturateZero => Range { min: range.min.max(min).min(0), max: range.max.min(max).max(0) },
    }
}

/// The bits dropped behind a register.
fn leave(range: Range, stage: &Stage) -> Range {
    match rounding(stage) {
        Ok(round) => range.map(|v| round.shift_right(v, stage.shift)),
        Err(_) => range,
    }
}

#[cfg(test)]
mod tests;
