//! Padding by an operation of its own.

use super::Pass;
use crate::ops::{Conv2d, DepthwiseConv2d, MaxPool2d};
use crate::{Graph, GraphPatch, Links, NodeId, Op, OutputSpec, Padding, PatchError, TensorId, Window};

/// Makes the padding of a `pad` that of the convolution or max pool that reads it, where padding cells have the value
/// that the layer takes for its own: the zero point for a convolution, for a max pool a code that is never greatest. An
/// average pool leaves its own padding out of the mean, so that it is never the same.
#[derive(Debug)]
pub struct FoldPads;

impl Pass for FoldPads {
    fn name(&self) -> &'static str {
        "fold_pads"
    }

    fn description(&self) -> &'static str {
        "makes an explicit pad of rows and columns the padding of the convolution or max pool that reads it"
    }

    fn patch<'g>(&self, graph: &'g Graph) -> Result<Option<GraphPatch<'g>>, PatchError> {
        let links = Links::new(graph);
        let mut patch = GraphPatch::new(graph);
        let mut changes = 0;
        for (id, node) in graph.nodes_with_ids() {
            let Some((source, op)) = folded(graph, &links, id) else { continue };
            let mut inputs = node.inputs.clone();
            inputs[0] = Some(source);
            let output = OutputSpec::of(graph.tensor(node.output));
            // A pool refuses padding of a whole window and more.
            let Ok(direct) = patch.node(op, &inputs, output) else { continue };
            patch.replace(node.output, direct)?;
            changes += 1;
        }
        Ok(super::unless_empty(changes, patch))
    }
}

/// What is padded, and the operation that pads it by itself.
fn folded(graph: &Graph, links: &Links, id: NodeId) -> Option<(TensorId, Op)> {
    let node = graph.node(id);
    let padded = node.inputs.first().copied().flatten()?;
    let before = graph.node(links.producer(padded)?);
    let Op::Pad(pad) = &before.op else { return None };
    let source = before.inputs.first().copied().flatten()?;
    let &[[0, 0], rows, cols, [0, 0]] = pad.paddings.as_slice() else { return None };
    let input = graph.tensor(source);
    let zero_point = input.ty.quantization.as_ref()?.zero_point(0);
    let value = pad.value.unwrap_or(zero_point);
    let wider = |own: Padding| {
        let window = graph.window(id)?;
        Some(Padding::Explicit {
            rows: along(own, &window, 0, rows),
            cols: along(own, &window, 1, cols),
        })
    };
    let op = match &node.op {
        Op::Conv2d(conv) if value == zero_point => {
            Conv2d { padding: wider(conv.padding)?, ..conv.clone() }.into()
        }
        Op::DepthwiseConv2d(conv) if value == zero_point => {
            DepthwiseConv2d { padding: wider(conv.padding)?, ..conv.clone() }.into()
        }
        Op::MaxPool2d(pool) => {
            let output = &graph.tensor(node.output).ty;
            let (least, _) = pool.activation.clamp(output.dtype, output.quantization.as_ref()?);
            (value <= least).then_some(())?;
            MaxPool2d { padding: wider(pool.padding)?, ..pool.clone() }.into()
        }
        _ => return None,
    };
    Some((source, op))
}

/// The padding along an axis that the layer had, with what a pad added around it.
fn along(own: Padding, window: &Window, axis: usize, [before, after]: [usize; 2]) -> [usize; 2] {
    let own_after = match own {
        Padding::Valid => 0,
        Padding::Explicit { rows, cols } => [rows, cols][axis][1],
        Padding::Same => {
            let reach = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
            let covered = (window.output[axis] - 1) * window.stride[axis] + reach;
            covered.saturating_sub(window.input[axis] + window.pad[axis])
        }
    };
    [before + window.pad[axis], after + own_after]
}
