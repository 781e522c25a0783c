//! Bins of a register, and proofs that a bin cannot be hit. The proofs use bounds that hold for all operands
//! of the layer.

use guardbit_hwmodels::Check;
use guardbit_hwmodels::bounds::Range;

use crate::manifest::{Arithmetic, BiasInfo, LevelInfo};
use crate::reach::LevelReach;
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
pub(super) fn level(level: &LevelInfo, rails: Range, reach: &LevelReach, lanes: usize) -> Bins {
    let mut bins = Bins::new();
    if level.check == Check::EachAdd {
        for last in ["in", "high", "low"] {
            for prefix in ["in", "high", "low", "both"] {
                // A final sum is a prefix too. Without an addition it is the only prefix, and it is not
                // checked.
                let implied = last != "in" && prefix != last && prefix != "both";
                let reason = match implied {
                    true => Some("the final sum is a prefix".to_owned()),
                    false => route(level, last, prefix, rails, reach),
                };
                bins.push((format!("final:{last}/prefix:{prefix}"), reason));
            }
        }
    }
    if level.reduce.takes_run_at_once() && lanes > 1 {
        let never = reach.result.min >= rails.min && reach.result.max <= rails.max;
        for lane in 0..lanes {
            let reason = match (level.check, lane) {
                // The root is checked against the register in any case.
                (Check::EachAdd, 0) => Some("no node ends with lane 0".to_owned()),
                _ => never.then(|| {
                    format!("every exact result lies in {}..={}", reach.result.min, reach.result.max)
                }),
            };
            bins.push((format!("overflow_lane:{lane}"), reason));
        }
    }
    bins
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

/// Returns the reason why no run ends at `last` after having been at `prefix`, if that can be proved.
fn route(level: &LevelInfo, last: &str, prefix: &str, rails: Range, reach: &LevelReach) -> Option<String> {
    let (sum, seen) = (reach.prefix, [last, prefix]);
    let within = || format!("every prefix lies in {}..={}", sum.min, sum.max);
    let (high, low) = (seen.contains(&"high"), seen.contains(&"low"));
    if (high || prefix == "both") && sum.max <= rails.max || (low || prefix == "both") && sum.min >= rails.min
    {
        return Some(within());
    }
    if level.reduce.takes_run_at_once() {
        return None;
    }
    // Least number of values in a run on this route, if each value is as large as possible.
    let up = |distance: i128| distance.max(0).div_ceil_by(reach.step.max);
    let down = |distance: i128| distance.max(0).div_ceil_by(-reach.step.min);
    let above = || up(rails.max + 1 - reach.start.max);
    let below = || down(reach.start.min - (rails.min - 1));
    let across = rails.max - rails.min + 2;
    let fewest = match (last, prefix) {
        ("in", "high") => above()?.checked_add(down(1)?),
        ("in", "low") => below()?.checked_add(up(1)?),
        ("in", "both") => {
            let high_first = above().zip(down(across)).zip(up(1)).map(|((a, b), c)| a + b + c);
            let low_first = below().zip(up(across)).zip(down(1)).map(|((a, b), c)| a + b + c);
            high_first.into_iter().chain(low_first).min()
        }
        ("high", "high") => above(),
        ("low", "low") => below(),
        ("high", "both") => below()?.checked_add(up(across)?),
        ("low", "both") => above()?.checked_add(down(across)?),
        _ => return None,
    }?;
    let values = reach.values as i128;
    (fewest > values).then(|| format!("that takes {fewest} values, and a run has at most {values}"))
}

/// Division of a distance by the greatest step.
trait Steps {
    /// Returns the least number of steps of up to `step` each; `None` if there is no step in that direction.
    fn div_ceil_by(self, step: i128) -> Option<i128>;
}

impl Steps for i128 {
    fn div_ceil_by(self, step: i128) -> Option<i128> {
        (step > 0).then(|| (self + step - 1) / step)
    }
}
