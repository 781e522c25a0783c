//! Dot products of floating-point codes: products on real values whose operands are codes times a scale.

use std::collections::HashSet;
use std::sync::Arc;

use guardbit_num::FloatFormat;

use crate::block_scales;
use crate::dot::Layout;
use crate::{
    DType, Graph, Integers, KernelPosition, NodeId, Op, OutputPosition, RealCodes, Tap, TensorId, Window,
    real_of, word_of,
};

/// The dot products of a `float_matmul` or `float_conv2d` whose operands are floating-point codes of at most 16 bits,
/// times one scale, or one per output channel for the second operand, and perhaps scales of blocks.
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

/// One operand of [`FloatDots`]. A real value is `scale * value of the code`, times the scale of its block.
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
    /// Scales that differ between products of one sum.
    pub blocks: Option<FloatBlocks>,
}

/// Scales of blocks of an operand, one code per element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FloatBlocks {
    /// Format of the scales: ue8m0 or ue4m3.
    pub format: FloatFormat,
    /// Codes of this format. Those of a computed tensor are words of float32, whose values the format holds.
    pub codes: FloatCodes,
}

/// The source of the codes of an operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FloatCodes {
    /// Constants, in the layout of the node's input.
    Constant(Integers),
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

/// Codes of an operand in the layout of the node's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScaledCodes {
    /// The codes.
    pub codes: Arc<[i32]>,
    /// Codes of the scales of blocks, one per element, if the operand has such scales.
    pub scales: Option<Arc<[i32]>>,
}

impl FloatOperand {
    /// Returns the codes, and those of the scales of blocks. `read` returns the codes or words of a computed tensor.
    pub fn scaled_codes(&self, graph: &Graph, read: impl Fn(TensorId) -> Vec<i32>) -> ScaledCodes {
        let scales = self.blocks.as_ref().map(|blocks| blocks.codes(graph, &read));
        ScaledCodes { codes: self.codes(graph, read), scales }
    }

    /// Returns the codes in the layout of the node's input. `read` returns the codes of a computed tensor.
    pub fn codes(&self, graph: &Graph, read: impl FnOnce(TensorId) -> Vec<i32>) -> Arc<[i32]> {
        self.codes.read(graph, read)
    }
}

impl FloatBlocks {
    /// Returns the codes of the scales in the layout of the node's input. `read` returns the words of a computed tensor.
    pub fn codes(&self, graph: &Graph, read: impl FnOnce(TensorId) -> Vec<i32>) -> Arc<[i32]> {
        let codes = self.codes.read(graph, read);
        if let FloatCodes::Constant(_) = self.codes {
            return codes;
        }
        let nan = self.format.nan().unwrap_or(0);
        let code = |&word: &i32| block_scales::nearest(self.format, real_of(word)).unwrap_or(nan) as i32;
        codes.iter().map(code).collect()
    }

    /// Returns a number per element, in the layout of the node's input, that is equal for elements of a block.
    pub fn places(&self, graph: &Graph) -> Arc<[i32]> {
        self.codes.read(graph, |scales| match graph.producer(scales).map(|node| &graph.node(node).op) {
            Some(Op::FloatBlockScale(op)) => op.places(&graph.tensor(scales).ty.shape),
            _ => Vec::new(),
        })
    }

    /// Returns the number of elements that share a scale by the standard of its format.
    pub fn size(&self) -> usize {
        if self.format.fraction_bits() == 0 { 32 } else { 16 }
    }
}

impl FloatCodes {
    fn read(&self, graph: &Graph, read: impl FnOnce(TensorId) -> Vec<i32>) -> Arc<[i32]> {
        match self {
            Self::Constant(codes) => codes.to_words().into(),
            Self::Computed { tensor, moves } => moved(graph, moves, read(*tensor)).into(),
        }
    }

    /// Returns the computed tensor, if it is one.
    pub fn computed(&self) -> Option<TensorId> {
        match self {
            Self::Constant(_) => None,
            Self::Computed { tensor, .. } => Some(*tensor),
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
    /// The multiplications by scales, and the scales, in order of execution.
    scaled: Vec<(NodeId, TensorId)>,
}

/// Scales of an operand.
type Scales = (Vec<f32>, Option<FloatBlocks>);

impl Chain {
    /// Returns the way from codes to tensor `at`, if each node only moves, converts or scales elements.
    fn to(graph: &Graph, mut at: TensorId) -> Option<Self> {
        let (mut nodes, mut scaled) = (Vec::new(), Vec::new());
        loop {
            let dtype = graph.tensor(at).ty.dtype;
            if dtype.is_short_float() {
                nodes.reverse();
                scaled.reverse();
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
                (Op::FloatBinary(function), &[Some(a), Some(b)]) if function.multiplies() => {
                    let scales =
                        |id: TensorId| graph.tensor(id).constant.is_some() || blocks_of(graph, id).is_some();
                    let (from, by) = if scales(b) { (a, b) } else { (b, a) };
                    if !scales(by) || graph.tensor(from).ty.shape != graph.tensor(at).ty.shape {
                        return None;
                    }
                    scaled.push((id, by));
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
            Some(codes) if moves.is_empty() => FloatCodes::Constant(codes.clone()),
            Some(codes) => FloatCodes::Constant(moved(graph, &moves, codes.to_vec()).into()),
            None => FloatCodes::Computed { tensor: self.codes, moves },
        };
        let (scales, blocks) = self.scales(graph, channels)?;
        Some(FloatOperand { dtype, format: dtype.float_format()?, codes, scales, blocks })
    }

    /// Returns the product of all scales: one, or one per output channel, and scales of blocks.
    fn scales(&self, graph: &Graph, channels: Option<(usize, &[usize])>) -> Option<Scales> {
        let (mut scales, mut blocks) = (vec![1.0], None);
        for &(node, by) in &self.scaled {
            let (own, of_blocks) = self.factors(graph, (node, by), channels)?;
            if of_blocks.is_some() && blocks.is_some() {
                return None;
            }
            blocks = blocks.or(of_blocks);
            let count = scales.len().max(own.len());
            scales = (0..count).map(|at| scales[at % scales.len()] * own[at % own.len()]).collect();
        }
        scales.iter().all(|scale| scale.is_finite() && *scale > 0.0).then_some((scales, blocks))
    }

    /// Returns the scales of one multiplication.
    fn factors(
        &self,
        graph: &Graph,
        (node, by): (NodeId, TensorId),
        channels: Option<(usize, &[usize])>,
    ) -> Option<Scales> {
        let place = self.nodes.iter().position(|&id| id == node)?;
        let moves = self.moves(graph, place);
        if let Some(format) = blocks_of(graph, by) {
            let codes = FloatCodes::Computed { tensor: by, moves };
            return Some((vec![1.0], Some(FloatBlocks { format, codes })));
        }
        let factors = graph.tensor(by).codes()?;
        if factors.iter().any(|word| !(real_of(word).is_finite() && real_of(word) > 0.0)) {
            return None;
        }
        let factors = factors.to_words();
        if let Some(&first) = factors.first().filter(|first| factors.iter().all(|word| word == *first)) {
            return Some((vec![real_of(first)], None));
        }
        // The scale of each element: 1 times the scales, moved as the codes are.
        let ones = vec![word_of(1.0); graph.tensor(graph.node(node).output).ty.len()];
        let inputs: Vec<&[i32]> = match graph.node(node).inputs[1] {
            Some(second) if second == by => vec![&ones, &factors],
            _ => vec![&factors, &ones],
        };
        let each = moved(graph, &moves, graph.evaluate(node, &inputs));
        if let Some((count, channels)) = channels {
            let mut found = vec![None; count];
            let agrees = |(&channel, &word): (&usize, &i32)| *found[channel].get_or_insert(word) == word;
            if channels.iter().zip(&each).all(agrees) {
                let scales = found.into_iter().map(|word| word.map(real_of)).collect::<Option<Vec<_>>>()?;
                return Some((scales, None));
            }
        }
        let block_scales::Factors { format, codes, scale } = block_scales::factors(&each)?;
        Some((vec![scale], Some(FloatBlocks { format, codes: FloatCodes::Constant(codes) })))
    }
}

/// Returns the format of scales of blocks that a node chooses from real values.
fn blocks_of(graph: &Graph, id: TensorId) -> Option<FloatFormat> {
    match &graph.node(graph.producer(id)?).op {
        Op::FloatBlockScale(op) => op.format(),
        _ => None,
    }
}

/// Returns constant real values as codes of 16 bits, if each is a value of the format.
fn of_halves(graph: &Graph, id: TensorId, dtype: DType) -> Option<FloatOperand> {
    let values = graph.tensor(id).codes().filter(|_| matches!(dtype, DType::Float16 | DType::BFloat16))?;
    let codes = RealCodes::of(dtype)?;
    let code = |word: i32| {
        let code = codes.code(real_of(word), false);
        (word_of(codes.real(code)) == word).then_some(code)
    };
    let held = values.iter().map(code).collect::<Option<Vec<i32>>>()?;
    let format = dtype.float_format()?;
    let codes = FloatCodes::Constant(held.into());
    Some(FloatOperand { dtype, format, codes, scales: vec![1.0], blocks: None })
}

impl Graph {
    /// Returns the dot products of a node whose operands are floating-point codes times scales, or `None` for any
    /// other node.
    ///
    /// Codes reach the node through `float_cast`, multiplications by scales, and nodes that move elements. Scales are
    /// constants, or those that `float_block_scale` chooses. Constants are one scale, one per output channel, or
    /// scales of blocks: ue8m0 or ue4m3 times one scale.
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
            Some(&bias) => Some(self.tensor(bias).codes()?.iter().map(real_of).collect()),
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
        let operands = [&activations, &weights];
        // Scales of blocks reach from 2^-127 to 2^127. With operands of 8 bits, products stay within exact sums.
        if operands.iter().any(|own| own.blocks.is_some()) && operands.iter().any(|own| own.dtype.bits() > 8)
        {
            return None;
        }
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
