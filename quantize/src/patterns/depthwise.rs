//! Convolutions of every channel on its own. The declarations resemble those of `conv2d`, because each pattern is a
//! file of its own.

use guardbit_graph::ops::{DepthwiseConv2d, FloatConv2d};
use guardbit_graph::pattern::{Match, Pattern};

use super::clipped::maybe_clipped;
use super::conv2d::convolution;
use super::layer::{Layer, Layout, layer_forms};
use super::{Operation, UnitPattern, one_input};
use crate::LayerClass;
use crate::emit::EVEN;
use crate::prepare::reals;

/// Pattern of `float_conv2d` whose groups have one channel each.
pub(super) struct Depthwise;

#[derive(Debug)]
struct Forms(Layer);

layer_forms!(Forms);

impl UnitPattern for Depthwise {
    fn name(&self) -> &'static str {
        "depthwise_conv2d"
    }

    fn pattern(&self) -> Pattern {
        maybe_clipped(convolution())
    }

    fn operation(&self, found: &Match<'_>) -> Option<Operation> {
        let op = found.op::<FloatConv2d>("conv")?;
        let w = found.tensor("w")?;
        let &[channels, rows, cols, 1] = &w.ty.shape[..] else { return None };
        if *found.ty("x")?.shape.last()? == 1 {
            return None;
        }
        let (stride, dilation, padding) = (op.stride, op.dilation, op.padding);
        let op = DepthwiseConv2d { stride, dilation, padding, requantize: EVEN, ..Default::default() };
        let layer = Layer {
            op: op.into(),
            class: LayerClass::Depthwise,
            channels,
            weights: reals(w)?,
            bias: found.tensor("b").and_then(reals),
            layout: Layout::ChannelsLast([rows, cols]),
        };
        one_input(found, Forms(layer))
    }
}
