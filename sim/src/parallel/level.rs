//! One accumulation level on 64-bit integers.
//!
//! The unbounded counterpart is walked first. Where every prefix fits and nothing was lost before, the
//! narrow hardware does the same and is not walked at all.

use guardbit_hwmodels::{Check, Level, Reduce, Register};
use guardbit_num::{Direction, Format, Overflow};

use crate::dot::{DotEvent, DotOutcome};
use crate::error::TrapStage;

/// Where a level stands in its datapath.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub index: usize,
    /// Products in one of its values, where the run is full.
    pub span: usize,
    /// Products of the dot product.
    pub count: usize,
    /// The bias, if the level is preloaded.
    pub initial: Option<i64>,
}

/// Reduces levels; keeps the buffers of its trees.
#[derive(Default)]
pub(super) struct LevelRunner {
    narrow: Vec<i64>,
    counterpart: Vec<i64>,
}

/// A register's limits as 64-bit integers.
#[derive(Clone, Copy)]
struct Limits {
    format: Format,
    overflow: Overflow,
    low: i64,
    high: i64,
}

/// Extremes of a walk.
#[derive(Clone, Copy)]
struct Extremes {
    min: i64,
    max: i64,
}

impl LevelRunner {
    /// Replaces the values of the level below by those of this one.
    pub fn reduce(
        &mut self,
        place: Place,
        level: &Level,
        narrow: &mut Vec<i64>,
        counterpart: &mut Vec<i64>,
        outcome: &mut DotOutcome,
    ) {
        let length = level.terms.run_length(narrow.len());
        let values = narrow.len();
        let runs = values.div_ceil(length).max(1);
        if narrow.is_empty() {
            narrow.push(0);
            counterpart.push(0);
        }
        for run in 0..runs {
            let range = run * length..((run + 1) * length).min(values);
            let first = range.start;
            let mut walk = Run { place, level, run, first, outcome };
            let (n, c) = match level.reduce {
                Reduce::Serial => walk.serial(&narrow[range.clone()], &counterpart[range]),
                Reduce::Tree => {
                    self.narrow.clear();
                    self.narrow.extend_from_slice(&narrow[range.clone()]);
                    self.counterpart.clear();
                    self.counterpart.extend_from_slice(&counterpart[range]);
                    walk.tree(&mut self.narrow, &mut self.counterpart)
                }
            };
            narrow[run] = shift(level, n);
            counterpart[run] = shift(level, c);
        }
        narrow.truncate(runs);
        counterpart.truncate(runs);
    }
}

struct Run<'a> {
    place: Place,
    level: &'a Level,
    run: usize,
    /// Index of the run's first value.
    first: usize,
    outcome: &'a mut DotOutcome,
}

impl Run<'_> {
    fn serial(&mut self, narrow: &[i64], counterpart: &[i64]) -> (i64, i64) {
        let initial = self.place.initial.unwrap_or(0);
        let (sum, extremes) = walk_exact(initial, counterpart);
        self.outcome.levels[self.place.index].adds += narrow.len() as u64;
        let limits = limits(self.level);
        match limits.filter(|_| self.level.check == Check::EachAdd) {
            Some(limits) => {
                self.note(extremes, sum, Some(limits));
                let lost_before = narrow != counterpart;
                if !lost_before && limits.hold(extremes) {
                    return (sum, sum);
                }
                (self.step(limits, narrow), sum)
            }
            None => {
                let inside = initial + narrow.iter().sum::<i64>();
                let seen = match self.level.check {
                    Check::EachAdd => extremes,
                    Check::HandOver => Extremes::of(sum),
                };
                self.note(seen, sum, limits);
                (self.hand_over(limits, inside, narrow.len()), sum)
            }
        }
    }

    /// Walks the narrow register, addition by addition.
    fn step(&mut self, limits: Limits, narrow: &[i64]) -> i64 {
        let mut held = self.load(limits);
        let mut stuck = limits.overflow == Overflow::Sticky
            && self.place.initial.is_some_and(|initial| limits.misfit(initial).is_some());
        for (i, &addend) in narrow.iter().enumerate() {
            if stuck {
                break;
            }
            let exact = held + addend;
            if let Some(direction) = limits.misfit(exact) {
                self.event(i, held, addend, direction, limits.overflow);
                held = limits.fit(exact, direction);
                stuck = limits.overflow == Overflow::Sticky;
            } else {
                held = exact;
            }
        }
        held
    }

    fn load(&mut self, limits: Limits) -> i64 {
        let Some(initial) = self.place.initial else { return 0 };
        let Some(direction) = limits.misfit(initial) else { return initial };
        self.outcome.bias_events += 1;
        if limits.overflow == Overflow::Trap {
            self.outcome.trap_at(TrapStage::Bias, 0);
        }
        limits.fit(initial, direction)
    }

    fn tree(&mut self, narrow: &mut Vec<i64>, counterpart: &mut Vec<i64>) -> (i64, i64) {
        let values = narrow.len();
        let limits = limits(self.level);
        let at_nodes = limits.filter(|_| self.level.check == Check::EachAdd);
        let mut extremes = Extremes::of(0);
        // Values of the level below in one value of this round.
        let mut width = 1;
        while narrow.len() > 1 {
            let pairs = narrow.len() / 2;
            for pair in 0..pairs {
                let exact = narrow[2 * pair] + narrow[2 * pair + 1];
                let mut held = exact;
                if let Some((limits, direction)) = at_nodes.and_then(|l| Some((l, l.misfit(exact)?))) {
                    let last = ((2 * pair + 2) * width).min(values) - 1;
                    self.event(last, narrow[2 * pair], narrow[2 * pair + 1], direction, limits.overflow);
                    held = limits.fit(exact, direction);
                }
                narrow[pair] = held;
                counterpart[pair] = counterpart[2 * pair] + counterpart[2 * pair + 1];
                extremes.take(counterpart[pair]);
            }
            if narrow.len() % 2 == 1 {
                narrow[pairs] = narrow[2 * pairs];
                counterpart[pairs] = counterpart[2 * pairs];
            }
            let left = narrow.len().div_ceil(2);
            narrow.truncate(left);
            counterpart.truncate(left);
            width *= 2;
        }
        self.outcome.levels[self.place.index].adds += values.saturating_sub(1) as u64;
        let result = narrow.first().copied().unwrap_or(0);
        let sum = counterpart.first().copied().unwrap_or(0);
        match self.level.check {
            Check::EachAdd => {
                self.note(extremes, sum, limits);
                (result, sum)
            }
            Check::HandOver => {
                self.note(Extremes::of(sum), sum, limits);
                (self.hand_over(limits, result, values), sum)
            }
        }
    }

    /// The fit when a result leaves a level that is exact inside.
    fn hand_over(&mut self, limits: Option<Limits>, inside: i64, values: usize) -> i64 {
        let Some((limits, direction)) = limits.and_then(|l| Some((l, l.misfit(inside)?))) else {
            return inside;
        };
        self.event(values.saturating_sub(1), inside, 0, direction, limits.overflow);
        limits.fit(inside, direction)
    }

    /// Notes the unbounded prefixes and the final sum.
    fn note(&mut self, prefixes: Extremes, sum: i64, limits: Option<Limits>) {
        let seen = &mut self.outcome.levels[self.place.index];
        let mut all = prefixes;
        all.take(sum);
        seen.min_prefix = seen.min_prefix.min(all.min.into());
        seen.max_prefix = seen.max_prefix.max(all.max.into());
        seen.min_final = seen.min_final.min(sum.into());
        seen.max_final = seen.max_final.max(sum.into());
        if let Some(limits) = limits {
            seen.persistent |= !limits.format.holds(sum.into());
            let fits = limits.format.holds(all.min.into()) && limits.format.holds(all.max.into());
            seen.prefix_misfit |= !fits;
        }
    }

    /// An event at value `i` of the run.
    fn event(&mut self, i: usize, held: i64, addend: i64, direction: Direction, overflow: Overflow) {
        let index = self.place.index;
        let k = ((self.first + i + 1) * self.place.span).min(self.place.count).saturating_sub(1);
        self.outcome.levels[index].count(direction);
        self.outcome.events.push(DotEvent {
            level: index,
            run: self.run,
            k,
            held: held.into(),
            addend: addend.into(),
            direction,
        });
        if overflow == Overflow::Trap {
            self.outcome.trap_at(TrapStage::Level(index), k);
        }
    }
}

impl Limits {
    fn misfit(self, value: i64) -> Option<Direction> {
        if value > self.high {
            Some(Direction::High)
        } else if value < self.low {
            Some(Direction::Low)
        } else {
            None
        }
    }

    fn hold(self, extremes: Extremes) -> bool {
        extremes.min >= self.low && extremes.max <= self.high
    }

    fn fit(self, exact: i64, direction: Direction) -> i64 {
        match (self.overflow, direction) {
            (Overflow::Wrap, _) => self.format.wrap(exact.into()) as i64,
            (Overflow::SaturateZero, _) => 0,
            (Overflow::Observe | Overflow::Trap, _) => exact,
            (_, Direction::High) => self.high,
            (_, Direction::Low) => self.low,
        }
    }
}

impl Extremes {
    fn of(value: i64) -> Self {
        Self { min: value.min(0), max: value.max(0) }
    }

    fn take(&mut self, value: i64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }
}

/// The sum from `initial`, and the extremes over 0, `initial` and all prefixes.
fn walk_exact(initial: i64, values: &[i64]) -> (i64, Extremes) {
    let mut extremes = Extremes::of(initial);
    let mut sum = initial;
    for &value in values {
        sum += value;
        extremes.take(sum);
    }
    (sum, extremes)
}

fn limits(level: &Level) -> Option<Limits> {
    let Register::Fixed { format, overflow } = level.register else { return None };
    let (low, high) = overflow.limits(format);
    Some(Limits { format, overflow, low: low as i64, high: high as i64 })
}

fn shift(level: &Level, value: i64) -> i64 {
    if level.shift == 0 { value } else { level.round.shift_right(value.into(), level.shift) as i64 }
}
