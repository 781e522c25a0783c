//! Folds casts around operations that work on wider codes than needed.

use crate::ops::{Cast, Quantize};
use crate::pattern::{Match, Pattern, Rewrite};
use crate::{DType, GraphPatch, Op, PatchError, TensorType};

/// A pass that removes the casts around a pool, a mean or an operation that moves codes.
///
/// The cast before it goes to wider codes with equal quantization. The cast after it, or a `quantize` to equal
/// quantization, goes back. Results lie between the least and the greatest code read, so the cast back loses nothing.
#[derive(Debug)]
pub struct FoldCasts;

impl Rewrite for FoldCasts {
    fn name(&self) -> &'static str {
        "fold_casts"
    }

    fn description(&self) -> &'static str {
        "removes casts to wider codes before, and back after, pools, means and operations that move codes"
    }

    fn pattern(&self) -> Pattern {
        let wide = Pattern::op::<Cast>().reads([Pattern::any().named("x")]).shared().named("wide");
        let between = Pattern::op_named([
            "avg_pool2d",
            "max_pool2d",
            "mean",
            "reduce_max",
            "reduce_min",
            "reshape",
            "transpose",
            "slice",
            "space_to_depth",
            "depth_to_space",
        ]);
        Pattern::op_named(["cast", "quantize"]).reads([between.reads([wide]).named("op")])
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        match narrow(found) {
            Some(op) => found.replace_by(patch, op, &[found.id("x")]),
            None => Ok(false),
        }
    }
}

/// Returns the operation on the narrow codes.
fn narrow(found: &Match<'_>) -> Option<Op> {
    let (x, wide, made) = (found.ty("x")?, found.ty("wide")?, found.ty("op")?);
    let output = &found.output().ty;
    let holds = |wide: &TensorType, narrow: &TensorType| {
        let range = |ty: &TensorType| ty.code_range();
        range(wide).includes(range(narrow)) && !wide.dtype.is_float() && wide.dtype != DType::Int64
    };
    // A range would clamp, so there must be none. All four tensors must have equal codes for equal values.
    let plain = [x, wide, made, output].iter().all(|ty| {
        ty.quantization.as_ref().is_some_and(|q| q.range().is_none() && q.axis().is_none())
            && ty.quantization == x.quantization
    });
    let back = match &found.graph().node(found.root()).op {
        Op::Cast(Cast) => true,
        Op::Quantize(Quantize { .. }) => moves_nothing(found),
        _ => false,
    };
    let fits = holds(wide, x) && wide.dtype == made.dtype && output.dtype == x.dtype;
    (plain && back && fits).then_some(())?;
    Some(found.graph().node(found.node("op")?).op.clone())
}

/// Returns whether the match's root maps every code that the output can hold to itself.
fn moves_nothing(found: &Match<'_>) -> bool {
    let codes: Vec<i32> = found.output().ty.code_range().codes().collect();
    found.graph().evaluate(found.root(), &[&codes]) == codes
}
