//! Folds the requantization of sums into the layer.

use crate::dot::Finish;
use crate::ops::{Conv2d, DepthwiseConv2d, FullyConnected, Quantize, TransposeConv2d};
use crate::pattern::{Match, Pattern, Rewrite};
use crate::{
    Activation, DType, DotProducts, Graph, GraphPatch, MultiplierRule, Op, OutputStage, PatchError,
    Requantize,
};

/// A pass that merges an operation with int32 sums and the `quantize` that reads them into one operation with int8
/// codes.
///
/// The multipliers must be equal. Int32 sums are exact, so the scheme receives equal sums in both forms.
#[derive(Debug)]
pub struct FoldRequantize;

impl Rewrite for FoldRequantize {
    fn name(&self) -> &'static str {
        "fold_requantize"
    }

    fn description(&self) -> &'static str {
        "merges a quantize of a layer's int32 sums into the layer"
    }

    fn pattern(&self) -> Pattern {
        Pattern::op::<Quantize>().reads([super::sums_of_a_layer().named("layer")])
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let Some((op, layer)) = fused(found).zip(found.node("layer")) else { return Ok(false) };
        found.replace_by(patch, op, &found.graph().node(layer).inputs)
    }
}

/// Returns the layer with the requantization of the match's root.
fn fused(found: &Match<'_>) -> Option<Op> {
    let (graph, layer, root) = (found.graph(), found.node("layer")?, found.graph().node(found.root()));
    let Op::Quantize(quantize) = &root.op else { return None };
    let dots = graph.dot_products(layer).filter(holds_sums)?;
    (fits(graph, layer, 0) && !has_activation(&graph.node(layer).op)).then_some(())?;
    let wanted = root.op.requantizers(&graph.operands(root));
    let (node, output) = (graph.node(layer), &found.output().ty);
    let scale = |index: usize| {
        let ty = &graph.tensor(node.inputs.get(index).copied().flatten()?).ty;
        ty.quantization.as_ref()
    };
    let (input, weights) = (scale(0)?.scale(0), scale(1)?);
    let output = output.quantization.as_ref()?.scale(0);
    let channels = dots.window.channels();
    // The scale of the sums is a float32. A rule that also rounds it to float32 gives equal multipliers; another rule
    // may not.
    let rules = [quantize.requantize.rule, MultiplierRule::ProductInFloat32, MultiplierRule::Float32];
    let same = |rule: &MultiplierRule| {
        let requantize = Requantize { rule: *rule, ..quantize.requantize };
        (0..channels).all(|channel| {
            let made = requantize.requantizer(input, weights.scale(channel), output);
            made.is_ok_and(|made| made == wanted[channel % wanted.len()])
        })
    };
    let rule = rules.into_iter().find(same).filter(|_| !wanted.is_empty())?;
    Some(node.op.clone().with_requantize(Requantize { rule, ..quantize.requantize }))
}

/// Returns whether an operation has an activation, which is not applied to sums.
fn has_activation(op: &Op) -> bool {
    match op {
        Op::Conv2d(Conv2d { activation, .. })
        | Op::DepthwiseConv2d(DepthwiseConv2d { activation, .. })
        | Op::TransposeConv2d(TransposeConv2d { activation, .. })
        | Op::FullyConnected(FullyConnected { activation, .. }) => *activation != Activation::None,
        _ => true,
    }
}

/// Returns whether the output of a layer is its unchanged sums.
pub(super) fn holds_sums(dots: &DotProducts) -> bool {
    matches!(&dots.finish, Finish::Requantize(stage) if *stage == OutputStage::sums(stage.weight_scales.len()))
}

/// Returns whether every sum of a layer, plus a value of up to `more`, fits 32 bits.
pub(super) fn fits(graph: &Graph, layer: crate::NodeId, more: i128) -> bool {
    let Some(dots) = graph.dot_products(layer) else { return false };
    let Some(weights) = &dots.weights else { return false };
    let Some(input) = graph.node(layer).inputs[0].map(|id| &graph.tensor(id).ty) else { return false };
    let range = input.code_range();
    let distance = |code: i32, zero: i32| (i128::from(code) - i128::from(zero)).abs();
    let x = distance(range.min(), dots.input_zero_point).max(distance(range.max(), dots.input_zero_point));
    let zeros = || weights.zero_points.iter().copied();
    let (low, high) = (zeros().min().unwrap_or(0), zeros().max().unwrap_or(0));
    // Sums of two activations stay unchanged, because such a layer has no bias.
    let Some(codes) = weights.constant() else { return false };
    let w = codes.iter().map(|code| distance(code, low).max(distance(code, high))).max().unwrap_or(0);
    let bias = dots.bias.as_ref().and_then(|bias| bias.values.iter().map(|&b| i128::from(b).abs()).max());
    x * w * dots.window.terms() as i128 + bias.unwrap_or(0) + more <= i128::from(DType::Int32.max())
}
