//! Moves quantizers before operations that only move real values.

use crate::ops::{FloatMaxPool2d, MaxPool2d, Pad, QuantizeFloat};
use crate::pattern::{Match, Pattern, Rewrite};
use crate::{Activation, GraphPatch, Op, OutputSpec, PatchError};

/// A pass that quantizes real values before they are moved instead of after. Moving codes gives equal results.
///
/// A max pool between dequantize and quantize becomes one of codes, too, because greater codes are greater values.
#[derive(Debug)]
pub struct HoistQuantize;

impl Rewrite for HoistQuantize {
    fn name(&self) -> &'static str {
        "hoist_quantize"
    }

    fn description(&self) -> &'static str {
        "quantizes real values before reshape, transpose, pad, slice, max pool and the like, which then move codes"
    }

    fn pattern(&self) -> Pattern {
        let moves = Pattern::op_named([
            "reshape",
            "transpose",
            "pad",
            "slice",
            "reverse",
            "tile",
            "mirror_pad",
            "space_to_depth",
            "depth_to_space",
        ]);
        let moves = moves.reads([Pattern::any().named("x")]);
        // Real values of codes are never NaN.
        let codes = Pattern::op_named(["dequantize"]).shared().named("x");
        let pool = Pattern::op::<FloatMaxPool2d>().reads([codes]);
        Pattern::op::<QuantizeFloat>().reads([moves.or(pool).named("move")])
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let Some((quantize, moves)) = parts(found) else { return Ok(false) };
        let Some(moved) = found.tensor("move") else { return Ok(false) };
        let name = super::free_name(found.graph(), &format!("{}_codes", moved.name));
        let codes = OutputSpec { name, ..OutputSpec::of(found.output()) };
        match patch.node(quantize, &[found.id("x")], codes) {
            Ok(codes) => found.replace_by(patch, moves, &[Some(codes)]),
            Err(_) => Ok(false),
        }
    }
}

/// Returns the quantizer, and the operation that moves its codes.
fn parts(found: &Match<'_>) -> Option<(Op, Op)> {
    let graph = found.graph();
    let quantization = found.output().ty.quantization.as_ref().filter(|q| q.axis().is_none())?;
    let quantize = graph.node(found.root()).op.clone();
    let moves = match &graph.node(found.node("move")?).op {
        Op::Pad(Pad { paddings, value }) => {
            // The padding value is a real value, too. It is 0 by default.
            let word = value.unwrap_or(crate::word_of(0.0));
            let value = graph.evaluate(found.root(), &[&[word]]).first().copied()?;
            let value = (value != quantization.zero_point(0)).then_some(value);
            Pad { paddings: paddings.clone(), value }.into()
        }
        Op::FloatMaxPool2d(pool) => MaxPool2d {
            kernel: pool.kernel,
            stride: pool.stride,
            padding: pool.padding,
            activation: Activation::None,
        }
        .into(),
        moves => moves.clone(),
    };
    Some((quantize, moves))
}
