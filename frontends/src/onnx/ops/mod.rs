//! The operators that can be read: a row each.

mod blocks;
mod clip;
mod convolution;
mod dynamic;
mod elementwise;
pub(super) mod follow;
mod layout;
mod matmul;
mod normalization;
mod parts;
mod pool;
mod qlinear;
mod qonnx;
pub(super) mod quantize;
pub(super) mod quantizer;
mod reduce;
mod resize;
mod transposed;
mod weighted;

use super::error::OnnxError;
use super::network::Network;
use super::node::Node;

pub(super) use elementwise::unary_of;

/// Adds what a node stands for to the network.
pub(super) type Read = for<'a> fn(&mut Network<'a>, Node<'a>) -> Result<(), OnnxError>;

const MICROSOFT: &str = "com.microsoft";
const QONNX: [&str; 3] = ["qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general"];

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
    ("", "Flatten", layout::flatten),
    ("", "Gather", layout::gather),
    ("", "Gelu", elementwise::gelu),
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
    ("", "QLinearConv", qlinear::conv),
    ("", "QLinearMatMul", qlinear::matmul),
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
    ("", "Squeeze", layout::squeeze),
    ("", "Sub", elementwise::binary),
    ("", "Sum", elementwise::variadic),
    ("", "Tile", parts::tile),
    ("", "Transpose", layout::transpose),
    ("", "Unsqueeze", layout::squeeze),
    ("", "Upsample", resize::resize),
    (MICROSOFT, "Gelu", elementwise::gelu),
    (MICROSOFT, "QGemm", qlinear::gemm),
    (MICROSOFT, "QLinearAdd", qlinear::add),
    (MICROSOFT, "QLinearAveragePool", qlinear::average_pool),
    (MICROSOFT, "QLinearConcat", qlinear::concat),
    (MICROSOFT, "QLinearGlobalAveragePool", qlinear::global_average_pool),
    (MICROSOFT, "QLinearLeakyRelu", qlinear::leaky_relu),
    (MICROSOFT, "QLinearMul", qlinear::mul),
    (MICROSOFT, "QLinearSigmoid", qlinear::sigmoid),
    (MICROSOFT, "QLinearSoftmax", qlinear::softmax),
    (MICROSOFT, "QuantizeLinear", quantize::quantize_linear),
    (MICROSOFT, "DequantizeLinear", quantize::dequantize_linear),
];

/// The reader of an operator, if it has one.
pub(super) fn find(domain: &str, op: &str) -> Option<Read> {
    if QONNX.contains(&domain) {
        return qonnx::READERS.iter().find(|(name, _)| *name == op).map(|(_, read)| *read);
    }
    let listed = READERS.iter().find(|(of, name, _)| *of == domain && *name == op);
    let unary = || (domain.is_empty() && elementwise::is_unary(op)).then_some(elementwise::unary as Read);
    listed.map(|(_, _, read)| *read).or_else(unary)
}

/// The names of the operators that can be read, sorted.
pub(super) fn supported() -> Vec<&'static str> {
    let listed = READERS.iter().map(|(_, name, _)| *name);
    let all = listed.chain(elementwise::unary_names()).chain(qonnx::READERS.iter().map(|(name, _)| *name));
    let mut names: Vec<_> = all.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether a domain is one of QONNX.
pub(super) fn is_qonnx(domain: &str) -> bool {
    QONNX.contains(&domain)
}
