//! Means of images with another order of axes.

use guardbit_graph::ops::{FloatMean, Transpose};
use guardbit_graph::pattern::{Match, Pattern, Rewrite};
use guardbit_graph::{GraphPatch, OutputSpec, PatchError};

use super::factors::fresh;

/// Replaces a mean of a transposed tensor by the mean over the original axes, with channels last.
#[derive(Debug)]
pub(super) struct MeansOfMoved;

impl Rewrite for MeansOfMoved {
    fn name(&self) -> &'static str {
        "means_of_moved"
    }

    fn description(&self) -> &'static str {
        "moves a mean from after a transpose to before it"
    }

    fn pattern(&self) -> Pattern {
        let moved = Pattern::op::<Transpose>().reads([Pattern::any().named("x")]).shared().named("moved");
        Pattern::op::<FloatMean>().reads([moved]).named("mean")
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let (Some(mean), Some(moved), Some(x)) =
            (found.op::<FloatMean>("mean"), found.op::<Transpose>("moved"), found.id("x"))
        else {
            return Ok(false);
        };
        let from = &moved.permutation;
        let mut axes: Vec<usize> = mean.axes.iter().map(|&axis| from[axis]).collect();
        axes.sort_unstable();
        let op = FloatMean { axes, keep_dims: mean.keep_dims };
        // The remaining axes, in the order of the transpose and in their own order.
        let kept = |axis: &usize| mean.keep_dims || !op.axes.contains(axis);
        let left: Vec<usize> = from.iter().copied().filter(kept).collect();
        let own: Vec<usize> = (0..from.len()).filter(kept).collect();
        if left == own {
            return found.replace_by(patch, op, &[Some(x)]);
        }
        let permutation = left.iter().filter_map(|axis| own.iter().position(|other| other == axis)).collect();
        let output = OutputSpec { name: fresh(found, "mean"), ..OutputSpec::of(found.output()) };
        let made = patch.node(op, &[Some(x)], output)?;
        found.replace_by(patch, Transpose { permutation }, &[Some(made)])
    }
}
