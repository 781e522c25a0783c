//! One dot product, step by step: what every adder of the reference engine did.
//!
//! For those who compare hardware cycle by cycle. The steps are the reference engine's own: nothing is computed twice.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{MacLayer, Packing};
use guardbit_num::Direction;

use crate::dot::DotOutcome;
use crate::reads::Reads;
use crate::reference::{self, Draws, Live};

/// One pair of operands, as the multiplier sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceOperand {
    /// The activation.
    pub activation: i128,
    /// The weight.
    pub weight: i128,
}

/// What a step of a level is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// An addition of a serial level.
    Add,
    /// A node of a tree.
    Node,
    /// The end of a run: the result leaves the level, fitted where the level checks at the hand-over, then shifted.
    HandOver,
}

/// One step of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelStep {
    /// The level, innermost first.
    pub level: usize,
    /// The run within the dot product.
    pub run: usize,
    /// What happened.
    pub kind: StepKind,
    /// What the accumulator or node holds afterwards; at a hand-over what the next level gets.
    pub value: i128,
    /// What the rails are compared with: the exact result of this step on what the step before left, not yet fitted; at
    /// a hand-over before the fit and the shift.
    pub result: i128,
    /// The unbounded sum in the level's unit; at a hand-over after the shift.
    pub unbounded: i128,
    /// The last product, in the order of addition, that the value contains.
    pub last_k: usize,
    /// The rail that the exact result crossed.
    pub overflow: Option<Direction>,
}

/// A dot product, step by step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DotTrace {
    /// Steps level by level, innermost first; within a level in order.
    pub steps: Vec<LevelStep>,
    /// What the last level delivered.
    pub delivered: i128,
    /// The exact sum at unit 1, a preloaded bias included.
    pub exact: i128,
    /// The output code.
    pub code: i32,
    /// The output code of the exact sum.
    pub exact_code: i32,
    /// Products that did not fit.
    pub product_events: u64,
    /// Whether the bias, or the sum with it, did not fit.
    pub bias_events: u64,
}

/// The operands of the dot product at `out`, in the order of addition.
///
/// `reads` holds the codes of the layer's activations: of both operands where the weights are activations. Padding keeps its
/// place, but pools leave it out.
pub fn operands<'a>(
    layer: &MacLayer,
    reads: impl Into<Reads<'a, [i32]>>,
    out: OutputPosition,
) -> Vec<TraceOperand> {
    reference::read_operands(layer, reads.into(), out)
}

/// Runs one dot product of output channel `channel` on any operands: those of [`operands`], or made-up ones.
///
/// The number of operands is free: levels cut them into runs as they do in the layer. A stage that traps does not
/// stop it: as under `observe`, the value stays exact. Stages that round at random do so as in the first output of the first
/// sample.
pub fn trace(layer: &MacLayer, channel: usize, operands: &[TraceOperand]) -> DotTrace {
    let mut steps = Vec::new();
    let trace = trace_observed(layer, channel, operands, &mut |step| steps.push(*step));
    DotTrace { steps, ..trace }
}

/// Runs one dot product as [`trace`] does, but shows every step to `observer` instead of keeping it: level by level, innermost
/// first, and within a level in order.
pub fn trace_observed(
    layer: &MacLayer,
    channel: usize,
    operands: &[TraceOperand],
    observer: &mut dyn FnMut(&LevelStep),
) -> DotTrace {
    let mut outcome = DotOutcome::default();
    let draws = Draws::first(layer);
    let low = layer.low_lane(channel).and_then(|low| layer.weights.get(low)).map(Vec::as_slice);
    let show = &mut |step| observer(&step);
    let exact = reference::run_observed(layer, channel, draws, (operands, low), &mut outcome, show);
    DotTrace {
        steps: Vec::new(),
        delivered: outcome.delivered,
        exact,
        code: outcome.code,
        exact_code: outcome.exact_code,
        product_events: outcome.product_events,
        bias_events: outcome.bias_events,
    }
}

/// A dot product under way: operands arrive beat by beat, and runs end when the hardware says so.
///
/// For lockstep with hardware. The additions are the reference engine's own.
#[derive(Debug, Clone)]
pub struct LiveDot(Live);

/// What a beat did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveBeat {
    /// Steps level by level, innermost first; within a level in order.
    pub steps: Vec<LevelStep>,
    /// What was delivered, if the last level's run ended.
    pub end: Option<LiveEnd>,
}

/// The end of a dot product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveEnd {
    /// What the last level delivered.
    pub delivered: i128,
    /// The exact sum at unit 1, a preloaded bias included.
    pub exact: i128,
    /// The output code.
    pub code: i32,
}

impl LiveDot {
    /// Before the first beat of a dot product of `layer`; none where lanes share an adder, for then a dot product does
    /// not stand alone.
    pub fn new(layer: &MacLayer) -> Option<Self> {
        (layer.packing == Packing::None).then(|| Self(Live::new(layer)))
    }

    /// One beat of output channel `channel`. `run_last` says per level whether its run ends with this beat; what is
    /// missing does not end. After the last level's run another dot product begins.
    pub fn beat(
        &mut self,
        layer: &MacLayer,
        channel: usize,
        operands: &[TraceOperand],
        run_last: &[bool],
    ) -> LiveBeat {
        let mut steps = Vec::new();
        let end = self.0.beat(layer, channel, operands, run_last, &mut |step| steps.push(step));
        LiveBeat { steps, end }
    }

    /// The exact sum of the products so far, at unit 1; a preloaded bias joins it at the end.
    pub fn products(&self) -> i128 {
        self.0.products()
    }
}
