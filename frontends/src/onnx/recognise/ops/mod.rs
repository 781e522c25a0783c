//! The supported operators, a row each.

mod block_scale;
mod clip;
mod convolution;
mod dynamic;
mod elementwise;
mod layout;
mod matmul;
mod normalization;
mod parts;
mod pool;
mod qonnx;
mod quantize;
mod reduce;
mod resize;
mod transposed;

use super::kit::network::Network;
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::qonnx::is_domain;
use crate::onnx::own::DOMAIN;
use crate::onnx::parse::node::{Node, normalized};
use crate::onnx::scalar;

/// Adds the operation of a node to the network.
pub(super) type Read = for<'a> fn(&mut Network<'a>, Node<'a>) -> Result<(), OnnxError>;

const MICROSOFT: &str = "com.microsoft";
/// Represents all domains of QONNX.
const QONNX: &str = "qonnx";

/// The registered operators: domain, name and reader.
const READERS: &[(&str, &str, Read)] = &[
    ("", "Add", elementwise::add),
    ("", "AveragePool", pool::average),
    ("", "BatchNormalization", normalization::batch),
    ("", "Cast", layout::cast),
    ("", "Clip", clip::clip),
    ("", "Concat", layout::concat),
    ("", "Conv", convolution::conv),
    ("", "ConvInteger", convolution::integer),
    ("", "ConvTranspose", transposed::conv),
    ("", "DepthToSpace", parts::depth_to_space),
    ("", "DequantizeLinear", quantize::dequantize_linear),
    ("", "Div", elementwise::binary),
    ("", "Dropout", layout::identity),
    ("", "DynamicQuantizeLinear", dynamic::dynamic_quantize_linear),
    ("", "Expand", parts::expand),
    ("", "Flatten", layout::reshape),
    ("", "Gather", parts::gather),
    ("", "Gemm", matmul::gemm),
    ("", "GlobalAveragePool", pool::global_average),
    ("", "GlobalMaxPool", reduce::global_max),
    ("", "Identity", layout::identity),
    ("", "LayerNormalization", normalization::layer),
    ("", "MatMul", matmul::matmul),
    ("", "MatMulInteger", matmul::integer),
    ("", "Max", elementwise::variadic),
    ("", "MaxPool", pool::max),
    ("", "Mean", elementwise::variadic),
    ("", "Min", elementwise::variadic),
    ("", "Mul", elementwise::mul),
    ("", "PRelu", elementwise::prelu),
    ("", "Pad", layout::pad),
    ("", "Pow", elementwise::binary),
    ("", "QLinearConv", convolution::qlinear),
    ("", "QLinearMatMul", matmul::qlinear),
    ("", "QuantizeLinear", quantize::quantize_linear),
    ("", "ReduceMax", reduce::max),
    ("", "ReduceMean", reduce::mean),
    ("", "ReduceMin", reduce::min),
    ("", "ReduceProd", reduce::product),
    ("", "ReduceSum", reduce::sum),
    ("", "Reshape", layout::reshape),
    ("", "Resize", resize::resize),
    ("", "Slice", parts::slice),
    ("", "Softmax", normalization::softmax),
    ("", "SpaceToDepth", parts::space_to_depth),
    ("", "Split", parts::split),
    ("", "Squeeze", layout::reshape),
    ("", "Sub", elementwise::binary),
    ("", "Sum", elementwise::variadic),
    ("", "Tile", parts::tile),
    ("", "Transpose", layout::transpose),
    ("", "Unsqueeze", layout::reshape),
    ("", "Upsample", resize::resize),
    (DOMAIN, "MxBlockScale", block_scale::block_scale),
    (DOMAIN, "NvBlockScale", block_scale::block_scale),
    (MICROSOFT, "MatMulNBits", matmul::of_bits),
    (MICROSOFT, "QGemm", matmul::qgemm),
    (MICROSOFT, "QLinearAdd", elementwise::qlinear_add),
    (MICROSOFT, "QLinearAveragePool", pool::qlinear_average),
    (MICROSOFT, "QLinearConcat", layout::qlinear_concat),
    (MICROSOFT, "QLinearGlobalAveragePool", pool::qlinear_global_average),
    (MICROSOFT, "QLinearLeakyRelu", elementwise::leaky_relu),
    (MICROSOFT, "QLinearMul", elementwise::qlinear_mul),
    (MICROSOFT, "QLinearSigmoid", elementwise::sigmoid),
    (MICROSOFT, "QLinearSoftmax", normalization::qlinear_softmax),
    (MICROSOFT, "QuantizeLinear", quantize::quantize_linear),
    (MICROSOFT, "DequantizeLinear", quantize::dequantize_linear),
    (QONNX, "BipolarQuant", qonnx::quant),
    (QONNX, "IntQuant", qonnx::quant),
    (QONNX, "Quant", qonnx::quant),
    (QONNX, "Trunc", qonnx::trunc),
];

/// Returns the reader of a node's operator, if it is supported.
pub(super) fn find(node: Node<'_>) -> Option<Read> {
    let domain = normalized(&node.proto.domain);
    let domain = if is_domain(domain) { QONNX } else { domain };
    let listed = READERS.iter().find(|(of, name, _)| *of == domain && *name == node.proto.op);
    let unary = || scalar::function(node).map(|_| elementwise::unary as Read);
    listed.map(|(_, _, read)| *read).or_else(unary)
}

/// Returns the supported operators, sorted. Operators outside of ONNX's own domain include their domain.
pub(super) fn supported() -> Vec<String> {
    let listed = READERS.iter().map(|(domain, name, _)| match *domain {
        "" => (*name).to_owned(),
        domain => format!("{domain}.{name}"),
    });
    let mut names: Vec<_> = listed.chain(scalar::names().map(str::to_owned)).collect();
    names.sort_unstable();
    names.dedup();
    names
}
