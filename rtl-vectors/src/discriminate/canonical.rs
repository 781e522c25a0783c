//! Proofs that two accelerators return equal sums: their datapaths without what cannot change a sum.

use guardbit_graph::{DType, Graph};
use guardbit_hwmodels::bounds::Range;
use guardbit_hwmodels::{BiasPlace, Check, Datapath, MacLayer, Reduce, Walk, ZeroPoint};
use guardbit_num::{Overflow, Rounding};

use super::search::Search;
use crate::arithmetic;
use crate::manifest::{LevelInfo, RegisterInfo};
use crate::reach::{LevelReach, Reach, rails};

/// Datapath without what cannot change the sum of any input. Accelerators with equal ones are equal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Canonical {
    /// Order of the products, if it matters.
    order: Option<(Vec<usize>, Walk)>,
    /// Whether zero points are folded, if it matters.
    zero_point: Option<ZeroPoint>,
    /// Register of the products, if it changes one.
    product: Option<Stage>,
    /// Levels that may change a sum, and levels that divide products into runs for them.
    levels: Vec<Stage>,
    /// Place of the bias, if it matters.
    place: Option<BiasPlace>,
    /// Adder of the bias, if it changes a sum.
    adder: Option<Stage>,
}

/// Register of a level, or an adder, as far as it matters.
#[derive(Debug, Clone, PartialEq)]
struct Stage {
    /// Width, sign and mode, if some value does not fit.
    register: Option<(Option<u32>, bool, Option<Overflow>)>,
    shift: u32,
    round: Option<Rounding>,
    reduce: Option<Reduce>,
    terms: Option<usize>,
    /// `each_add`, or nothing where it makes no difference.
    check: Option<Check>,
}

impl Canonical {
    /// Returns that of a layer for every input of a search; `None` if bundles do not support the datapath.
    pub fn whole(graph: &Graph, layer: &MacLayer, search: &Search) -> Option<Self> {
        Self::new(graph, layer, search, search.layer.terms)
    }

    /// Returns that for inputs of up to `terms` products; all further products are 0.
    pub fn of_prefix(graph: &Graph, layer: &MacLayer, search: &Search, terms: usize) -> Option<Self> {
        // Under `fold`, a product of raw codes is 0 only if a code is.
        let has_zeros =
            layer.datapath.operands.zero_point == ZeroPoint::Subtract || search.layer.weight_zero_point == 0;
        // Products that are 0 stand between the others if they are not added from first to last.
        let in_order = layer.datapath.order.walk == Walk::Forward;
        // A tree compares no sum with its rails where it has a single value, which a product of 0 changes.
        let has_tree = layer.datapath.levels.iter().any(|level| level.reduce != Reduce::Serial);
        let terms = if has_zeros && in_order && !has_tree { terms } else { search.layer.terms };
        Self::new(graph, layer, search, terms)
    }

    fn new(graph: &Graph, layer: &MacLayer, search: &Search, terms: usize) -> Option<Self> {
        let datapath = &layer.datapath;
        let mut arithmetic = arithmetic::arithmetic(graph, layer).ok()?;
        let word = bias_word(datapath, search);
        arithmetic.bias.word_min = i64::try_from(word.min).ok()?;
        arithmetic.bias.word_max = i64::try_from(word.max).ok()?;
        if terms == 0 {
            (arithmetic.activation.min, arithmetic.activation.max) = (0, 0);
        }
        let reach = Reach::new(&arithmetic, terms);
        let product = stage(&arithmetic.product, reach.product);
        let stages = arithmetic.levels.iter().zip(&reach.levels);
        let stages = stages.map(|(level, reach)| level_stage(level, reach)).collect();
        let mut levels = that_matter(stages);
        let mut adder = reach.bias.and_then(|sum| stage(&arithmetic.bias.register, sum));
        let mut place = datapath.bias.at;
        if let [level] = levels.as_mut_slice() {
            // A negative product is added to a sum of at least 0, and any other to a sum below 0, until only products of one
            // sign remain. If the former sums fit, the first sum that does not fit is one of the latter.
            let turns = Range { max: reach.product_out.max - 1, ..reach.product_out };
            let greedy =
                datapath.order.walk == Walk::Greedy && place != BiasPlace::Preload && product.is_none();
            if greedy && level.saturates() && !arithmetic.levels.iter().any(|level| misfits(level, turns)) {
                level.sum_once();
            }
            // A bias that is in the sum before it is fitted may as well be added afterwards, if nothing else is.
            if place == BiasPlace::Preload
                && !layer.has_side_sums()
                && level.sums_once()
                && level.shift == 0
                && product.is_none()
            {
                (place, adder) = (BiasPlace::Post, levels.pop());
            }
        }
        let order_matters = match levels.as_slice() {
            [] => false,
            [level] => !level.sums_once(),
            _ => true,
        };
        let folds = [search.layer.activation_zero_point, search.layer.weight_zero_point] != [0, 0];
        // The adder then fits the sum of all products, the bias and all constants, wherever they come from.
        let sums_all = product.is_none() && levels.is_empty() && place != BiasPlace::PostRequantize;
        Some(Self {
            order: order_matters.then(|| (layer.order.clone(), datapath.order.walk.clone())),
            zero_point: (folds && !sums_all).then_some(datapath.operands.zero_point),
            product,
            levels,
            place: (!sums_all).then_some(place),
            adder,
        })
    }
}

impl Stage {
    /// Returns whether the level fits the sum of all values once, or wraps. Runs and order then do not matter.
    fn sums_once(&self) -> bool {
        self.check != Some(Check::EachAdd)
    }

    /// Makes it fit the sum of all values once.
    fn sum_once(&mut self) {
        (self.reduce, self.terms, self.check) = (None, None, None);
        self.register = self.register.map(|(bits, signed, overflow)| (bits, signed, overflow.map(stateless)));
    }

    /// Returns whether it is a serial register that stays at a rail while sums move towards it.
    fn saturates(&self) -> bool {
        let stays = |(_, _, overflow)| {
            matches!(overflow, Some(Overflow::Saturate | Overflow::SaturateSymmetric | Overflow::Sticky))
        };
        self.reduce == Some(Reduce::Serial) && self.register.is_some_and(stays)
    }

    fn is_idle(&self) -> bool {
        self.register.is_none() && self.shift == 0
    }
}

/// Returns the range of biases, with the constants of folded zero points.
fn bias_word(datapath: &Datapath, search: &Search) -> Range {
    let half = (1i128 << search.bias_bits) / 2;
    let own = if search.bias_bits == 0 { Range::ZERO } else { Range { min: -half, max: half - 1 } };
    if datapath.operands.zero_point == ZeroPoint::Subtract {
        return own;
    }
    let layer = &search.layer;
    let most = |dtype: DType| {
        let range = Range::of_codes(dtype);
        range.min.abs().max(range.max.abs())
    };
    let [a, w] = [most(layer.activation), most(layer.weight)];
    let [za, zw] = [layer.activation_zero_point, layer.weight_zero_point].map(|z| i128::from(z).abs());
    let constants = layer.terms as i128 * (za * w + zw * a + za * zw);
    own.plus(Range { min: -constants, max: constants })
}

/// Returns a register as a stage; `None` if it keeps every value of `range` and drops no bits.
fn stage(info: &RegisterInfo, range: Range) -> Option<Stage> {
    let keeps = matches!(info.overflow, Some(Overflow::Observe | Overflow::Trap));
    let fits = keeps || rails(info).is_none_or(|rails| rails.contains(range));
    // What fits a single value has no state that could stick, and a restricted range differs only at its least value.
    let restricted = rails(info).is_some_and(|rails| range.min < rails.min);
    let overflow = info.overflow.map(|overflow| match stateless(overflow) {
        Overflow::SaturateSymmetric if !restricted => Overflow::Saturate,
        overflow => overflow,
    });
    (!fits || info.shift > 0).then(|| Stage {
        register: (!fits).then_some((info.bits, info.signed, overflow)),
        shift: info.shift,
        round: (info.shift > 0).then_some(info.round),
        reduce: None,
        terms: None,
        check: None,
    })
}

/// Returns whether a level's register changes some value of `range`.
fn misfits(level: &LevelInfo, range: Range) -> bool {
    stage(&level.register, range).is_some_and(|stage| stage.register.is_some())
}

/// Returns a level as a stage, with its runs.
fn level_stage(level: &LevelInfo, reach: &LevelReach) -> Stage {
    let empty = Stage { register: None, shift: 0, round: None, reduce: None, terms: None, check: None };
    let own = stage(&level.register, reach.result).unwrap_or(empty);
    // A register that wraps holds the same value wherever it wraps. One that can overflow only at the end of a run is fitted
    // once.
    let wraps = own.register.is_none_or(|(_, _, overflow)| overflow == Some(Overflow::Wrap));
    let serial = level.reduce == Reduce::Serial;
    if wraps || level.check == Check::HandOver || serial && !reach.goes_on {
        return Stage { terms: level.terms, ..own };
    }
    let sticks = serial && level.register.overflow == Some(Overflow::Sticky);
    let register = own.register.map(|(bits, signed, overflow)| {
        (bits, signed, if sticks { level.register.overflow } else { overflow })
    });
    Stage { register, reduce: Some(level.reduce), terms: level.terms, check: Some(Check::EachAdd), ..own }
}

/// Returns the levels without those that cannot change a sum.
fn that_matter(levels: Vec<Stage>) -> Vec<Stage> {
    let Some((last, inner)) = levels.split_last() else { return levels };
    match (inner.iter().all(Stage::is_idle), last.is_idle()) {
        (true, true) => Vec::new(),
        (true, false) if last.sums_once() => vec![Stage { terms: None, ..last.clone() }],
        _ => levels,
    }
}

/// Returns the mode that fits a single value as `overflow` does.
fn stateless(overflow: Overflow) -> Overflow {
    if overflow == Overflow::Sticky { Overflow::Saturate } else { overflow }
}
