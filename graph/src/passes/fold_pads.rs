//! Folds padding into the layer that reads it.

use crate::ops::{Conv2d, DepthwiseConv2d, MaxPool2d, Pad};
use crate::pattern::{Match, Pattern, Rewrite};
use crate::{GraphPatch, Op, Padding, PatchError, TensorId, Window};

/// A pass that moves the padding of a `pad` into the convolution or max pool that reads it.
///
/// The padding cells must have the value that the layer assumes: the zero point for a convolution, and for a max pool
/// a code that is never the greatest. An average pool excludes its own padding from the mean, so it is never changed.
#[derive(Debug)]
pub struct FoldPads;

impl Rewrite for FoldPads {
    fn name(&self) -> &'static str {
        "fold_pads"
    }

    fn description(&self) -> &'static str {
        "merges a pad of rows and columns into the convolution or max pool that reads it"
    }

    fn pattern(&self) -> Pattern {
        let pad = Pattern::op::<Pad>().reads([Pattern::any().named("x")]).shared().named("pad");
        let others = || Pattern::any().or_absent();
        Pattern::op_named(["conv2d", "depthwise_conv2d", "max_pool2d"]).reads([pad, others(), others()])
    }

    fn rewrite(&self, found: &Match<'_>, patch: &mut GraphPatch<'_>) -> Result<bool, PatchError> {
        let Some((source, op)) = folded(found) else { return Ok(false) };
        let mut inputs = found.graph().node(found.root()).inputs.clone();
        inputs[0] = Some(source);
        // A pool rejects padding that is at least as large as its window.
        found.replace_by(patch, op, &inputs)
    }
}

/// Returns the tensor before the padding, and the operation that includes it.
fn folded(found: &Match<'_>) -> Option<(TensorId, Op)> {
    let (graph, id) = (found.graph(), found.root());
    let (node, source) = (graph.node(id), found.id("x")?);
    let pad = found.op::<Pad>("pad")?;
    let &[[0, 0], rows, cols, [0, 0]] = pad.paddings.as_slice() else { return None };
    let input = graph.tensor(source);
    let zero_point = input.ty.quantization.as_ref()?.zero_point(0);
    let value = pad.value.unwrap_or(zero_point);
    let wider = |own: Padding| {
        let window = graph.window(id)?;
        Some(Padding::Explicit { rows: along(own, &window, 0, rows), cols: along(own, &window, 1, cols) })
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

/// Returns the padding along an axis: that of the layer plus that of the `pad`.
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
