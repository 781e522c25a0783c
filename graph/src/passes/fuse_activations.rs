//! Fuses rectifiers into preceding operations.

use crate::ops::{Add, Conv2d, DepthwiseConv2d, FullyConnected, Mul};
use crate::pattern::{Match, Pattern, Rewrite};
use crate::{Activation, GraphPatch, Op, PatchError};

/// A pass that turns a rectifier into the fused activation of the operation before it.
///
/// The rectifier must only clamp: its codes must have the scale and zero point of its input.
#[derive(Debug)]
pub struct FuseActivations;

impl Rewrite for FuseActivations {
    fn name(&self) -> &'static str {
        "fuse_activations"
    }

    fn description(&self) -> &'static str {
        "fuses a relu or relu6 of unchanged scale into the operation before it"
    }

    fn pattern(&self) -> Pattern {
        let before = Pattern::op_named(["conv2d", "depthwise_conv2d", "fully_connected", "add", "mul"]);
        Pattern::op_named(["relu", "relu6"]).reads([before.named("before")])
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        match fused(found) {
            Some((op, inputs)) => found.replace_by(patch, op, &inputs),
            None => Ok(false),
        }
    }
}

/// Returns the operation with its activation, and its inputs.
fn fused(found: &Match<'_>) -> Option<(Op, Vec<Option<crate::TensorId>>)> {
    let graph = found.graph();
    let (before, output) = (graph.node(found.node("before")?), found.output());
    let ty = found.ty("before")?;
    let activation = match &graph.node(found.root()).op {
        Op::Relu(_) => Activation::Relu,
        Op::Relu6(_) => Activation::Relu6,
        _ => return None,
    };
    let (low, high) = activation.clamp(ty.dtype, ty.quantization.as_ref()?);
    let codes: Vec<i32> = ty.code_range().codes().collect();
    let clamped = codes.iter().map(|code| code.clamp(&low, &high));
    let clamps = output.ty == *ty && graph.evaluate(found.root(), &[&codes]).iter().eq(clamped);
    clamps.then_some(())?;
    Some((with_activation(&before.op, activation)?, before.inputs.clone()))
}

/// Returns the operation with an activation, if it has none yet.
fn with_activation(op: &Op, activation: Activation) -> Option<Op> {
    Some(match op.clone() {
        Op::Conv2d(op @ Conv2d { activation: Activation::None, .. }) => Conv2d { activation, ..op }.into(),
        Op::DepthwiseConv2d(op @ DepthwiseConv2d { activation: Activation::None, .. }) => {
            DepthwiseConv2d { activation, ..op }.into()
        }
        Op::FullyConnected(op @ FullyConnected { activation: Activation::None, .. }) => {
            FullyConnected { activation, ..op }.into()
        }
        Op::Add(op @ Add { activation: Activation::None, .. }) => Add { activation, ..op }.into(),
        Op::Mul(op @ Mul { activation: Activation::None, .. }) => Mul { activation, ..op }.into(),
        _ => return None,
    })
}
