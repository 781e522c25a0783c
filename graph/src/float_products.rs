//! Convolutions and matrix products that stay on real values, and the reasons.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::{DType, Graph, Links, Node, NodeId, NoteKind, Op, TensorId};

/// Greatest width in bits of codes that are operands of a layer. Wider codes are sums.
const CODE_BITS: u32 = 16;

/// A convolution or matrix product on real values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatProduct {
    /// The node.
    pub node: NodeId,
    /// The reason why it is not a layer of codes.
    pub reason: FloatReason,
    /// Whether its weights are codes in the file.
    pub quantized_weights: bool,
}

/// The reason why a convolution or matrix product works on real values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FloatReason {
    /// Its weights are real values in the file.
    Weights,
    /// One of its activations is not quantized.
    Operand,
    /// Both operands are computed from codes, and no quantizer to their type follows.
    Activations,
    /// Both operands are computed from codes, some of more than 8 bits.
    WideActivations,
    /// Its operands are codes in the file, but a layer does not accept their combination, e.g. scales along another
    /// axis.
    Scales,
    /// Its weights have one scale per block, so a scale does not hold for all products that an accumulator adds.
    Blocks {
        /// The axis of the file's tensor that is divided into blocks.
        axis: usize,
    },
    /// The scale of a block is not finite, or all scales are 0.
    BlockScales,
    /// A zero point of its weights is not an integer, or weights minus their zero points have more than 16 bits.
    ZeroPoints,
    /// Its input channels are assigned to blocks one by one.
    Order,
    /// Its operands are floating-point codes of at most 16 bits, which a layer of codes does not multiply.
    FloatCodes,
    /// Its sums may exceed 32 bits, and no quantizer reads them directly. Either none follows, or a bias with its own
    /// scale is added first.
    WideSums,
}

impl fmt::Display for FloatReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Weights => "its weights are float",
            Self::Operand => "an operand is not quantized",
            Self::Activations => {
                "both operands are activations, and no quantizer to codes of their type follows"
            }
            Self::WideActivations => "both operands are activations, of more than 8 bits",
            Self::Scales => "a layer of codes does not support the quantization of its operands",
            Self::Blocks { axis } => return write!(f, "weights have a scale per block along axis {axis}"),
            Self::BlockScales => "the scales of its blocks are not finite, or all are 0",
            Self::ZeroPoints => "its weights minus their zero points are not integers of at most 16 bits",
            Self::Order => "its weights assign input channels to blocks one by one (`g_idx`)",
            Self::FloatCodes => "its operands are floating-point codes, which a layer does not multiply",
            Self::WideSums => "its sums may exceed 32 bits, and no quantizer reads them directly",
        })
    }
}

impl Graph {
    /// Returns the convolutions and matrix products on real values, in order of execution.
    pub fn float_products(&self) -> Vec<FloatProduct> {
        let is_float = |(_, node): &(NodeId, &Node)| self.tensor(node.output).ty.dtype.is_float();
        let products = |(id, _): &(NodeId, &Node)| self.products(*id).is_some();
        let mut nodes = self.nodes_with_ids().filter(is_float).filter(products).peekable();
        if nodes.peek().is_none() {
            return Vec::new();
        }
        let origins = Origins::new(self);
        let stated: HashMap<&str, FloatReason> = self
            .notes
            .iter()
            .filter_map(|note| match note.kind {
                NoteKind::LeftInFloat(reason) => Some((note.tensor.as_str(), reason)),
                _ => None,
            })
            .collect();
        let product = |(node, own): (NodeId, &Node)| {
            let operands: Vec<Origin> =
                own.inputs.iter().take(2).flatten().map(|&id| origins.of(id)).collect();
            let quantized_weights = operands.contains(&Origin::ConstantCodes);
            let stated = stated.get(self.tensor(own.output).name.as_str());
            let reason = stated.copied().unwrap_or_else(|| reason(&operands));
            FloatProduct { node, reason, quantized_weights }
        };
        nodes.map(product).collect()
    }
}

fn reason(operands: &[Origin]) -> FloatReason {
    let has = |origin| operands.contains(&origin);
    match () {
        () if has(Origin::Constant) => FloatReason::Weights,
        () if has(Origin::Real) => FloatReason::Operand,
        () if has(Origin::FloatCodes) => FloatReason::FloatCodes,
        () if has(Origin::ConstantCodes) => FloatReason::Scales,
        () if has(Origin::WideCodes) => FloatReason::WideActivations,
        () => FloatReason::Activations,
    }
}

/// The origin of a tensor's values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Real values.
    Real,
    /// Activations that are codes of at most 8 bits, or the real values of such codes.
    Codes,
    /// Activations that are codes of more than 8 bits, or the real values of such codes.
    WideCodes,
    /// Activations that are floating-point codes of at most 16 bits, or their values times a constant.
    FloatCodes,
    /// Constant real values.
    Constant,
    /// Constant codes, or the real values of such codes.
    ConstantCodes,
}

struct Origins<'g> {
    graph: &'g Graph,
    links: Links,
    /// Names of constants that hold the real values of codes.
    of_codes: HashSet<&'g str>,
}

impl<'g> Origins<'g> {
    fn new(graph: &'g Graph) -> Self {
        let of_codes = graph.notes.iter().filter(|note| note.kind == NoteKind::RealOfCodes);
        Self {
            graph,
            links: Links::new(graph),
            of_codes: of_codes.map(|note| note.tensor.as_str()).collect(),
        }
    }

    /// Returns the origin of a tensor, traced through nodes that only move elements or convert codes to real values.
    fn of(&self, mut id: TensorId) -> Origin {
        loop {
            let tensor = self.graph.tensor(id);
            let dtype = tensor.ty.dtype;
            match (dtype.is_float(), &tensor.constant) {
                (true, Some(_))
                    if dtype == DType::Float32 && !self.of_codes.contains(tensor.name.as_str()) =>
                {
                    return Origin::Constant;
                }
                (_, Some(_)) => return Origin::ConstantCodes,
                (false, None) if dtype.bits() > CODE_BITS => return Origin::Real,
                (false, None) => match self.moved(id) {
                    Some(from) => id = from,
                    None if dtype.bits() > 8 => return Origin::WideCodes,
                    None => return Origin::Codes,
                },
                (true, None) if dtype.is_short_float() => return Origin::FloatCodes,
                (true, None) if self.float_codes(id).is_some() => match self.float_codes(id) {
                    Some(from) if self.graph.tensor(from).constant.is_some() => return Origin::ConstantCodes,
                    _ => return Origin::FloatCodes,
                },
                (true, None) => match self.moved(id).or_else(|| self.codes(id)) {
                    Some(from) => id = from,
                    None => return Origin::Real,
                },
            }
        }
    }

    /// Returns the input of a node that only moves elements.
    fn moved(&self, id: TensorId) -> Option<TensorId> {
        let node = self.graph.node(self.links.producer(id)?);
        let moves = matches!(
            node.op,
            Op::Reshape(_) | Op::Transpose(_) | Op::Slice(_) | Op::Gather(_) | Op::Tile(_) | Op::Reverse(_)
        );
        *node.inputs.first().filter(|_| moves)?
    }

    /// Returns the floating-point codes whose values a tensor holds, perhaps times scales.
    fn float_codes(&self, id: TensorId) -> Option<TensorId> {
        let node = self.graph.node(self.links.producer(id)?);
        let mut inputs = node.inputs.iter().flatten().copied();
        match node.op {
            Op::FloatCast(_) => inputs.find(|&id| self.graph.tensor(id).ty.dtype.is_short_float()),
            Op::FloatBinary(ref function) if function.multiplies() => {
                let of_blocks = |id| {
                    let scale = self.links.producer(id).map(|node| &self.graph.node(node).op);
                    matches!(scale, Some(Op::FloatBlockScale(_)))
                };
                let is_scale = |id: &TensorId| self.graph.tensor(*id).constant.is_some() || of_blocks(*id);
                let mut computed = inputs.filter(|id| !is_scale(id));
                let (Some(id), None) = (computed.next(), computed.next()) else { return None };
                self.float_codes(id)
            }
            _ => None,
        }
    }

    /// Returns the codes that a node converts to real values.
    fn codes(&self, id: TensorId) -> Option<TensorId> {
        let node = self.graph.node(self.links.producer(id)?);
        *node.inputs.first().filter(|_| matches!(node.op, Op::Dequantize(_)))?
    }
}
