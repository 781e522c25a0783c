//! One accumulation level: each run of values becomes one value.

use guardbit_hwmodels::reduction::Adders;
use guardbit_hwmodels::{Check, Level};
use guardbit_num::{Accumulator, Direction, Fit, Format, Overflow};

use super::Value;
use super::draws::{Draws, Stage};
use crate::dot::{DotEvent, DotOutcome};
use crate::event::EventStage;
use crate::trace::{LevelStep, StepKind};

/// Reduces `values`, the results of the inner level in order, run by run.
///
/// `initial` is the bias, if this level is preloaded with it. Every step is passed to `observer`.
pub(super) fn reduce(
    index: usize,
    level: &Level,
    draws: Draws,
    values: &[Value],
    initial: Option<i128>,
    outcome: &mut DotOutcome,
    observer: &mut dyn FnMut(LevelStep),
) -> Vec<Value> {
    let length = level.terms.run_length(values.len());
    let mut runs: Vec<&[Value]> = values.chunks(length).collect();
    if runs.is_empty() {
        runs.push(&[]);
    }
    let one = |(run, values): (usize, &[Value])| {
        let mut adders =
            RunAdders { index, level, run, draws, initial, outcome: &mut *outcome, observer: &mut *observer };
        let mut run = level.reduce.start();
        values.iter().for_each(|&value| run.push(value, &mut adders));
        let result = run.finish(&mut adders);
        adders.hand_over(result)
    };
    runs.into_iter().enumerate().map(one).collect()
}

/// Adders of a level in one run, and the outcome that they count into.
pub(super) struct RunAdders<'a> {
    pub index: usize,
    pub level: &'a Level,
    pub run: usize,
    pub draws: Draws,
    /// Bias, if this level is preloaded with it.
    pub initial: Option<i128>,
    pub outcome: &'a mut DotOutcome,
    pub observer: &'a mut dyn FnMut(LevelStep),
}

/// Register within a run.
#[derive(Debug, Clone)]
pub(super) struct Running {
    register: Adder,
    sum: Value,
}

impl Adders for RunAdders<'_> {
    type Value = Value;
    type Register = Running;

    /// Returns a register that is cleared, or loaded with the bias.
    fn load(&mut self) -> Running {
        let register = self.load_register();
        let sum = Value { narrow: register.value(), counterpart: self.initial.unwrap_or(0), last_k: 0 };
        Running { register, sum }
    }

    /// Adds a value to a register.
    fn add(&mut self, running: &mut Running, value: Value) {
        let held = running.register.value();
        let overflow = running.register.add(value.narrow);
        if let Some(direction) = overflow {
            self.event(value.last_k, (held, value.narrow), running.register.value(), direction);
        }
        running.sum = Value {
            narrow: running.register.value(),
            counterpart: running.sum.counterpart + value.counterpart,
            last_k: value.last_k,
        };
        self.added(running.sum.counterpart);
        self.show(StepKind::Add, held + value.narrow, running.sum, overflow);
    }

    fn held(&self, running: &Running) -> Value {
        running.sum
    }

    /// Adds two values without a register.
    fn node(&mut self, left: Value, right: Value) -> Value {
        let sum = left.narrow + right.narrow;
        let fit = match self.checked_at_each_add() {
            Some((format, overflow)) => overflow.fit(sum, format),
            None => Fit { value: sum, overflow: None },
        };
        if let Some(direction) = fit.overflow {
            self.event(right.last_k, (left.narrow, right.narrow), fit.value, direction);
        }
        let counterpart = left.counterpart + right.counterpart;
        self.added(counterpart);
        let node = Value { narrow: fit.value, counterpart, last_k: right.last_k };
        self.show(StepKind::Node, sum, node, fit.overflow);
        node
    }

    fn nothing(&self) -> Value {
        Value { narrow: 0, counterpart: 0, last_k: 0 }
    }
}

impl RunAdders<'_> {
    /// Ends a run: the result is fitted first, then shifted.
    pub fn hand_over(&mut self, result: Value) -> Value {
        let sum = result.narrow;
        let (result, overflow) = self.leave(result);
        let word = |seed| self.draws.word(seed, self.level.shift, Stage::Level(self.index), self.run);
        let shift = |value| self.level.round.shift_right(value, self.level.shift, word);
        let result = Value { narrow: shift(result.narrow), counterpart: shift(result.counterpart), ..result };
        self.show(StepKind::HandOver, sum, result, overflow);
        result
    }

    /// Counts the final sum of a run, and fits the result if overflow is checked at the hand-over.
    fn leave(&mut self, result: Value) -> (Value, Option<Direction>) {
        let sum = result.counterpart;
        let at_hand_over = self.level.check == Check::HandOver;
        let fixed = self.level.register.fixed();
        let seen = &mut self.outcome.levels[self.index];
        seen.min_final = seen.min_final.min(sum);
        seen.max_final = seen.max_final.max(sum);
        seen.persistent |= fixed.is_some_and(|(format, _)| !format.holds(sum));
        self.prefix(sum);
        match fixed {
            Some((format, overflow)) if at_hand_over => {
                let fit = overflow.fit(result.narrow, format);
                if let Some(direction) = fit.overflow {
                    self.event(result.last_k, (result.narrow, 0), fit.value, direction);
                }
                (Value { narrow: fit.value, ..result }, fit.overflow)
            }
            _ => (result, None),
        }
    }

    /// Returns an adder that is cleared, or loaded with the bias.
    fn load_register(&mut self) -> Adder {
        let initial = self.initial;
        if self.level.check == Check::EachAdd {
            self.prefix(initial.unwrap_or(0));
        }
        let Some((format, overflow)) = self.checked_at_each_add() else {
            return Adder::Exact(initial.unwrap_or(0));
        };
        let Some(initial) = initial else { return Adder::Register(Accumulator::new(format, overflow)) };
        let (register, misfit) = Accumulator::preloaded(format, overflow, initial);
        if let Some(direction) = misfit {
            let (stage, stored) = (EventStage::Bias, register.value());
            let event = DotEvent { stage, run: self.run, k: 0, held: 0, addend: initial, stored, direction };
            self.outcome.bias_events += 1;
            self.outcome.narrowings.push(event);
            if overflow == Overflow::Trap {
                self.outcome.trap_at(stage, 0);
            }
        }
        Adder::Register(register)
    }

    /// Returns the register's format and mode, if every addition is checked against it.
    fn checked_at_each_add(&self) -> Option<(Format, Overflow)> {
        self.level.register.fixed().filter(|_| self.level.check == Check::EachAdd)
    }

    /// Counts one addition; `sum` is its unbounded result.
    fn added(&mut self, sum: i128) {
        self.outcome.levels[self.index].adds += 1;
        if self.level.check == Check::EachAdd {
            self.prefix(sum);
        }
    }

    /// Records an unbounded prefix.
    fn prefix(&mut self, sum: i128) {
        let seen = &mut self.outcome.levels[self.index];
        seen.min_prefix = seen.min_prefix.min(sum);
        seen.max_prefix = seen.max_prefix.max(sum);
        seen.prefix_misfit |= self.level.register.fixed().is_some_and(|(format, _)| !format.holds(sum));
    }

    fn show(&mut self, kind: StepKind, result: i128, value: Value, overflow: Option<Direction>) {
        (self.observer)(LevelStep {
            level: self.index,
            run: self.run,
            kind,
            value: value.narrow,
            result,
            unbounded: value.counterpart,
            last_k: value.last_k,
            overflow,
        });
    }

    fn event(&mut self, k: usize, (held, addend): (i128, i128), stored: i128, direction: Direction) {
        let (stage, run) = (EventStage::Level(self.index), self.run);
        self.outcome.levels[self.index].count(direction);
        self.outcome.events.push(DotEvent { stage, run, k, held, addend, stored, direction });
        if self.level.register.overflow() == Some(Overflow::Trap) {
            self.outcome.trap_at(stage, k);
        }
    }
}

/// Adder of a register.
#[derive(Debug, Clone)]
enum Adder {
    /// Unlimited width.
    Exact(i128),
    /// Checked at every addition.
    Register(Accumulator),
}

impl Adder {
    fn add(&mut self, addend: i128) -> Option<Direction> {
        match self {
            Self::Exact(sum) => {
                *sum += addend;
                None
            }
            Self::Register(register) => register.add(addend),
        }
    }

    fn value(&self) -> i128 {
        match self {
            Self::Exact(sum) => *sum,
            Self::Register(register) => register.value(),
        }
    }
}
