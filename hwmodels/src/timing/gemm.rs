//! The matrix products that a layer is made of, and how wide its codes are.

use guardbit_graph::{Graph, NodeId, Window};

use super::mapping::times;

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
    /// Of an activation.
    pub activation: u32,
    /// Of a weight; 0 where there are none.
    pub weight: u32,
    /// Of an output.
    pub output: u32,
    /// Of all biases, multipliers and shifts of the layer together.
    pub constants: u64,
}

impl Gemm {
    /// The matrix products of a window.
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

/// The window of as many groups as `window` has images, each with weights of its own: one matrix product per image of two
/// activations.
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
    /// Returns the widths of the codes of a node that is made of dot products, without its constants: these depend on the datapath.
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
