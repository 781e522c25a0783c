//! Quantizers, and the scales and zero points that nodes say.

use guardbit_graph::{Brief, DType};
use guardbit_num::Rounding;

use super::{clip, is_qonnx, qonnx};
use crate::onnx::constant::Constant;
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::{Node, normalized};
use crate::onnx::proto::element;
use crate::onnx::value::{Quant, Value};

/// A node that makes codes of real values.
#[derive(Clone)]
pub(crate) struct Quantizer<'a> {
    pub node: Node<'a>,
    /// The clip of its codes that is done with it (QCDQ).
    pub clip: Option<Node<'a>>,
    pub quant: Quant,
    pub rounding: Rounding,
    /// Whether it makes real values of the codes again (QONNX).
    pub dequantizes: bool,
    /// The scale of codes of one bit, whose values are that and its negative.
    pub bipolar: Option<f32>,
}

impl<'a> Quantizer<'a> {
    /// One of a node as ONNX has it.
    pub fn plain(node: Node<'a>, quant: Quant) -> Self {
        Self { node, clip: None, quant, rounding: Rounding::HalfEven, dequantizes: false, bipolar: None }
    }

    /// Whether it rounds half to even, as ONNX does.
    pub fn is_plain(&self) -> bool {
        self.rounding == Rounding::HalfEven && self.bipolar.is_none()
    }

    /// The node whose output its codes are.
    pub fn last(&self) -> Node<'a> {
        self.clip.unwrap_or(self.node)
    }

    /// The same with the clip of its codes that alone reads them.
    pub fn with_clip(self, network: &Network<'a>) -> Result<Self, OnnxError> {
        let Some(&[reader]) = self.node.output(0).map(|name| network.inner_readers(name)) else {
            return Ok(self);
        };
        let clip = network.nodes[reader];
        if clip.proto.op != "Clip"
            || !normalized(&clip.proto.domain).is_empty()
            || clip.input(0) != self.node.output(0)
        {
            return Ok(self);
        }
        let Some(limits) = clip::code_limits(network, clip) else { return Ok(self) };
        let range = clip::within(clip, self.quant.limits(), limits)?;
        Ok(Self { clip: Some(clip), quant: Quant { range: Some(range), ..self.quant }, ..self })
    }
}

/// The dtype of an element type that holds codes.
pub(crate) fn dtype(number: i32) -> Option<DType> {
    Some(match number {
        element::UINT8 => DType::UInt8,
        element::INT8 => DType::Int8,
        element::UINT16 => DType::UInt16,
        element::INT16 => DType::Int16,
        element::INT32 => DType::Int32,
        element::UINT4 | element::UINT2 => DType::UInt4,
        element::INT4 | element::INT2 => DType::Int4,
        _ => return None,
    })
}

/// The element type of codes.
pub(super) fn element_of(dtype: DType) -> i32 {
    match dtype {
        DType::UInt4 => element::UINT4,
        DType::Int4 => element::INT4,
        DType::UInt8 => element::UINT8,
        DType::Int8 => element::INT8,
        DType::UInt16 => element::UINT16,
        DType::Int16 => element::INT16,
        _ => element::INT32,
    }
}

/// The codes of an element type that are fewer than those of its dtype.
pub(super) fn range(number: i32) -> Option<[i32; 2]> {
    match number {
        element::UINT2 => Some([0, 3]),
        element::INT2 => Some([-2, 1]),
        _ => None,
    }
}

/// Scales and zero points in the inputs `first` and `first + 1` of a node, for codes of type `number` of some rank.
pub(crate) fn quant_at(
    network: &Network<'_>,
    node: Node<'_>,
    first: usize,
    number: Option<i32>,
    rank: usize,
    axis: i64,
) -> Result<Quant, OnnxError> {
    let scale = network.constant(node, first)?;
    let zero_point = network.optional_constant(node, first + 1)?;
    let number = zero_point.as_ref().map(|z| z.element).or(number).unwrap_or(element::UINT8);
    quant_of(node, &scale, zero_point.as_deref(), number, rank, axis)
}

/// Zero points of a constant.
pub(super) fn zero_points(node: Node<'_>, zero: &Constant) -> Result<Vec<i32>, OnnxError> {
    let values = zero.as_integers().ok_or_else(|| node.error("has a zero point that is no integer"))?;
    let narrow: Option<Vec<i32>> = values.iter().map(|&value| i32::try_from(value).ok()).collect();
    narrow.ok_or_else(|| node.error("has a zero point beyond 32 bits"))
}

/// The quantization that a scale and a zero point say.
pub(crate) fn quant_of(
    node: Node<'_>,
    scale: &Constant,
    zero_point: Option<&Constant>,
    number: i32,
    rank: usize,
    axis: i64,
) -> Result<Quant, OnnxError> {
    let dtype = dtype(number).ok_or_else(|| {
        node.error(format!("has codes of type {}, which cannot be read", element::name(number)))
    })?;
    let scales = scale.as_reals().ok_or_else(|| node.error("has a scale that is no real number"))?.to_vec();
    let count = scales.len();
    let zero_points: Vec<i32> = match zero_point {
        None => vec![0; count],
        Some(zero) => zero_points(node, zero)?,
    };
    if count == 0 || zero_points.len() != count || scale.shape.len() > 1 {
        let problem = format!("has scales of shape {} and {} zero points", Brief(&scale.shape), zero_points.len());
        return Err(node.error(problem));
    }
    let axis = if count > 1 { Some(node.axis(axis, rank)?) } else { None };
    Ok(Quant { dtype, scales, zero_points, axis, range: range(number) })
}

/// What a node says of the quantization of its input `name`, which holds codes.
pub(crate) fn said_of_input(
    network: &Network<'_>,
    node: Node<'_>,
    name: &str,
    dtype: DType,
) -> Option<Quant> {
    let at = (0..node.proto.inputs.len()).find(|&index| node.input(index) == Some(name))?;
    let first = match (node.proto.op.as_str(), at) {
        ("DequantizeLinear", 0) => {
            let scale = network.constant(node, 1).ok()?;
            let rank = scale.shape.len().max(node.int("axis", 1).unsigned_abs() as usize + 1);
            let quant = quant_at(network, node, 1, None, rank, node.int("axis", 1)).ok()?;
            return Some(Quant { dtype, ..quant });
        }
        ("ConvInteger" | "MatMulInteger", 0) => {
            let zero = network.optional_constant(node, 2).ok()??;
            return Some(Quant::per_tensor(dtype, 1.0, i32::try_from(*zero.as_integers()?.first()?).ok()?));
        }
        ("QLinearConcat", at) => at + 1,
        ("QLinearMatMul" | "QLinearAdd" | "QLinearMul" | "QGemm", 0 | 3) => at + 1,
        (op, 0) if op.starts_with("QLinear") => 1,
        _ => return None,
    };
    let quant = quant_at(network, node, first, None, 1, 0).ok()?;
    Some(Quant { dtype, ..quant })
}

/// The quantizer that a node is, if it is one.
pub(crate) fn quantizer<'a>(
    network: &Network<'a>,
    node: Node<'a>,
) -> Result<Option<Quantizer<'a>>, OnnxError> {
    if is_qonnx(&node.proto.domain) {
        return qonnx::quantizer(network, node);
    }
    if node.proto.op != "QuantizeLinear" || node.int("block_size", 0) != 0 {
        return Ok(None);
    }
    // One whose scale is computed is taken in by no other operator.
    if !matches!(node.input(1).and_then(|name| network.value(name)), Some(Value::Constant(_))) {
        return Ok(None);
    }
    let rank =
        node.input(0).and_then(|name| network.value(name)).map_or(8, |value| network.shape(value).len());
    let declared = i32::try_from(node.int("output_dtype", 0)).ok().filter(|&number| number != 0);
    let quant = quant_at(network, node, 1, declared, rank, node.int("axis", 1))?;
    Quantizer::plain(node, quant).with_clip(network).map(Some)
}
