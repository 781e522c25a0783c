//! Matrix products that make up a layer, and the widths of its codes.

use guardbit_graph::{Graph, NodeId, Window};

use super::sizes::times;

/// A layer as `groups` matrix products of `pixels x terms` by `terms x channels`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gemm {
    /// M: output pixels of all images.
    pub pixels: usize,
    /// K: products per dot product, padding included.
    pub terms: usize,
    /// Input channels of one group: K over the cells of the window.
    pub depth: usize,
    /// N: output channels of one group.
    pub channels: usize,
    /// Number of groups.
    pub groups: usize,
}

/// Widths of a layer's codes in bits, and the size of its constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widths {
    /// Bits of an activation.
    pub activation: u32,
    /// Bits of a weight; 0 without weights.
    pub weight: u32,
    /// Bits of an output.
    pub output: u32,
    /// Bits of all biases, multipliers and shifts of the layer together.
    pub constants: u64,
}

impl Gemm {
    /// Returns the matrix products of a window.
    pub fn of(window: &Window) -> Self {
        let [rows, cols, channels] = window.output;
        let groups = window.groups.max(1);
        Self {
            pixels: times([window.batch, rows, cols]),
            terms: window.terms(),
            depth: window.kernel[2],
            channels: channels / groups,
            groups,
        }
    }
}

/// Returns a window with one group per image of `window`, each with its own weights: one matrix product of
/// two activations per image.
pub(super) fn group_per_image(window: &Window) -> Window {
    let pixels = times([window.output[0], window.output[1]]);
    let [inputs, outputs] =
        [window.terms(), window.channels()].map(|of_image| times([of_image, window.batch]));
    let terms = window.terms();
    Window {
        input: [1, pixels, inputs],
        output: [1, pixels, outputs],
        groups: window.batch,
        ..Window::dense(1, terms, outputs)
    }
}

impl Widths {
    /// Returns the code widths of a node that consists of dot products. Constants are left out, because they
    /// depend on the datapath.
    pub(crate) fn of_codes(graph: &Graph, node: NodeId) -> Self {
        let bits = |tensor| graph.tensor(tensor).ty.code_range().bits();
        let input = |index: usize| graph.node(node).inputs.get(index).copied().flatten();
        let has_weights = graph.dot_products(node).is_some_and(|dots| dots.weights.is_some());
        Self {
            activation: input(0).map_or(0, bits),
            weight: input(1).filter(|_| has_weights).map_or(0, bits),
            output: bits(graph.node(node).output),
            constants: 0,
        }
    }
}
