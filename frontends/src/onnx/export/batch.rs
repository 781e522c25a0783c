//! The axis of samples, whose size a file may leave open.

use std::collections::HashSet;

use guardbit_graph::{Graph, Node, Op, TensorId};

use super::layout::picture_scales;
use crate::onnx::parse::metadata::BATCH;

/// Returns the name of the axis of samples if their number can be left open.
///
/// Every input must have one sample along its first axis, the source file must have left the number open ([`BATCH`]),
/// and every operation must process samples independently along its first axis.
pub(super) fn free(graph: &Graph) -> Option<&str> {
    let name = graph.metadata().get(BATCH)?;
    let mut batched: HashSet<TensorId> = graph.inputs().iter().copied().collect();
    if !batched.iter().all(|&id| graph.tensor(id).ty.shape.first() == Some(&1)) {
        return None;
    }
    for node in graph.nodes() {
        if node.inputs.iter().flatten().any(|id| batched.contains(id)) {
            if !keeps(graph, node, &batched) {
                return None;
            }
            batched.insert(node.output);
        }
    }
    graph.outputs().iter().all(|id| batched.contains(id)).then_some(name)
}

/// Returns whether an operation processes samples independently.
fn keeps(graph: &Graph, node: &Node, batched: &HashSet<TensorId>) -> bool {
    let shape = |id: TensorId| graph.tensor(id).ty.shape.as_slice();
    let inputs: Vec<TensorId> = node.inputs.iter().flatten().copied().collect();
    let (output, first) = (shape(node.output), shape(inputs[0]));
    // Other operands must not depend on the sample.
    let only_first = batched.contains(&inputs[0]) && inputs[1..].iter().all(|id| !batched.contains(id));
    let alike = |id: &TensorId| shape(*id).len() == output.len() && shape(*id)[0] == output[0];
    let broadcast = |id: &TensorId| shape(*id).len() < output.len() || shape(*id)[0] == 1;
    match &node.op {
        Op::Conv2d(_)
        | Op::DepthwiseConv2d(_)
        | Op::FloatConv2d(_)
        | Op::MaxPool2d(_)
        | Op::FloatMaxPool2d(_)
        | Op::FloatAvgPool2d(_)
        | Op::Dilate(_)
        | Op::DepthToSpace(_)
        | Op::SpaceToDepth(_)
        | Op::Table(_)
        | Op::Dequantize(_)
        | Op::QuantizeFloat(_)
        | Op::FloatUnary(_)
        | Op::Reshape(_) => only_first,
        Op::FullyConnected(_) => only_first && first.len() > 1,
        Op::ResizeNearest(_) => only_first && picture_scales(first, output).is_some(),
        Op::FloatResizeBilinear(op) => {
            only_first && (op.scales.is_some() || picture_scales(first, output).is_some())
        }
        Op::Transpose(op) => op.permutation[0] == 0,
        Op::Mean(op) => !op.axes.contains(&0),
        Op::FloatMean(op) => !op.axes.contains(&0),
        Op::FloatReduce(op) => !op.axes.contains(&0),
        Op::ReduceMax(op) => !op.axes.contains(&0),
        Op::ReduceMin(op) => !op.axes.contains(&0),
        Op::Concat(op) => op.axis > 0 && inputs.iter().all(|id| batched.contains(id)),
        Op::Pad(op) => op.paddings[0] == [0, 0],
        Op::MirrorPad(op) => op.paddings[0] == [0, 0],
        Op::Slice(op) => op.size[0] == first[0] && op.strides[0] == 1,
        Op::Gather(op) => only_first && op.axis > 0,
        Op::Tile(op) => op.repeats[0] == 1,
        Op::QLinearSoftmax(op) => op.axis > 0,
        Op::FloatSoftmax(op) => op.axis > 0,
        Op::FloatBlockScale(op) => op.axis > 0,
        Op::FloatLayerNorm(op) => only_first && op.axis > 0,
        // A product sums over the rows of its second matrix.
        Op::BatchMatmul(_) | Op::FloatMatMul(_) => {
            match [inputs[0], inputs[1]].map(|id| batched.contains(&id)) {
                [true, false] => alike(&inputs[0]) && (shape(inputs[1]).len() < 3 || broadcast(&inputs[1])),
                [false, true] => {
                    output.len() > 2 && alike(&inputs[1]) && (first.len() < 3 || broadcast(&inputs[0]))
                }
                _ => output.len() > 2 && inputs.iter().all(alike),
            }
        }
        Op::QLinearAdd(_) | Op::QLinearMul(_) | Op::FloatBinary(_) => {
            inputs.iter().all(|id| if batched.contains(id) { alike(id) } else { broadcast(id) })
        }
        _ => false,
    }
}
