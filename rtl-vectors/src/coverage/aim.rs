//! Distance of a dot product from a bin or a value: what a directed search reduces to 0.

use std::ops::Range as Lanes;

use guardbit_hwmodels::Check;
use guardbit_hwmodels::bounds::Range;
use guardbit_sim::trace::{LevelStep, StepKind};

use super::side::{BIAS, Side};
use crate::manifest::Arithmetic;
use crate::reach::{Bits, Reach, rails};

/// Value beyond every register.
const FAR: i128 = 1 << 100;

/// What a dot product must show at a level.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Goal {
    /// An exact result within one of the ranges, in a node that ends with one of the lanes.
    Result(Vec<Range>, Option<Lanes<usize>>),
    /// A run whose unbounded sums end at a side, and have been beyond the upper and the lower rail, or have not.
    Route(Side, [bool; 2]),
}

/// What a search aims at: a bin of a level or of the bias adder, or values of its results.
#[derive(Debug, Clone)]
pub(crate) struct Aim {
    goal: Goal,
    rails: Range,
    results: Results,
    lanes: usize,
}

/// Results that are compared with the rails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Results {
    /// Those of a level's additions.
    Additions(usize),
    /// Those that leave a level.
    HandOver(usize),
    /// Those of the bias adder.
    Biased,
}

/// Distance of a dot product from an aim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Miss {
    /// Distance in the level's unit; 0 if the dot product shows what is wanted.
    pub distance: i128,
    /// Number to be added to the sum that is nearest.
    pub delta: i128,
    /// Last product that the sum contains.
    pub last_k: usize,
}

/// Returns the values up to a rail that a register of one bit less does not hold; an empty range for a rail of 0.
pub(crate) fn halves(rail: i128) -> Range {
    match rail > 0 {
        true => Range { min: (rail >> 1) + 1, max: rail },
        false => Range { min: rail, max: rail / 2 - 1 },
    }
}

impl Aim {
    /// Returns the aim that hits the bin `name` of a register; `None` for the multiplier's, and for bins that depend on the
    /// bias alone.
    pub fn of_bin(arithmetic: &Arithmetic, lanes: usize, register: &str, name: &str) -> Option<Self> {
        let level = arithmetic.levels.iter().position(|level| level.name == register);
        let info = match level {
            Some(index) => &arithmetic.levels[index].register,
            None if register == BIAS => &arithmetic.bias.register,
            None => return None,
        };
        let rails = rails(info)?;
        let (kind, rest) = name.split_once(':')?;
        let beyond = |side| match side {
            Side::High => Range { min: rails.max + 1, max: FAR },
            _ => Range { min: -FAR, max: rails.min - 1 },
        };
        let both = || vec![beyond(Side::High), beyond(Side::Low)];
        let goal = match kind {
            "value" => {
                let near =
                    |edge: &str, rail: i128| Some(rail + rest.strip_prefix(edge)?.parse::<i128>().ok()?);
                let value =
                    near("max", rails.max).or_else(|| near("min", rails.min)).or_else(|| rest.parse().ok());
                Goal::Result(vec![Range::point(value?)], None)
            }
            "overflow" => Goal::Result(vec![beyond(Side::named(rest)?)], None),
            "overflow_lane" => {
                let lane = rest.parse().ok()?;
                Goal::Result(both(), Some(lane..lane + 1))
            }
            "final" => {
                let (last, prefix) = rest.split_once("/prefix:")?;
                let seen = ["high", "low"].map(|side| prefix == side || prefix == "both");
                Goal::Route(Side::named(last)?, seen)
            }
            _ => return None,
        };
        Some(match level {
            None => Self { goal, rails, results: Results::Biased, lanes: 1 },
            Some(level) => Self::of_level(arithmetic, lanes, level, rails, goal),
        })
    }

    /// Returns the aims that show the widths of the levels' registers, where they are not shown by results beyond the rails:
    /// results that a register of one bit less does not hold. Those that bounds rule out are left out.
    pub fn of_widths(arithmetic: &Arithmetic, terms: usize, lanes: usize) -> Vec<Self> {
        let reach = Reach::new(arithmetic, terms);
        let levels = arithmetic.levels.iter().zip(&reach.levels).enumerate();
        let halves = levels.flat_map(|(level, (info, reach))| {
            let halves = rails(&info.register).map(|rails| [halves(rails.max), halves(rails.min)]);
            let reached = |half: &Range| {
                let (min, max) = (half.min.max(reach.result.min), half.max.min(reach.result.max));
                min <= max
            };
            let reached = halves.into_iter().flatten().filter(reached);
            reached.map(move |half| (level, half)).collect::<Vec<_>>()
        });
        halves.map(|(level, half)| Self::of_result(arithmetic, lanes, level, half)).collect()
    }

    /// Returns the aim at a result of `level` within `range`.
    pub fn of_result(arithmetic: &Arithmetic, lanes: usize, level: usize, range: Range) -> Self {
        Self::of_level(arithmetic, lanes, level, range, Goal::Result(vec![range], None))
    }

    /// Returns the aim at a requantizer's input within `range`.
    pub fn of_output(range: Range) -> Self {
        Self { goal: Goal::Result(vec![range], None), rails: range, results: Results::Biased, lanes: 1 }
    }

    fn of_level(arithmetic: &Arithmetic, lanes: usize, level: usize, rails: Range, goal: Goal) -> Self {
        let info = &arithmetic.levels[level];
        let results = match info.check {
            Check::HandOver => Results::HandOver(level),
            Check::EachAdd => Results::Additions(level),
        };
        let lanes = if info.reduce.takes_run_at_once() { lanes } else { 1 };
        Self { goal, rails, results, lanes }
    }

    /// Returns the level whose sums are looked at; `None` for the bias adder.
    pub fn level(&self) -> Option<usize> {
        match self.results {
            Results::Additions(level) | Results::HandOver(level) => Some(level),
            Results::Biased => None,
        }
    }

    /// Returns whether none of `results`, which are all of the register's, is wanted.
    pub fn is_out_of(&self, results: &Bits) -> bool {
        let Some(all) = results.range() else { return true };
        match &self.goal {
            Goal::Result(ranges, None) => ranges.iter().all(|range| {
                let (min, max) = (range.min.max(all.min), range.max.min(all.max));
                !(min..=max).any(|value| results.contains(value))
            }),
            _ => false,
        }
    }

    /// Returns the result nearest to 0 that is wanted, of a node of any lanes; `None` for other aims.
    pub fn nearest(&self) -> Option<i128> {
        match &self.goal {
            Goal::Result(ranges, None) => {
                ranges.iter().map(|range| 0.clamp(range.min, range.max)).min_by_key(|value| value.abs())
            }
            _ => None,
        }
    }

    /// Returns whether it is a way that a run takes, not a single result.
    pub fn is_route(&self) -> bool {
        matches!(self.goal, Goal::Route(..))
    }

    /// Returns a watch over the steps of a dot product.
    pub fn watch(&self) -> Watch<'_> {
        Watch { aim: self, best: None, highest: None, lowest: None, last: None }
    }
}

/// Sum and the last product that it contains.
type At = (i128, usize);

/// Watches the steps of one dot product.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    aim: &'a Aim,
    best: Option<Miss>,
    highest: Option<At>,
    lowest: Option<At>,
    last: Option<At>,
}

impl Watch<'_> {
    /// Notes the next step; steps of one level come in order.
    pub fn step(&mut self, step: &LevelStep) {
        if self.aim.level() != Some(step.level) {
            return;
        }
        let is_end = step.kind == StepKind::HandOver;
        match &self.aim.goal {
            Goal::Result(ranges, lanes) => {
                let is_compared = is_end == matches!(self.aim.results, Results::HandOver(_));
                let in_lane =
                    lanes.as_ref().is_none_or(|lanes| lanes.contains(&(step.last_k % self.aim.lanes)));
                if is_compared && in_lane {
                    self.result(ranges, step.result, step.last_k);
                }
            }
            Goal::Route(last, seen) if is_end => {
                if let Some(miss) = self.route(*last, *seen) {
                    self.note(miss);
                }
                (self.highest, self.lowest, self.last) = (None, None, None);
            }
            Goal::Route(..) => {
                let at = (step.unbounded, step.last_k);
                self.highest = Some(self.highest.map_or(at, |other| if at.0 > other.0 { at } else { other }));
                self.lowest = Some(self.lowest.map_or(at, |other| if at.0 < other.0 { at } else { other }));
                self.last = Some(at);
            }
        }
    }

    /// Notes the exact result of the bias adder.
    pub fn biased(&mut self, result: i128) {
        if let (Goal::Result(ranges, _), Results::Biased) = (&self.aim.goal, self.aim.results) {
            self.result(ranges, result, usize::MAX);
        }
    }

    fn result(&mut self, ranges: &[Range], result: i128, last_k: usize) {
        let deltas = ranges.iter().map(|range| result.clamp(range.min, range.max) - result);
        if let Some(delta) = deltas.min_by_key(|delta| delta.abs()) {
            self.note(Miss { distance: delta.abs(), delta, last_k });
        }
    }

    fn note(&mut self, miss: Miss) {
        if self.best.is_none_or(|best| miss.distance < best.distance) {
            self.best = Some(miss);
        }
    }

    /// Returns how far the run is from a route, as the sum of what its final, highest and lowest sums lack.
    fn route(&self, last: Side, [high, low]: [bool; 2]) -> Option<Miss> {
        let Range { min, max } = self.aim.rails;
        let above = Range { min: max + 1, max: FAR };
        let below = Range { min: -FAR, max: min - 1 };
        let end = match last {
            Side::In => Range { min, max },
            Side::High => above,
            Side::Low => below,
        };
        let parts = [
            (self.last?, end),
            (self.highest?, if high { above } else { Range { min: -FAR, max } }),
            (self.lowest?, if low { below } else { Range { min, max: FAR } }),
        ];
        let misses = parts.map(|((sum, last_k), range)| {
            let delta = sum.clamp(range.min, range.max) - sum;
            Miss { distance: delta.abs(), delta, last_k }
        });
        let distance = misses.iter().map(|miss| miss.distance).sum();
        misses.into_iter().max_by_key(|miss| miss.distance).map(|worst| Miss { distance, ..worst })
    }

    /// Returns the distance of the dot product; `None` if it has no step of the kind that is wanted.
    pub fn miss(&self) -> Option<Miss> {
        self.best
    }
}
