//! Offsets after layers: biases.

use guardbit_graph::ops::{FloatBinary, FloatConv2d, RealPair};
use guardbit_graph::pattern::{Match, Pattern, Rewrite};
use guardbit_graph::{GraphPatch, Op, PatchError};

use super::factors::{constant, fresh};
use super::{per_channel, reals};

/// Merges the addition or subtraction of a constant per output channel into a convolution's bias.
#[derive(Debug)]
pub(super) struct OffsetsIntoConvolutions;

impl Rewrite for OffsetsIntoConvolutions {
    fn name(&self) -> &'static str {
        "offsets_into_convolutions"
    }

    fn description(&self) -> &'static str {
        "turns constants that are added to a convolution into its bias"
    }

    fn pattern(&self) -> Pattern {
        let conv = Pattern::op::<FloatConv2d>()
            .reads([
                Pattern::any().named("x"),
                Pattern::constant().named("w"),
                Pattern::constant().named("b").or_absent(),
            ])
            .named("conv");
        offset(conv)
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let (Some(conv), Some(x), Some(w)) = (found.op::<FloatConv2d>("conv"), found.id("x"), found.id("w"))
        else {
            return Ok(false);
        };
        let output = found.output();
        let channels = output.ty.shape[3];
        let offset = found.tensor("offset").and_then(|c| per_channel(c, channels, 4));
        let Some(offset) = offset else { return Ok(false) };
        let own = found.tensor("b").and_then(reals).unwrap_or_else(|| vec![0.0; channels]);
        let sign = sign(&found.graph().node(found.root()).op);
        let sum = |(c, &value): (usize, &f32)| (f64::from(value) + sign * offset.of(c)) as f32;
        let bias: Vec<f32> = own.iter().enumerate().map(sum).collect();
        let bias = constant(patch, &fresh(found, "bias"), &[channels], &bias)?;
        found.replace_by(patch, conv.clone(), &[Some(x), Some(w), Some(bias)])
    }
}

/// Merges two successive additions of constants per channel to a product into one.
#[derive(Debug)]
pub(super) struct JoinedOffsets;

impl Rewrite for JoinedOffsets {
    fn name(&self) -> &'static str {
        "joined_offsets"
    }

    fn description(&self) -> &'static str {
        "combines two constants that are added to a matrix product"
    }

    fn pattern(&self) -> Pattern {
        let product = Pattern::op_named(["float_matmul"]).named("product");
        let first = Pattern::op_where::<FloatBinary>(|op| op.function == RealPair::Add)
            .reads_in_any_order([product, Pattern::constant().named("first")]);
        offset(first)
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let Some(product) = found.id("product") else { return Ok(false) };
        let shape = &found.graph().tensor(product).ty.shape;
        let channels = shape.last().copied().unwrap_or(1);
        let of = |name| found.tensor(name).and_then(|c| per_channel(c, channels, shape.len()));
        let (Some(first), Some(second)) = (of("first"), of("offset")) else { return Ok(false) };
        let sign = sign(&found.graph().node(found.root()).op);
        let sums: Vec<f32> = (0..channels).map(|c| (first.of(c) + sign * second.of(c)) as f32).collect();
        let offset = constant(patch, &fresh(found, "offset"), &[channels], &sums)?;
        found.replace_by(patch, FloatBinary { function: RealPair::Add }, &[Some(product), Some(offset)])
    }
}

/// Returns the pattern of adding or subtracting a constant.
fn offset(of: Pattern) -> Pattern {
    let constant = || Pattern::constant().named("offset");
    let plus = Pattern::op_where::<FloatBinary>(|op| op.function == RealPair::Add)
        .reads_in_any_order([of.clone(), constant()]);
    plus.or(Pattern::op_where::<FloatBinary>(|op| op.function == RealPair::Sub).reads([of, constant()]))
}

fn sign(op: &Op) -> f64 {
    if matches!(op, Op::FloatBinary(FloatBinary { function: RealPair::Sub })) { -1.0 } else { 1.0 }
}
