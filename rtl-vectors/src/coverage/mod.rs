//! Counts what the cases cover, register by register, and finds what no operands of the layer could cover.

mod aim;
mod proofs;
mod routes;
mod side;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use aim::{Aim, Miss, halves};
use guardbit_hwmodels::bounds::Range;
use guardbit_sim::trace::{DotTrace, LevelStep, StepKind};

use crate::beats::{Dot, bias_input};
use crate::manifest::{Arithmetic, BiasAt, Bin, Coverage, LevelInfo};
use crate::reach::{Reach, Sets, rails};
use side::{BIAS, Side};

/// Register that has bins: the multiplier's, a level's, or the bias adder's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Coverpoint {
    Product,
    Level(usize),
    Bias,
    /// The whole unit.
    Unit,
}

/// Names of registers that are no level.
const PRODUCT: &str = "product";
/// Number of cases that hit each bin.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    hits: BTreeMap<(Coverpoint, String), usize>,
}

/// The bins that one case hits, step by step.
pub(crate) struct Seen {
    bins: BTreeSet<(Coverpoint, String)>,
    /// Per level, how it looks for overflow, if it has rails.
    checks: Vec<Option<Check>>,
}

impl Seen {
    /// Notes what is known of `dot` before its first step.
    pub fn new(arithmetic: &Arithmetic, dot: &Dot, lanes: usize) -> Self {
        let check = |level: &LevelInfo| {
            let lanes = if level.reduce.takes_run_at_once() { lanes } else { 1 };
            let at_hand_over = level.check == guardbit_hwmodels::Check::HandOver;
            Some(Check { rails: rails(&level.register)?, at_hand_over, lanes, run: RunSides::default() })
        };
        let checks = arithmetic.levels.iter().map(check).collect();
        let mut seen = Self { bins: BTreeSet::new(), checks };
        seen.bin(Coverpoint::Unit, format!("class:{}", dot.class));
        if let Some(rails) = rails(&arithmetic.product) {
            for o in &dot.operands {
                seen.value(Coverpoint::Product, o.activation * o.weight, rails);
            }
        }
        seen
    }

    /// Notes the end: what was delivered, and the bias.
    pub fn end(mut self, arithmetic: &Arithmetic, trace: &DotTrace, dot: &Dot) -> Self {
        let bias = &arithmetic.bias;
        match bias.at {
            BiasAt::POST => {
                if let Some(rails) = rails(&bias.register) {
                    self.value(Coverpoint::Bias, trace.delivered + i128::from(bias_input(dot)), rails);
                }
            }
            BiasAt::PRELOAD => {
                let last = arithmetic.levels.len() - 1;
                if let Some(rails) = rails(&arithmetic.levels[last].register) {
                    let side = Side::of(bias_input(dot).into(), rails);
                    self.bin(Coverpoint::Level(last), format!("load:{}", side.name()));
                }
            }
            _ => {}
        }
        self
    }

    /// Returns the register and the name of every bin.
    pub fn named(&self, arithmetic: &Arithmetic) -> BTreeSet<(String, String)> {
        let register = |place: &Coverpoint| match place {
            Coverpoint::Product => PRODUCT.to_owned(),
            Coverpoint::Level(index) => arithmetic.levels[*index].name.clone(),
            Coverpoint::Bias => BIAS.to_owned(),
            Coverpoint::Unit => String::new(),
        };
        self.bins.iter().map(|(place, name)| (register(place), name.clone())).collect()
    }

    fn bin(&mut self, place: Coverpoint, name: impl Into<String>) {
        self.bins.insert((place, name.into()));
    }

    /// Records an exact result relative to the rails with which it is compared.
    fn value(&mut self, place: Coverpoint, value: i128, rails: Range) {
        for (label, rail) in [("max", rails.max), ("min", rails.min)] {
            let distance = value - rail;
            if (-1..=1).contains(&distance) {
                self.bin(place, format!("value:{label}{distance:+}"));
            }
        }
        if (-1..=0).contains(&value) {
            self.bin(place, format!("value:{value}"));
        }
        let side = Side::of(value, rails);
        if side != Side::In {
            self.bin(place, format!("overflow:{}", side.name()));
        }
    }

    /// Counts the next step; steps of one level come in order.
    pub fn step(&mut self, step: &LevelStep) {
        let place = Coverpoint::Level(step.level);
        let Some(check) = &mut self.checks[step.level] else { return };
        let &mut Check { rails, at_hand_over, lanes, ref mut run } = check;
        let ended = match step.kind {
            StepKind::HandOver => Some(std::mem::take(run)),
            StepKind::Add | StepKind::Node => {
                run.add(Side::of(step.unbounded, rails));
                None
            }
        };
        if ended.is_some() == at_hand_over {
            self.value(place, step.result, rails);
            if step.overflow.is_some() && lanes > 1 {
                self.bin(place, format!("overflow_lane:{}", step.last_k % lanes));
            }
        }
        if let Some(bin) = ended.filter(|_| !at_hand_over).and_then(RunSides::bin) {
            self.bin(place, bin);
        }
    }
}

/// Overflow check of a level.
struct Check {
    rails: Range,
    at_hand_over: bool,
    /// Number of lanes of a tree; 1 for a serial level.
    lanes: usize,
    /// The run so far.
    run: RunSides,
}

/// Where the unbounded sums of a run lay.
#[derive(Debug, Clone, Copy, Default)]
struct RunSides {
    high: bool,
    low: bool,
    last: Option<Side>,
}

impl RunSides {
    fn add(&mut self, side: Side) {
        self.high |= side == Side::High;
        self.low |= side == Side::Low;
        self.last = Some(side);
    }

    /// Returns the bin of the whole run; `None` for a run without additions.
    fn bin(self) -> Option<String> {
        let prefix = match (self.high, self.low) {
            (false, false) => "in",
            (true, false) => "high",
            (false, true) => "low",
            (true, true) => "both",
        };
        self.last.map(|last| format!("final:{}/prefix:{prefix}", last.name()))
    }
}

impl Counter {
    /// Adds one case.
    pub fn add(&mut self, seen: Seen) {
        for bin in seen.bins {
            *self.hits.entry(bin).or_default() += 1;
        }
    }

    /// Returns the register and the name of every bin that is not hit, although bounds do not rule it out.
    pub fn missed(self, arithmetic: &Arithmetic, terms: usize, lanes: usize) -> BTreeSet<(String, String)> {
        let bins = self.table_by(arithmetic, terms, lanes, false).bins.into_iter();
        let missed = bins.filter(|bin| bin.cases == 0 && bin.unreachable.is_none());
        missed.map(|bin| (bin.level, bin.name)).collect()
    }

    /// Returns the table of all possible bins, for dot products of up to `terms` products.
    pub fn table(self, arithmetic: &Arithmetic, terms: usize, lanes: usize) -> Coverage {
        self.table_by(arithmetic, terms, lanes, true)
    }

    /// Returns the table; what bounds do not rule out is compared with the sets of all sums if `exactly` is set.
    fn table_by(self, arithmetic: &Arithmetic, terms: usize, lanes: usize, exactly: bool) -> Coverage {
        let reach = Reach::new(arithmetic, terms);
        let mut all: Vec<(Coverpoint, &str, proofs::Bins)> = Vec::new();
        if let Some(rails) = rails(&arithmetic.product) {
            all.push((Coverpoint::Product, PRODUCT, proofs::products(rails, reach.product, arithmetic)));
        }
        for (index, (level, reach)) in arithmetic.levels.iter().zip(&reach.levels).enumerate() {
            let Some(rails) = rails(&level.register) else { continue };
            let mut bins = proofs::values(rails, reach.result);
            bins.extend(proofs::level(level, rails, reach, lanes, terms));
            proofs::without_additions(&mut bins, level, lanes.min(terms));
            if arithmetic.bias.at == BiasAt::PRELOAD && index + 1 == arithmetic.levels.len() {
                bins.extend(proofs::load(rails, &arithmetic.bias));
            }
            all.push((Coverpoint::Level(index), &level.name, bins));
        }
        if let (Some(rails), Some(reach)) = (rails(&arithmetic.bias.register), reach.bias) {
            all.push((Coverpoint::Bias, BIAS, proofs::values(rails, reach)));
        }
        let mut bins = Vec::new();
        // Most bins are hit, or bounds show that they cannot be.
        let mut sets = None;
        for (place, level, names) in all {
            for (name, mut unreachable) in names {
                let cases = self.hits.get(&(place, name.clone())).copied().unwrap_or(0);
                let aim = Aim::of_bin(arithmetic, lanes, level, &name)
                    .filter(|_| exactly && cases == 0 && unreachable.is_none());
                if let Some(aim) = aim {
                    let sets: &Sets = sets.get_or_insert_with(|| Sets::new(arithmetic, terms));
                    let results = aim.level().map_or(sets.bias.as_ref(), |level| sets.levels.get(level));
                    let is_out = results.is_some_and(|results| aim.is_out_of(results));
                    unreachable = is_out.then(|| "no operands of the layer lead to such a result".into());
                }
                debug_assert!(cases == 0 || unreachable.is_none(), "{level} {name}: {unreachable:?}");
                bins.push(Bin { level: level.into(), name, cases, unreachable });
            }
        }
        for ((_, name), &cases) in self.hits.range((Coverpoint::Unit, String::new())..) {
            bins.push(Bin { level: String::new(), name: name.clone(), cases, unreachable: None });
        }
        let hit = bins.iter().filter(|b| b.cases > 0).count();
        let unreachable = bins.iter().filter(|b| b.unreachable.is_some()).count();
        Coverage { hit, missed: bins.len() - hit - unreachable, unreachable, bins }
    }
}

#[cfg(test)]
mod tests;
