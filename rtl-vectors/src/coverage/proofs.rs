//! Bins of a register, and proofs that a bin cannot be hit. The proofs use bounds that hold for all operands
//! of the layer.

use guardbit_hwmodels::Check;
use guardbit_hwmodels::bounds::Range;

use super::routes;
use super::side::Side;
use crate::manifest::{Arithmetic, BiasInfo, LevelInfo};
use crate::reach::{LevelReach, Nodes, Values};
use crate::solve::{factors, tries_all};

/// Name of each bin, and the reason why no case can hit it, if there is one.
pub(super) type Bins = Vec<(String, Option<String>)>;

/// Returns the bins of results near the rails.
pub(super) fn values(rails: Range, reach: Range) -> Bins {
    let outside = |value: i128| {
        let is_outside = value < reach.min || value > reach.max;
        is_outside.then(|| format!("every exact result lies in {}..={}", reach.min, reach.max))
    };
    let mut bins = Bins::new();
    for (label, rail) in [("max", rails.max), ("min", rails.min)] {
        for distance in [-1, 0, 1] {
            bins.push((format!("value:{label}{distance:+}"), outside(rail + distance)));
        }
    }
    bins.push(("value:0".into(), None));
    bins.push(("value:-1".into(), outside(-1)));
    bins.push(("overflow:high".into(), outside(rails.max + 1)));
    bins.push(("overflow:low".into(), outside(rails.min - 1)));
    bins
}

/// Returns the bins of products near the rails; not every number is a product.
pub(super) fn products(rails: Range, reach: Range, arithmetic: &Arithmetic) -> Bins {
    let (activation, weight) = (&arithmetic.activation, &arithmetic.weight);
    let product = |value: i128| {
        let is_none = tries_all(weight) && factors(activation, weight, value).is_none();
        is_none.then(|| format!("no two operands have the product {value}"))
    };
    let mut bins = values(rails, reach);
    for (name, reason) in &mut bins {
        let at = |rail: &str, edge: i128| {
            let distance: i128 = name.strip_prefix("value:")?.strip_prefix(rail)?.parse().ok()?;
            Some(edge + distance)
        };
        let value = at("max", rails.max).or_else(|| at("min", rails.min));
        *reason = reason.take().or_else(|| product(value?));
    }
    bins
}

/// Returns the bins of a level: where unbounded sums of a run end and have been, and which lanes of a tree
/// overflow.
pub(super) fn level(
    level: &LevelInfo,
    rails: Range,
    reach: &LevelReach,
    all_lanes: usize,
    terms: usize,
) -> Bins {
    let mut bins = Bins::new();
    let is_tree = level.reduce.takes_run_at_once();
    let lanes = all_lanes.min(terms);
    let lists: Vec<Values> = reach.lists.into_iter().flatten().collect();
    if level.check == Check::EachAdd {
        let routes = match lists.first() {
            Some(list) if is_tree => routes::tree(list.full, list.len(), rails),
            _ => routes::serial(&lists, reach.start, rails),
        };
        for last in Side::ALL {
            for (prefix, seen) in PREFIXES {
                let (high, low) = (seen[0] || last == Side::High, seen[1] || last == Side::Low);
                let Range { min, max } = reach.prefix;
                let reason = match routes.contains(&(last, seen)) {
                    true => None,
                    // A final sum is a prefix too. Without an addition it is the only prefix, and it is not
                    // checked.
                    false if [high, low] != seen => Some("the final sum is a prefix".to_owned()),
                    false if high && max <= rails.max || low && min >= rails.min => {
                        Some(format!("every prefix lies in {min}..={max}"))
                    }
                    false => {
                        let values = lists.iter().map(Values::len).max().unwrap_or(0);
                        Some(format!(
                            "bounds of the sums of up to {values} values, one after the other, rule it out"
                        ))
                    }
                };
                bins.push((format!("final:{}/prefix:{prefix}", last.name()), reason));
            }
        }
    }
    if is_tree && all_lanes > 1 {
        let nodes = Nodes::new(level, reach.value, lanes);
        for lane in 0..all_lanes {
            let reason = match nodes.ending_with(level, lane) {
                None if lane >= terms => Some(format!("a dot product has at most {terms} products")),
                None => Some(format!("no node ends with lane {lane}")),
                Some(result) => rails.contains(result).then(|| {
                    format!("every exact result that ends with it lies in {}..={}", result.min, result.max)
                }),
            };
            bins.push((format!("overflow_lane:{lane}"), reason));
        }
    }
    bins
}

/// Sides at which prefixes of a run have been: name, and whether it was beyond the upper and the lower rail.
const PREFIXES: [(&str, [bool; 2]); 4] =
    [("in", [false, false]), ("high", [true, false]), ("low", [false, true]), ("both", [true, true])];

/// Adds the reason to the bins of a tree that has no node.
pub(super) fn without_additions(bins: &mut Bins, level: &LevelInfo, values: usize) {
    if level.reduce.takes_run_at_once() && level.check == Check::EachAdd && values < 2 {
        for (_, reason) in bins {
            *reason = Some("a run has one value, which is not compared with the rails".into());
        }
    }
}

/// Returns the bins of a preloaded register's initial value.
pub(super) fn load(rails: Range, bias: &BiasInfo) -> Bins {
    let (least, greatest) = (i128::from(bias.word_min), i128::from(bias.word_max));
    let reason = || format!("every bias lies in {least}..={greatest}");
    vec![
        ("load:in".into(), None),
        ("load:high".into(), (greatest <= rails.max).then(reason)),
        ("load:low".into(), (least >= rails.min).then(reason)),
    ]
}
