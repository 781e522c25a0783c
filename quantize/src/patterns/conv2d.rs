//! Convolutions with a constant window, an optional bias and an activation.

use guardbit_graph::ops::{self, FloatConv2d};
use guardbit_graph::pattern::{Match, Pattern};

use super::clipped::maybe_clipped;
use super::layer::{Layer, Layout, layer_forms};
use super::{Operation, UnitPattern, activation, one_input};
use crate::LayerClass;
use crate::emit::EVEN;
use crate::prepare::reals;

/// Pattern of `float_conv2d`, with its bias and limits.
pub(super) struct Conv2d;

#[derive(Debug)]
struct Forms(Layer);

layer_forms!(Forms);

impl UnitPattern for Conv2d {
    fn name(&self) -> &'static str {
        "conv2d"
    }

    fn pattern(&self) -> Pattern {
        maybe_clipped(convolution())
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        let op = found.op::<FloatConv2d>("conv")?;
        let w = found.tensor("w")?;
        let &[channels, rows, cols, depth] = &w.ty.shape[..] else { return None };
        let inputs = *found.ty("x")?.shape.last()?;
        let class = match (inputs == depth, rows * cols) {
            (false, _) => LayerClass::Grouped,
            (true, 1) => LayerClass::Pointwise,
            (true, _) => LayerClass::Conv,
        };
        let (stride, dilation, padding) = (op.stride, op.dilation, op.padding);
        let op = ops::Conv2d { stride, dilation, padding, requantize: EVEN, ..Default::default() };
        let layer = Layer {
            op: op.into(),
            class,
            channels,
            weights: reals(w)?,
            bias: found.tensor("b").and_then(reals),
            layout: Layout::ChannelsFirst(vec![channels, rows, cols, depth]),
        };
        one_input(found, Forms(layer))
    }
}

/// Returns the pattern of a convolution with constant weights.
pub(super) fn convolution() -> Pattern {
    let constants = [Pattern::constant().named("w"), Pattern::constant().named("b").or_absent()];
    let [weights, bias] = constants;
    Pattern::op::<FloatConv2d>().reads([activation("x"), weights, bias]).named("conv")
}
