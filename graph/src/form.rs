//! Everything that the codes of a node follow from, in one place.

use serde::Serialize;

use crate::model::Tensor;
use crate::{DotProducts, Graph, NodeId, Op, TensorId};

/// A node in canonical form: what a backend needs to compute its codes, whatever the file was like. It serializes to
/// plain data.
///
/// `code = clamp(scheme(accumulator) + zero point)`: products of `x - zero point` and `w - zero point` and the bias are
/// summed in the accumulator; the scheme multiplies the sum by the channel's multiplier and rounds; the clamp holds the
/// fused activation and the range of the output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeForm<'g> {
    /// Its operation with every attribute.
    pub attributes: &'g Op,
    /// What it reads, in order; what is absent is left out.
    pub operands: Vec<OperandForm<'g>>,
    /// What it makes.
    pub output: OperandForm<'g>,
    /// What sums are made in: `int32` or `int64`; `None` where there are none.
    pub accumulator: Option<&'static str>,
    /// Where the bias is added: `accumulator`, at the scale of the products; `None` without one.
    pub bias: Option<&'static str>,
    /// From sums to codes; `None` where codes are only moved, or the operation has an arithmetic of its own.
    pub requantize: Option<RequantizeForm>,
    /// Least and greatest output code: the range of the output, or less under a fused activation. `None` where the
    /// operation has no clamp of its own: it makes no codes beyond the range.
    pub clamp: Option<[i32; 2]>,
}

/// One operand, or the output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OperandForm<'g> {
    /// `input`, `weights`, `bias` or `output`.
    pub role: &'static str,
    /// Name of the tensor.
    pub name: &'g str,
    /// Its sizes.
    pub shape: &'g [usize],
    /// Type of its codes.
    pub dtype: &'static str,
    /// Least and greatest code.
    pub range: [i32; 2],
    /// Distance between neighbouring codes, where it is not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Scales: one, or one per index of `axis`. Empty where it has none: that of a bias is input times weights.
    pub scales: &'g [f32],
    /// Zero points, as many.
    pub zero_points: &'g [i32],
    /// The axis along which they differ.
    pub axis: Option<usize>,
    /// Whether its codes are constant.
    pub constant: bool,
}

/// How a runtime turns sums into codes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequantizeForm {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// In which precision the multiplier is formed.
    pub rule: &'static str,
    /// The multipliers in the order of their use: one, one per output channel, or those of each input and the output.
    pub multipliers: Vec<MultiplierForm>,
}

/// A multiplier, `real ~ significand * 2^(exponent - 31)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MultiplierForm {
    /// As the runtime forms it.
    pub real: f64,
    /// 31 bits.
    pub significand: i32,
    /// Its power of 2.
    pub exponent: i32,
}

impl Graph {
    /// A node in canonical form.
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
            // Its runtime sums in 64 bits without a bias too.
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
