//! Folds the addition of a bias into its layer.

use super::fold_requantize::{fits, holds_sums};
use crate::ops::{IntegerBinary, IntegerPair};
use crate::pattern::{Match, Pattern, Rewrite};
use crate::{DType, Graph, GraphPatch, NodeId, PatchError, TensorId, TensorType};

/// A pass that turns a constant added to a layer's int32 sums into the bias of the layer.
#[derive(Debug)]
pub struct FoldBias;

impl Rewrite for FoldBias {
    fn name(&self) -> &'static str {
        "fold_bias"
    }

    fn description(&self) -> &'static str {
        "turns a constant added to a layer's int32 sums into its bias"
    }

    fn pattern(&self) -> Pattern {
        let add = Pattern::op_where(|add: &IntegerBinary| add.function == IntegerPair::Add);
        let layer = super::sums_of_a_layer().named("layer");
        add.reads_in_any_order([layer, Pattern::constant().named("bias")])
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let (Some(layer), Some(bias)) = (found.node("layer"), found.id("bias")) else { return Ok(false) };
        let graph = found.graph();
        let Some(values) = joined(graph, layer, bias) else { return Ok(false) };
        // Other nodes may read the constant, so the bias gets a new name.
        let name = super::free_name(graph, &format!("{}_bias", found.output().name));
        let ty = TensorType { shape: vec![values.len()], dtype: DType::Int32, quantization: None };
        let Ok(constant) = patch.constant(name, ty, values) else { return Ok(false) };
        let node = graph.node(layer);
        let inputs = [node.inputs[0], node.inputs[1], Some(constant)];
        found.replace_by(patch, node.op.clone(), &inputs)
    }
}

/// Returns the bias of a layer plus a constant, one value per channel.
fn joined(graph: &Graph, layer: NodeId, constant: TensorId) -> Option<Vec<i32>> {
    let dots = graph.dot_products(layer).filter(holds_sums)?;
    let (channels, tensor) = (dots.window.channels(), graph.tensor(constant));
    let codes = tensor.codes()?;
    let output = &graph.tensor(graph.node(layer).output).ty.shape;
    // The constant has one value, or one per channel along the last axis.
    let along = tensor.ty.shape.last() == Some(&channels)
        && tensor.ty.len() == channels
        && tensor.ty.shape.len() <= output.len();
    if codes.len() != 1 && !along {
        return None;
    }
    let most = codes.iter().map(|code| i128::from(code).abs()).max()?;
    fits(graph, layer, most).then_some(())?;
    let value = |channel: usize| {
        let own = dots.bias.as_ref().map_or(0, |bias| bias.values[channel]);
        i32::try_from(own + i64::from(codes.at(channel % codes.len()))).ok()
    };
    (0..channels).map(value).collect()
}
