//! Model of the bench `bench/tb.sv`: sends beats, with idle cycles and resets at the same places, and compares what it does.

use super::twist::unsigned;
use super::unit::{Inputs, Model};
use crate::beats::{Beats, CLEAR, RUN_LAST, VALID};
use crate::interface::{ACC_LATENCY, OUT_LATENCY};
use crate::manifest::Arithmetic;

/// Cycles after which nothing is under way in a design.
const DRAIN: usize = 64;

/// Greatest number of idle cycles between two beats.
const IDLE_MAX: u32 = 64;

/// Manner in which the beats are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// Beat by beat.
    Plain,
    /// With idle cycles and resets at places that follow from the seed: 10 percent, up to 64 cycles, and 6 resets.
    Stress(u32),
}

/// State of the bench.
struct Bench<'a> {
    beats: &'a Beats,
    arithmetic: &'a Arithmetic,
    random: u32,
    idle: u32,
    resets: usize,
    /// Next beat, and the dot product that is being sent.
    beat: usize,
    dot: Option<usize>,
    /// First beat of that dot product, and the dot product before it.
    first: (usize, Option<usize>),
    pause: u32,
    is_paused: bool,
    quiet: usize,
    extra: Option<u32>,
    resetting: u32,
    is_halted: bool,
    kind: usize,
    next_reset: usize,
    done_after_overflow: usize,
    /// Per level, the last beat after which its sticky flag is set.
    last_flag: Vec<Option<usize>>,
    /// Last beat within a dot product; `None` if each is one beat.
    last_within: Option<usize>,
    /// Sums that are due.
    due: usize,
    /// Per level, the next beat that it shows, and what it held.
    at: Vec<usize>,
    held: Vec<i128>,
    sums: usize,
    outs: usize,
}

/// Returns the first difference that the bench finds in a design; `None` if there is none.
pub(super) fn replay(
    beats: &Beats,
    arithmetic: &Arithmetic,
    mut design: Model<'_>,
    manner: Manner,
) -> Option<String> {
    let (seed, idle, resets) = match manner {
        Manner::Plain => (1, 0, 0),
        Manner::Stress(seed) => (seed, 10, 6),
    };
    let levels = arithmetic.levels.len();
    let mut bench = Bench {
        beats,
        arithmetic,
        random: seed % 65536 + 1,
        idle,
        resets,
        beat: 0,
        dot: None,
        first: (0, None),
        pause: 0,
        is_paused: false,
        quiet: 0,
        extra: None,
        resetting: 0,
        is_halted: false,
        kind: 0,
        next_reset: 0,
        done_after_overflow: 0,
        last_flag: beats.states.iter().map(|level| level.iter().rposition(|state| state.sticky)).collect(),
        last_within: beats.ctrl.iter().rposition(|ctrl| ctrl >> VALID & 1 == 1 && ctrl >> CLEAR & 1 == 0),
        due: 0,
        at: vec![0; levels],
        held: vec![0; levels],
        sums: 0,
        outs: 0,
    };
    let mut inputs = bench.no_beat();
    for _ in 0..4 {
        design.clock(&Inputs { reset: true, ..inputs.clone() });
    }
    if let Some(found) = bench.compare_reset(&design) {
        return Some(found);
    }
    {
        let [mut first_in, mut first_last, mut acc_seen, mut sum_seen, mut out_seen] = [None; 5];
        let (mut drain, mut in_reset) = (0, 0);
        for cycle in 1u32.. {
            // Inputs change after the edge and act at the next one.
            let next = match bench.next() {
                Some(next) => next,
                None if drain > DRAIN => break,
                None => {
                    drain += 1;
                    bench.no_beat()
                }
            };
            // What the edge before these inputs has made of the earlier ones.
            if cycle > 1 {
                in_reset = if inputs.reset { in_reset + 1 } else { 0 };
                design.clock(&inputs);
            }
            inputs = next;
            if inputs.valid && !inputs.reset {
                first_in = first_in.or(Some(cycle));
                let ends = inputs.run_last >> (levels - 1) & 1 == 1;
                first_last = first_last.or(ends.then_some(cycle));
            }
            let found = match in_reset {
                0 => bench.compare(&design),
                1 => None,
                _ => bench.compare_reset(&design),
            };
            if found.is_some() {
                return found;
            }
            if in_reset == 0 {
                let note =
                    |seen: &mut Option<u32>, is_there: bool| *seen = seen.or(is_there.then_some(cycle));
                note(&mut acc_seen, design.levels.iter().any(|level| level.updated));
                note(&mut sum_seen, design.sum_valid);
                note(&mut out_seen, design.out_valid);
            }
        }
        let latency = |seen: Option<u32>, from: Option<u32>| Some(seen? - from?);
        let expected = [
            (acc_seen, first_in, ACC_LATENCY),
            (sum_seen, first_last, ACC_LATENCY),
            (out_seen, first_last, OUT_LATENCY),
        ];
        let is_late = expected.iter().any(|&(seen, from, cycles)| latency(seen, from) != Some(cycles));
        bench.missing().or_else(|| is_late.then(|| "latency".into()))
    }
}

impl Bench<'_> {
    /// Returns a number below `below`. Numbers are drawn in the order of the bench.
    fn draw(&mut self, below: u32) -> u32 {
        self.random = (self.random * 75 + 74) % 65537;
        self.random % 65536 % below
    }

    /// Returns a number of idle cycles: as often one or two as several or many.
    fn draw_cycles(&mut self) -> u32 {
        let drawn = self.draw(4);
        let few = self.draw(5);
        let many = self.draw(IDLE_MAX);
        match drawn {
            0..2 => drawn + 1,
            2 => 3 + few,
            _ => 8 + many,
        }
        .min(IDLE_MAX)
    }

    fn bit(&self, beat: usize, bit: u32) -> bool {
        self.beats.ctrl[beat] >> bit & 1 == 1
    }

    fn is_start(&self, beat: usize) -> bool {
        self.bit(beat, VALID) && self.bit(beat, CLEAR)
    }

    fn is_end(&self, beat: usize) -> bool {
        self.bit(beat, VALID) && self.bit(beat, RUN_LAST + self.arithmetic.levels.len() as u32 - 1)
    }

    /// Returns a cycle without a beat, in which no other input matters.
    fn no_beat(&mut self) -> Inputs {
        let clear = self.draw(2) != 0;
        let noise = -i64::from(self.draw(2));
        let lanes = self.beats.lanes;
        let (bias, mult, exp) = self.constants();
        Inputs {
            reset: self.is_halted,
            clear,
            run_last: u64::MAX,
            keep: u64::MAX,
            activations: vec![noise; lanes],
            weights: vec![noise; lanes],
            bias,
            mult,
            exp,
            valid: false,
        }
    }

    fn constants(&self) -> (i64, i64, i64) {
        let of = |all: &[i64]| self.dot.map_or(0, |dot| all[dot]);
        (of(&self.beats.bias), of(&self.beats.multiplier), of(&self.beats.exponent))
    }

    fn send(&mut self) -> Inputs {
        let (beat, lanes) = (self.beat, self.beats.lanes);
        let levels = self.arithmetic.levels.len() as u32;
        let ctrl = self.beats.ctrl[beat] as u64;
        if self.is_start(beat) {
            self.first = (beat, self.dot);
            self.dot = Some(self.dot.map_or(0, |dot| dot + 1));
        }
        self.due += usize::from(self.is_end(beat));
        self.beat += 1;
        self.is_paused = false;
        let (bias, mult, exp) = self.constants();
        let of = |all: &[i64]| all[beat * lanes..][..lanes].to_vec();
        Inputs {
            reset: false,
            valid: ctrl >> VALID & 1 == 1,
            clear: ctrl >> CLEAR & 1 == 1,
            run_last: ctrl >> RUN_LAST & ((1 << levels) - 1),
            keep: ctrl >> (RUN_LAST + levels),
            activations: of(&self.beats.activations),
            weights: of(&self.beats.weights),
            bias,
            mult,
            exp,
        }
    }

    /// Returns the level whose overflow the next reset follows.
    fn flag_level(&self) -> Option<usize> {
        let levels = self.arithmetic.levels.len();
        let candidates = (0..levels).map(|turn| (levels - 1 + self.done_after_overflow + turn) % levels);
        candidates.into_iter().find(|&level| self.last_flag[level].is_some_and(|at| at + 1 >= self.beat))
    }

    /// Returns whether a reset of the next kind is due: between dot products, within one, or after an overflow.
    fn is_reset_due(&mut self) -> bool {
        let beat = self.beat;
        if self.resets == 0 || beat < self.next_reset || beat == 0 || !self.bit(beat, VALID) {
            return false;
        }
        match self.kind {
            0 => self.is_start(beat),
            1 => {
                if self.last_within.is_none_or(|last| beat > last) {
                    self.kind = 2;
                    return false;
                }
                !self.is_start(beat)
            }
            _ => match self.flag_level() {
                None => {
                    self.kind = 0;
                    false
                }
                Some(level) => self.beats.states[level][beat - 1].sticky,
            },
        }
    }

    /// Returns the inputs after the next edge; `None` after the last beat.
    fn next(&mut self) -> Option<Inputs> {
        if self.resetting > 0 {
            let mut inputs = self.no_beat();
            let drawn = self.draw(2);
            inputs.valid = self.resetting > 1 && drawn != 0 || self.resetting == 2;
            self.resetting -= 1;
            if self.resetting == 0 {
                self.is_halted = false;
                inputs.reset = false;
                self.send_again();
            }
            return Some(inputs);
        }
        if self.quiet > 0 {
            self.quiet -= 1;
            let inputs = self.no_beat();
            if self.quiet == 0 {
                let extra = self.draw(3);
                self.extra = Some(if self.kind == 2 { 0 } else { extra });
                if self.is_start(self.beat) {
                    self.first = (self.beat, self.dot);
                }
            }
            return Some(inputs);
        }
        if let Some(extra) = self.extra {
            let more = self.beat < self.beats.len()
                && !self.is_end(self.beat)
                && (!self.is_start(self.beat) || self.beat == self.first.0);
            if extra > 0 && more {
                self.extra = Some(extra - 1);
                return Some(self.send());
            }
            self.is_halted = true;
            let inputs = self.no_beat();
            self.resetting = 3 + self.draw(4);
            self.extra = None;
            self.done_after_overflow += usize::from(self.kind == 2);
            self.kind = (self.kind + 1) % 3;
            self.resets -= 1;
            self.next_reset += self.beats.len() / (self.resets + 1) / 2;
            return Some(inputs);
        }
        if self.pause > 0 {
            self.pause -= 1;
            return Some(self.no_beat());
        }
        if self.beat == self.beats.len() {
            return None;
        }
        if self.is_reset_due() {
            self.quiet = DRAIN;
            return Some(self.no_beat());
        }
        let drawn = self.draw(100);
        if drawn < self.idle && !self.is_paused && self.bit(self.beat, VALID) {
            self.pause = self.draw_cycles() - 1;
            self.is_paused = true;
            return Some(self.no_beat());
        }
        Some(self.send())
    }

    /// Goes back to the first beat of the dot product that a reset has interrupted.
    fn send_again(&mut self) {
        (self.beat, self.dot) = self.first;
        self.at.iter_mut().for_each(|at| *at = (*at).min(self.first.0));
    }

    fn compare_reset(&mut self, design: &Model<'_>) -> Option<String> {
        self.held.fill(0);
        let is_clean = design
            .levels
            .iter()
            .all(|level| level.acc == 0 && !level.updated && !level.high && !level.low && !level.sticky);
        (!is_clean || design.sum_valid || design.out_valid)
            .then(|| format!("reset before beat {}", self.beat))
    }

    fn compare(&mut self, design: &Model<'_>) -> Option<String> {
        for (level, shown) in design.levels.iter().enumerate() {
            if !shown.updated {
                if shown.acc != self.held[level] {
                    return Some(format!("hold of level {level} at beat {}", self.at[level]));
                }
                continue;
            }
            self.skip(level);
            let at = self.at[level];
            let Some(expected) = self.beats.states[level].get(at) else {
                return Some(format!("extra in level {level}"));
            };
            let bits = self.arithmetic.levels[level].acc_bits;
            if unsigned(shown.acc, bits) != unsigned(expected.acc.into(), bits) {
                return Some(format!(
                    "acc of level {level} at beat {at}: {} for {}",
                    shown.acc, expected.acc
                ));
            }
            if (shown.high, shown.low, shown.sticky) != (expected.high, expected.low, expected.sticky) {
                return Some(format!("flags of level {level} at beat {at}: {shown:?} for {expected:?}"));
            }
            self.at[level] += 1;
            self.held[level] = shown.acc;
        }
        if design.sum_valid {
            if self.beats.sums.get(self.sums).map(|&sum| sum.into()) != Some(design.sum) {
                return Some(format!(
                    "sum {}: {} for {:?}",
                    self.sums,
                    design.sum,
                    self.beats.sums.get(self.sums)
                ));
            }
            self.sums += 1;
        }
        if design.out_valid {
            let expected = self.beats.codes.get(self.outs);
            if self.arithmetic.requantize.in_rtl && expected.map(|&code| code.into()) != Some(design.code) {
                return Some(format!("code {}: {} for {expected:?}", self.outs, design.code));
            }
            self.outs += 1;
        }
        None
    }

    /// Skips the beats in which a level does nothing.
    fn skip(&mut self, level: usize) {
        let states = &self.beats.states[level];
        while states.get(self.at[level]).is_some_and(|state| !state.updated) {
            self.at[level] += 1;
        }
    }

    /// Returns what was sent but not shown.
    fn missing(&mut self) -> Option<String> {
        (0..self.at.len()).for_each(|level| self.skip(level));
        let is_short = self.at.iter().any(|&at| at < self.beats.len());
        (is_short || self.sums != self.due || self.outs != self.due).then(|| "missing".into())
    }
}
