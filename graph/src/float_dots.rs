//! Dot products of floating-point codes: products on real values whose operands are codes times a scale.

use std::collections::HashSet;
use std::sync::Arc;

use guardbit_num::FloatFormat;

use crate::dot::Layout;
use crate::{
    DType, Graph, KernelPosition, NodeId, Op, OutputPosition, RealCodes, Tap, TensorId, Window, real_of,
    word_of,
};

/// The dot products of a `float_matmul` or `float_conv2d` whose operands are floating-point codes of at most 16 bits,
/// times one scale, or one per output channel for the second operand.
#[derive(Debug, Clone, PartialEq)]
pub struct FloatDots {
    /// The geometry. Every row of a matrix is an image.
    pub window: Window,
    /// Activations.
    pub activations: FloatOperand,
    /// Weights: constants or activations.
    pub weights: FloatOperand,
    /// The bias that the node adds to each output channel, if it has one.
    pub bias: Option<Arc<[f32]>>,
    layout: Layout,
}

/// One operand of [`FloatDots`]. A real value is `scale * value of the code`.
#[derive(Debug, Clone, PartialEq)]
pub struct FloatOperand {
    /// Type of the codes.
    pub dtype: DType,
    /// Format of the codes.
    pub format: FloatFormat,
    /// The codes.
    pub codes: FloatCodes,
    /// Finite scales above 0: one, or one per output channel.
    pub scales: Vec<f32>,
}

/// The source of the codes of an operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FloatCodes {
    /// Constants, in the layout of the node's input.
    Constant(Arc<[i32]>),
    /// Activations.
    Computed {
        /// The tensor that holds the codes.
        tensor: TensorId,
        /// The nodes that move its elements to the layout of the node's input, in order.
        moves: Vec<NodeId>,
    },
}

impl FloatDots {
    /// Returns the index of the activation that output `out` reads at cell `k`, or `None` for padding.
    pub fn activation(&self, out: OutputPosition, k: KernelPosition) -> Option<usize> {
        match &self.layout {
            Layout::Matrix { rows, .. } => Some(rows[out.n] + k.c),
            Layout::Kernel => match self.window.tap(out, k) {
                Tap::Input(index) => Some(index),
                Tap::Padding => None,
            },
        }
    }

    /// Returns the index of the weight that output `out` reads at cell `k`.
    pub fn weight(&self, out: OutputPosition, k: KernelPosition) -> usize {
        match &self.layout {
            Layout::Matrix { matrices, .. } => matrices[out.n] + k.c * self.window.channels() + out.c,
            Layout::Kernel => {
                let [rows, cols, depth] = self.window.kernel;
                ((out.c * rows + k.h) * cols + k.w) * depth + k.c
            }
        }
    }

    /// Returns the product of the scales of output channel `channel`, rounded to float32.
    pub fn scale(&self, channel: usize) -> f32 {
        let of = |operand: &FloatOperand| operand.scales[channel % operand.scales.len()];
        of(&self.activations) * of(&self.weights)
    }
}

impl FloatOperand {
    /// Returns the codes in the layout of the node's input. `read` returns the codes of a computed tensor.
    pub fn codes(&self, graph: &Graph, read: impl FnOnce(TensorId) -> Vec<i32>) -> Arc<[i32]> {
        match &self.codes {
            FloatCodes::Constant(codes) => Arc::clone(codes),
            FloatCodes::Computed { tensor, moves } => moved(graph, moves, read(*tensor)).into(),
        }
    }
}

/// Returns elements after nodes that move them.
fn moved(graph: &Graph, moves: &[NodeId], elements: Vec<i32>) -> Vec<i32> {
    moves.iter().fold(elements, |elements, &node| graph.evaluate(node, &[&elements]))
}

/// The way from codes to an operand of a product.
struct Chain {
    codes: TensorId,
    /// The nodes between, in order of execution.
    nodes: Vec<NodeId>,
    /// The multiplication by constant scales, and the scales.
    scaled: Option<(NodeId, TensorId)>,
}

impl Chain {
    /// Returns the way from codes to tensor `at`, if each node only moves, converts or scales elements.
    fn to(graph: &Graph, mut at: TensorId) -> Option<Self> {
        let (mut nodes, mut scaled) = (Vec::new(), None);
        loop {
            let dtype = graph.tensor(at).ty.dtype;
            if dtype.is_short_float() {
                nodes.reverse();
                return (dtype != DType::Float8E8M0).then_some(Self { codes: at, nodes, scaled });
            }
            let id = graph.producer(at).filter(|_| dtype == DType::Float32)?;
            let node = graph.node(id);
            nodes.push(id);
            at = match (&node.op, &node.inputs[..]) {
                (Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) | Op::Tile(_) | Op::Reverse(_), [from]) => {
                    (*from)?
                }
                (Op::FloatCast(_), [from]) => (*from)?,
                (Op::FloatBinary(function), &[Some(a), Some(b)])
                    if function.multiplies() && scaled.is_none() =>
                {
                    let constant = |id: TensorId| graph.tensor(id).constant.is_some();
                    let (from, scales) = if constant(b) { (a, b) } else { (b, a) };
                    if !constant(scales) || graph.tensor(from).ty.shape != graph.tensor(at).ty.shape {
                        return None;
                    }
                    scaled = Some((id, scales));
                    from
                }
                _ => return None,
            };
        }
    }

    fn moves(&self, graph: &Graph, from: usize) -> Vec<NodeId> {
        let moves = |id: &NodeId| !matches!(graph.node(*id).op, Op::FloatCast(_) | Op::FloatBinary(_));
        self.nodes[from..].iter().copied().filter(moves).collect()
    }

    fn dtype(&self, graph: &Graph) -> DType {
        graph.tensor(self.codes).ty.dtype
    }

    /// Returns the operand. `channels` has the output channel of each element, if channels may differ in scale.
    fn operand(&self, graph: &Graph, channels: Option<(usize, &[usize])>) -> Option<FloatOperand> {
        let dtype = self.dtype(graph);
        let moves = self.moves(graph, 0);
        let codes = match graph.tensor(self.codes).codes() {
            Some(codes) => FloatCodes::Constant(moved(graph, &moves, codes.to_vec()).into()),
            None => FloatCodes::Computed { tensor: self.codes, moves },
        };
        Some(FloatOperand {
            dtype,
            format: dtype.float_format()?,
            codes,
            scales: self.scales(graph, channels)?,
        })
    }

    fn scales(&self, graph: &Graph, channels: Option<(usize, &[usize])>) -> Option<Vec<f32>> {
        let Some((node, scales)) = self.scaled else { return Some(vec![1.0]) };
        let factors = graph.tensor(scales).codes()?;
        if factors.iter().any(|&word| !(real_of(word).is_finite() && real_of(word) > 0.0)) {
            return None;
        }
        if let Some(&first) = factors.first().filter(|first| factors.iter().all(|word| word == *first)) {
            return Some(vec![real_of(first)]);
        }
        let (count, channels) = channels?;
        // The scale of each element: 1 times the scales, moved as the codes are.
        let ones = vec![word_of(1.0); graph.tensor(graph.node(node).output).ty.len()];
        let inputs: Vec<&[i32]> = match graph.node(node).inputs[1] {
            Some(second) if second == scales => vec![&ones, factors],
            _ => vec![factors, &ones],
        };
        let place = self.nodes.iter().position(|&id| id == node)?;
        let each = moved(graph, &self.moves(graph, place), graph.evaluate(node, &inputs));
        let mut found = vec![None; count];
        let agrees = |(&channel, &word): (&usize, &i32)| *found[channel].get_or_insert(word) == word;
        let all_agree = channels.iter().zip(&each).all(agrees);
        found.into_iter().map(|word| word.map(real_of)).collect::<Option<Vec<_>>>().filter(|_| all_agree)
    }
}

/// Returns constant real values as codes of 16 bits, if each is a value of the format.
fn of_halves(graph: &Graph, id: TensorId, dtype: DType) -> Option<FloatOperand> {
    let values = graph.tensor(id).codes().filter(|_| matches!(dtype, DType::Float16 | DType::BFloat16))?;
    let codes = RealCodes::of(dtype)?;
    let code = |&word: &i32| {
        let code = codes.code(real_of(word), false);
        (word_of(codes.real(code)) == word).then_some(code)
    };
    let held = values.iter().map(code).collect::<Option<Vec<i32>>>()?;
    let format = dtype.float_format()?;
    Some(FloatOperand { dtype, format, codes: FloatCodes::Constant(held.into()), scales: vec![1.0] })
}

impl Graph {
    /// Returns the dot products of a node whose operands are floating-point codes times scales, or `None` for any
    /// other node.
    ///
    /// Codes reach the node through `float_cast`, a multiplication by constant scales, and nodes that move elements.
    /// Constant real values count as codes of 16 bits if the other operand is of such codes and each value is exact.
    pub fn float_dots(&self, id: NodeId) -> Option<FloatDots> {
        let node = self.node(id);
        let operands = self.operands(node);
        let (window, layout) = match &node.op {
            Op::FloatConv2d(_) => (node.op.window(&operands)?, Layout::Kernel),
            Op::FloatMatMul(product) => product.rows(&operands)?,
            _ => return None,
        };
        let &[Some(a), Some(b), ref rest @ ..] = &node.inputs[..] else { return None };
        let bias = match rest.iter().flatten().next() {
            Some(&bias) => Some(self.tensor(bias).codes()?.iter().map(|&word| real_of(word)).collect()),
            None => None,
        };
        let channels: Vec<usize> = match layout {
            Layout::Kernel => (0..self.tensor(b).ty.len()).map(|at| at / window.terms().max(1)).collect(),
            Layout::Matrix { .. } => (0..self.tensor(b).ty.len()).map(|at| at % window.channels()).collect(),
        };
        let chains = [a, b].map(|id| Chain::to(self, id));
        let of_other = |id, other: &Option<Chain>| of_halves(self, id, other.as_ref()?.dtype(self));
        let activations = match &chains[0] {
            Some(chain) => chain.operand(self, None)?,
            None => of_other(a, &chains[1])?,
        };
        let weights = match &chains[1] {
            Some(chain) => chain.operand(self, Some((window.channels(), &channels)))?,
            None => of_other(b, &chains[0])?,
        };
        Some(FloatDots { window, activations, weights, bias, layout })
    }

    /// Returns the nodes between constant floating-point codes and the products that read them.
    pub(crate) fn nodes_of_float_weights(&self) -> HashSet<NodeId> {
        let products = self.nodes_with_ids().filter(|(id, _)| self.float_dots(*id).is_some());
        let chains = products.flat_map(|(_, node)| node.inputs.iter().take(2).flatten());
        chains
            .filter_map(|&id| Chain::to(self, id))
            .filter(|chain| self.tensor(chain.codes).constant.is_some())
            .flat_map(|chain| chain.nodes)
            .collect()
    }
}
