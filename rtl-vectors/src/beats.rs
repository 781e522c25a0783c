//! Converts dot products to beats: the inputs of every cycle, and the value of every register after it.

use guardbit_hwmodels::{BiasPlace, Datapath, MacLayer};
use guardbit_num::Direction;
use guardbit_sim::trace::{DotTrace, LevelStep, StepKind, TraceOperand, trace_observed};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

use crate::arithmetic;
use crate::manifest::{Arithmetic, CaseGroup, Expected};

/// Dot product to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Dot {
    /// Identifier, unique in the bundle.
    pub id: String,
    /// Origin of its operands.
    pub group: CaseGroup,
    /// Corner class.
    pub class: String,
    /// Sample and output element of a real dot product.
    pub place: Option<[usize; 5]>,
    /// Layer reduced to one output channel.
    pub layer: MacLayer,
    /// Operands in the order of addition.
    pub operands: Vec<TraceOperand>,
    /// Distance of bubbles in beats: a bubble is inserted before every n-th beat. `None` for no bubbles.
    pub bubble_every: Option<usize>,
    /// Number of beats that are sent before the next dot product clears this one; `None` to send all.
    pub cut_after: Option<usize>,
}

/// Outputs of a level after a beat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LevelState {
    /// Value of the register; of a tree, the value it hands over.
    pub acc: i64,
    /// Value with unlimited widths, from the run's start on.
    pub exact: i64,
    /// Whether the level added in this beat.
    pub updated: bool,
    /// Whether an exact result was above the range.
    pub high: bool,
    /// Whether an exact result was below the range.
    pub low: bool,
    /// Whether either happened in this run.
    pub sticky: bool,
}

impl LevelState {
    /// Returns the flags from the least significant bit on: overflow, above, below, sticky.
    pub fn flags(&self) -> u64 {
        let bits = [self.high || self.low, self.high, self.low, self.sticky];
        bits.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit))
    }
}

/// Converts steps to the outputs of the levels.
#[derive(Debug, Clone)]
pub(crate) struct Display {
    /// Whether the innermost level adds its run at once.
    at_once: bool,
    /// Per level, the current run and whether it has overflowed.
    runs: Vec<(usize, bool)>,
}

impl Display {
    pub fn new(datapath: &Datapath) -> Self {
        let at_once = datapath.levels[0].reduce.takes_run_at_once();
        Self { at_once, runs: vec![(usize::MAX, false); datapath.levels.len()] }
    }

    /// Applies `step` to the states of its beat.
    pub fn show(&mut self, step: &LevelStep, states: &mut [LevelState]) {
        let (run, sticky) = &mut self.runs[step.level];
        if *run != step.run {
            (*run, *sticky) = (step.run, false);
        }
        *sticky |= step.overflow.is_some();
        let state = &mut states[step.level];
        state.high |= step.overflow == Some(Direction::High);
        state.low |= step.overflow == Some(Direction::Low);
        state.sticky = *sticky;
        // A level without a register within its run shows the value it hands over.
        let shown = if step.level == 0 && self.at_once { StepKind::HandOver } else { StepKind::Add };
        if step.kind == shown {
            (state.acc, state.exact, state.updated) = (step.value as i64, step.unbounded as i64, true);
        }
    }
}

/// Data per beat and per dot product, column by column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beats {
    pub lanes: usize,
    pub levels: usize,
    /// Activations per beat and lane.
    pub activations: Vec<i64>,
    /// Weights per beat and lane.
    pub weights: Vec<i64>,
    /// Control bits per beat.
    pub ctrl: Vec<i64>,
    /// States per level and beat.
    pub states: Vec<Vec<LevelState>>,
    /// Exact sum so far, per beat.
    pub wide: Vec<i64>,
    /// Bias per dot product started.
    pub bias: Vec<i64>,
    pub multiplier: Vec<i64>,
    pub exponent: Vec<i64>,
    /// Sum per dot product finished.
    pub sums: Vec<i64>,
    pub codes: Vec<i64>,
}

/// Data appended for one dot product.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub first_beat: usize,
    pub beats: usize,
    /// Number of products that were sent.
    pub products: usize,
    pub out_word: Option<usize>,
    pub expected: Expected,
    /// What was delivered by all products, sent or not; without steps.
    pub trace: DotTrace,
}

/// Returns the number of products per beat, which is greater than one if the innermost level adds its run at
/// once.
pub(crate) fn lanes(datapath: &Datapath, terms: usize) -> usize {
    let level = &datapath.levels[0];
    if level.reduce.takes_run_at_once() { level.terms.run_length(terms) } else { 1 }
}

/// Control bit that marks a beat. Control bits are counted from the least significant one on.
pub(crate) const VALID: u32 = 0;
/// Control bit of a beat that starts a dot product.
pub(crate) const CLEAR: u32 = 1;
/// First of the control bits that end a run, one per level.
pub(crate) const RUN_LAST: u32 = 2;
/// Number of bits of a flags word per level: overflow, above, below, sticky.
pub(crate) const FLAG_BITS: u32 = 4;

impl Beats {
    pub fn new(lanes: usize, levels: usize) -> Self {
        Self { lanes, levels, states: vec![Vec::new(); levels], ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.ctrl.len()
    }

    /// Sends `dot`. `noise` fills what must not matter: bubbles and unused lanes. `observer` sees every step.
    pub fn send(
        &mut self,
        dot: &Dot,
        arithmetic: &Arithmetic,
        noise: &mut Pcg64Mcg,
        observer: &mut dyn FnMut(&LevelStep),
    ) -> Sent {
        let first_beat = self.len();
        let all = dot.operands.len().div_ceil(self.lanes).max(1);
        let sent = dot.cut_after.unwrap_or(all).min(all);
        // Per beat and level, what the trace says; the value of a level that does nothing is filled in later.
        let mut rows = vec![LevelState::default(); all * self.levels];
        let mut display = Display::new(&dot.layer.datapath);
        let trace = trace_observed(&dot.layer, 0, &dot.operands, &mut |step| {
            display.show(step, &mut rows[step.last_k / self.lanes * self.levels..][..self.levels]);
            observer(step);
        });
        let mut wide = match dot.layer.datapath.bias.at {
            BiasPlace::Preload => dot.layer.bias.as_ref().map_or(0, |b| b[0]),
            BiasPlace::Post | BiasPlace::PostRequantize => 0,
        };
        let mut expected = Expected {
            high: vec![0; self.levels],
            low: vec![0; self.levels],
            sum: (sent == all).then_some(trace.delivered as i64),
            code: (sent == all).then_some(trace.code),
            exact: 0,
        };
        let ends = run_ends(&dot.layer.datapath, dot.operands.len(), self.lanes);
        for (beat, row) in rows.chunks_exact_mut(self.levels).take(sent).enumerate() {
            if dot.bubble_every.is_some_and(|n| beat % n == n - 1) {
                self.bubble(arithmetic, wide, noise);
            }
            let from = beat * self.lanes;
            let to = (from + self.lanes).min(dot.operands.len());
            self.operands(&dot.operands[from..to], arithmetic, noise);
            let keep = (1i64 << (to - from)) - 1;
            let mut ctrl = 1 << VALID | i64::from(beat == 0) << CLEAR;
            for (level, end) in ends.iter().enumerate() {
                ctrl |= i64::from(end[beat]) << (RUN_LAST + level as u32);
            }
            self.ctrl.push(ctrl | keep << (RUN_LAST + self.levels as u32));
            wide += dot.operands[from..to].iter().map(|o| o.activation * o.weight).sum::<i128>();
            self.wide.push(wide as i64);
            for (level, state) in row.iter_mut().enumerate() {
                if !state.updated {
                    let held = self.states[level].last().copied().unwrap_or_default();
                    (state.acc, state.exact) = (held.acc, held.exact);
                }
                expected.high[level] += u64::from(state.high);
                expected.low[level] += u64::from(state.low);
                self.states[level].push(*state);
            }
        }
        expected.exact = wide as i64;
        let [significand, exponent] = multiplier_words(&dot.layer);
        self.multiplier.push(significand);
        self.exponent.push(exponent);
        // Products that are cut off do not contribute.
        let products = (sent * self.lanes).min(dot.operands.len());
        self.bias.push(bias_word(&dot.layer, &dot.operands[..products]) as i64);
        let out_word = (sent == all).then(|| {
            self.sums.push(trace.delivered as i64);
            self.codes.push(trace.code.into());
            self.sums.len() - 1
        });
        Sent { first_beat, beats: self.len() - first_beat, products, out_word, expected, trace }
    }

    /// Appends a cycle without a beat: no state changes, whatever the inputs are.
    pub fn bubble(&mut self, arithmetic: &Arithmetic, wide: i128, noise: &mut Pcg64Mcg) {
        self.operands(&[], arithmetic, noise);
        // All control bits except `valid` are set; they must not have an effect.
        let bits = RUN_LAST + self.levels as u32 + self.lanes as u32;
        self.ctrl.push(((1i64 << bits) - 1) & !(1 << VALID));
        self.wide.push(wide as i64);
        for states in &mut self.states {
            let held = states.last().copied().unwrap_or_default();
            states.push(LevelState { acc: held.acc, exact: held.exact, ..LevelState::default() });
        }
    }

    fn operands(&mut self, used: &[TraceOperand], arithmetic: &Arithmetic, noise: &mut Pcg64Mcg) {
        let mut any = |bits: u32| noise.next_u64() as i64 >> (64 - bits);
        for lane in 0..self.lanes {
            let operand = used.get(lane);
            let activation = operand.map_or_else(|| any(arithmetic.activation.bits), |o| o.activation as i64);
            let weight = operand.map_or_else(|| any(arithmetic.weight.bits), |o| o.weight as i64);
            self.activations.push(activation);
            self.weights.push(weight);
        }
    }
}

/// Returns, per level and beat, whether a run of the level ends.
pub(crate) fn run_ends(datapath: &Datapath, terms: usize, lanes: usize) -> Vec<Vec<bool>> {
    let beats = terms.div_ceil(lanes).max(1);
    let mut ends: Vec<Vec<bool>> = Vec::new();
    let mut values = terms;
    for level in &datapath.levels {
        let length = level.terms.run_length(values);
        let mut seen = 0;
        let mut here = vec![false; beats];
        for (beat, end) in here.iter_mut().enumerate() {
            let arrives = match ends.last() {
                Some(inner) => usize::from(inner[beat]),
                None => lanes.min(terms - beat * lanes),
            };
            seen += arrives;
            *end = arrives > 0 && (seen >= length || beat + 1 == beats);
            if *end {
                seen = 0;
            }
        }
        values = values.div_ceil(length).max(1);
        ends.push(here);
    }
    ends
}

/// Returns the multiplier of the single channel of `layer` as the words of its ports: significand and exponent.
pub(crate) fn multiplier_words(layer: &MacLayer) -> [i64; 2] {
    arithmetic::multiplier_words(layer.requantizers[0])
}

/// Returns the value of the bias port in the unit of the place where it is added, including the sum of the
/// activations.
pub(crate) fn bias_input(dot: &Dot) -> i64 {
    bias_word(&dot.layer, &dot.operands) as i64
}

/// Returns `-zx * sum(w)` of `operands` if the weights are activations and zero points are folded, otherwise
/// 0.
pub(crate) fn weight_side(layer: &MacLayer, operands: &[TraceOperand]) -> i128 {
    i128::from(layer.weight_sum_factor) * operands.iter().map(|o| o.weight).sum::<i128>()
}

/// Returns the word of the bias port for `operands` and the single channel of `layer`.
pub(crate) fn bias_word(layer: &MacLayer, operands: &[TraceOperand]) -> i128 {
    let datapath = &layer.datapath;
    let bias = layer.bias.as_ref().map_or(0, |b| b[0]);
    let end = datapath.levels.len();
    let at = if datapath.bias.at == BiasPlace::Preload { end - 1 } else { end };
    let activations: i128 = operands.iter().map(|o| o.activation).sum();
    let side = i128::from(layer.input_sum_factor[0]) * activations + weight_side(layer, operands);
    datapath.unit_rounding(at).shift_right(bias + side, datapath.unit_shift(at))
}
