//! Trace of one dot product: every addition of the reference engine, step by step.
//!
//! It serves comparisons with hardware, cycle by cycle. The steps are those of the reference engine; nothing
//! is computed separately.

use guardbit_graph::OutputPosition;
use guardbit_hwmodels::{MacLayer, Packing};
use guardbit_num::Direction;

use crate::dot::DotOutcome;
use crate::output;
use crate::reads::Reads;
use crate::reference::{self, Draws, Live};

/// Pair of operands at the multiplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceOperand {
    /// Activation.
    pub activation: i128,
    /// Weight.
    pub weight: i128,
}

/// Kind of a step of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// Addition of a serial level.
    Add,
    /// Node of a tree.
    Node,
    /// End of a run: the result leaves the level. It is fitted if the level checks at the hand-over, then
    /// shifted.
    HandOver,
}

/// Step of one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelStep {
    /// Index of the level, innermost first.
    pub level: usize,
    /// Index of the run within the dot product.
    pub run: usize,
    /// Kind of the step.
    pub kind: StepKind,
    /// Value of the accumulator or node after the step; at a hand-over, the value that the next level
    /// receives.
    pub value: i128,
    /// Value that is compared with the rails: the exact result of this step applied to the previous value,
    /// before it is fitted. At a hand-over, the value before the fit and the shift.
    pub result: i128,
    /// Unbounded sum in the level's unit; at a hand-over, after the shift.
    pub unbounded: i128,
    /// Last product, in the order of addition, that the value contains.
    pub last_k: usize,
    /// Rail that the exact result crossed.
    pub overflow: Option<Direction>,
}

/// Trace of a dot product.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DotTrace {
    /// Steps level by level, innermost first, in order within each level.
    pub steps: Vec<LevelStep>,
    /// Sum that the last level delivered.
    pub delivered: i128,
    /// Sum after the adder of the bias, in the same unit. Under `post_requantize` the bias is not included.
    pub biased: i128,
    /// Exact sum at unit 1, including a preloaded bias.
    pub exact: i128,
    /// Output code.
    pub code: i32,
    /// Output code of the exact sum.
    pub exact_code: i32,
    /// Number of products that did not fit.
    pub product_events: u64,
    /// Number of times that the bias, or the sum with it, did not fit.
    pub bias_events: u64,
}

/// Returns the operands of the dot product at `out`, in the order of addition.
///
/// `reads` holds the codes of the layer's activations, or of both operands if the weights are activations.
/// Padding keeps its place in the order, except in pools, which leave it out.
pub fn operands<'a>(
    layer: &MacLayer,
    reads: impl Into<Reads<'a, [i32]>>,
    out: OutputPosition,
) -> Vec<TraceOperand> {
    reference::read_operands(layer, reads.into(), out)
}

/// Runs one dot product of output channel `channel` on the given operands, which may be those of [`operands`]
/// or any others.
///
/// The number of operands is free: levels divide them into runs as in the layer. A stage that traps does not
/// stop the computation: its value stays exact, as under `observe`. Stages with random rounding use the
/// random numbers of the first output of the first sample.
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
    let low = layer.low_lane(channel).and_then(|low| layer.weights.get(low));
    let show = &mut |step| observer(&step);
    let sum = reference::run_observed(layer, channel, draws, (operands, low.as_deref()), &mut outcome, show);
    DotTrace {
        steps: Vec::new(),
        delivered: outcome.delivered,
        biased: output::biased(layer, channel, &sum),
        exact: sum.exact,
        code: outcome.code,
        exact_code: outcome.exact_code,
        product_events: outcome.product_events,
        bias_events: outcome.bias_events,
    }
}

/// Dot product in progress: operands arrive beat by beat, and runs end when the hardware signals it.
///
/// It serves lockstep with hardware. The additions are those of the reference engine.
#[derive(Debug, Clone)]
pub struct LiveDot(Live);

/// Result of a beat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveBeat {
    /// Steps level by level, innermost first, in order within each level.
    pub steps: Vec<LevelStep>,
    /// Result of the dot product, if the last level's run ended.
    pub end: Option<LiveEnd>,
}

/// End of a dot product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveEnd {
    /// Sum that the last level delivered.
    pub delivered: i128,
    /// Exact sum at unit 1, including a preloaded bias.
    pub exact: i128,
    /// Output code.
    pub code: i32,
}

impl LiveDot {
    /// Begins a dot product of `layer`. Returns `None` if lanes share an adder, because a dot product is not
    /// independent then.
    pub fn new(layer: &MacLayer) -> Option<Self> {
        (layer.packing == Packing::None).then(|| Self(Live::new(layer)))
    }

    /// Runs one beat of output channel `channel`. `run_last` holds per level whether its run ends with this
    /// beat; levels that are missing do not end. After the last level's run, another dot product begins.
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

    /// Returns the exact sum of the products so far, at unit 1. A preloaded bias is added at the end.
    pub fn products(&self) -> i128 {
        self.0.products()
    }
}
