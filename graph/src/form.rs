//! The canonical form of a node: everything that determines its codes.

use serde::Serialize;

use crate::model::Tensor;
use crate::{DotProducts, Graph, NodeId, Op, TensorId};

/// A node in canonical form: the data that a backend needs to compute its codes, independent of the file format.
///
/// It serializes to plain data. `code = clamp(scheme(accumulator) + zero point)`: the accumulator sums the products
/// of `x - zero point` and `w - zero point` and the bias. The scheme multiplies the sum by the channel's multiplier
/// and rounds. The clamp combines the fused activation and the range of the output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeForm<'g> {
    /// The operation with every attribute.
    pub attributes: &'g Op,
    /// The tensors that it reads, in order. Absent inputs are left out.
    pub operands: Vec<OperandForm<'g>>,
    /// Its output.
    pub output: OperandForm<'g>,
    /// The type of sums, `int32` or `int64`, or `None` if the operation has none.
    pub accumulator: Option<&'static str>,
    /// Where the bias is added: `accumulator`, at the scale of the products. `None` without a bias.
    pub bias: Option<&'static str>,
    /// The conversion from sums to codes. `None` if codes are only moved, or if the operation has its own arithmetic.
    pub requantize: Option<RequantizeForm>,
    /// Least and greatest output code, limited by the range of the output and a fused activation. `None` if the
    /// operation has no clamp because its codes never leave the range.
    pub clamp: Option<[i32; 2]>,
}

/// An operand or the output of a node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperandForm<'g> {
    /// `input`, `weights`, `bias` or `output`.
    pub role: &'static str,
    /// Name of the tensor.
    pub name: &'g str,
    /// Its shape.
    pub shape: &'g [usize],
    /// Type of its codes.
    pub dtype: &'static str,
    /// Least and greatest code.
    pub range: [i32; 2],
    /// Distance between neighbouring codes, if it is not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Scales: one, or one per index of `axis`. Empty for a bias, whose scale is that of input times weights.
    pub scales: &'g [f32],
    /// Zero points, one per scale.
    pub zero_points: &'g [i32],
    /// The axis along which scales differ.
    pub axis: Option<usize>,
    /// Whether its codes are constant.
    pub constant: bool,
}

/// The way in which a runtime turns sums into codes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequantizeForm {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// The precision in which the multiplier is computed.
    pub rule: &'static str,
    /// The multipliers in the order of their use: one, one per output channel, or those of each input and the output.
    pub multipliers: Vec<MultiplierForm>,
}

/// A multiplier, `real ~ significand * 2^(exponent - 31)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MultiplierForm {
    /// The real multiplier as the runtime computes it.
    pub real: f64,
    /// The significand, 31 bits.
    pub significand: i32,
    /// The exponent of the power of 2.
    pub exponent: i32,
}

impl Graph {
    /// Returns a node in canonical form.
    pub fn form(&self, id: NodeId) -> NodeForm<'_> {
        let node = self.node(id);
        let dots = self.dot_products(id);
        let weighted = dots.as_ref().is_some_and(DotProducts::has_constant_weights);
        let operand = |(index, id): (usize, &Option<TensorId>)| {
            let role = match (weighted, index) {
                (true, 1) => "weights",
                (true, 2) => "bias",
                _ => "input",
            };
            id.map(|id| OperandForm::new(role, self.tensor(id)))
        };
        let requantizers = node.op.requantizers(&self.operands(node));
        let one = |requantizer: &guardbit_num::Requantizer| {
            let multiplier = requantizer.multiplier();
            MultiplierForm {
                real: multiplier.real(),
                significand: multiplier.significand(),
                exponent: multiplier.exponent(),
            }
        };
        let bias = dots.as_ref().and_then(|dots| dots.bias.as_ref());
        let accumulator = match (&dots, bias) {
            (None, _) => None,
            (_, Some(bias)) if bias.bits == 64 => Some("int64"),
            // The runtime sums in 64 bits also without a bias.
            _ if node.op.requantize().is_some_and(|own| own.scheme == guardbit_num::Scheme::Q48) => {
                Some("int64")
            }
            _ => Some("int32"),
        };
        NodeForm {
            attributes: &node.op,
            operands: node.inputs.iter().enumerate().filter_map(operand).collect(),
            output: OperandForm::new("output", self.tensor(node.output)),
            accumulator,
            bias: bias.map(|_| "accumulator"),
            requantize: node.op.requantize().map(|own| RequantizeForm {
                scheme: own.scheme.name(),
                rule: own.rule.name(),
                multipliers: requantizers.iter().map(one).collect(),
            }),
            clamp: dots.map(|dots| <[i32; 2]>::from(dots.finish.clamp())),
        }
    }
}

impl<'g> OperandForm<'g> {
    fn new(role: &'static str, tensor: &'g Tensor) -> Self {
        let quantization = tensor.ty.quantization.as_ref();
        let range = tensor.ty.code_range();
        Self {
            role,
            name: &tensor.name,
            shape: &tensor.ty.shape,
            dtype: tensor.ty.dtype.name(),
            range: [range.min(), range.max()],
            step: Some(range.step()).filter(|&step| step != 1),
            scales: quantization.map_or(&[], |quantization| quantization.scales()),
            zero_points: quantization.map_or(&[], |quantization| quantization.zero_points()),
            axis: quantization.and_then(|quantization| quantization.axis()),
            constant: tensor.constant.is_some(),
        }
    }
}
