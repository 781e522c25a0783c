//! The supported builtin operators.

mod activation;
mod convolution;
mod elementwise;
mod fully_connected;
mod layout;
mod parts;
mod pixels;
mod pool;
mod real;
mod reduce;
mod strided_slice;
mod transpose_conv;

use super::kit::{NewNode, OperatorReader};
use crate::tflite::parse::TfliteError;

/// Turns options and operands of an operator into an operation of the graph.
type Read = fn(&mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError>;

/// Returns one operation for each output of an operator with several outputs.
type ReadSeveral = fn(&mut OperatorReader<'_, '_>) -> Result<Vec<NewNode>, TfliteError>;

/// The reader of an operator.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reader {
    One(Read),
    Several(ReadSeveral),
}

/// The elements that an operator supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elements {
    /// Codes, and integers.
    Codes,
    /// Real values, too, between DEQUANTIZE and QUANTIZE, on the host.
    Reals,
}

use Elements::{Codes, Reals};
use Reader::{One, Several};

/// The registered operators: name in the schema, reader, and supported elements.
const READERS: &[(&str, Reader, Elements)] = &[
    ("ADD", One(elementwise::add), Reals),
    ("AVERAGE_POOL_2D", One(pool::average), Codes),
    ("CONCATENATION", One(layout::concatenation), Reals),
    ("CONV_2D", One(convolution::conv2d), Codes),
    ("DEPTHWISE_CONV_2D", One(convolution::depthwise_conv2d), Codes),
    ("DEPTH_TO_SPACE", One(pixels::depth_to_space), Reals),
    ("DEQUANTIZE", One(real::dequantize), Reals),
    ("FULLY_CONNECTED", One(fully_connected::fully_connected), Codes),
    ("FLOOR", One(real::floor), Reals),
    ("L2_NORMALIZATION", One(activation::l2_normalization), Codes),
    ("LOGISTIC", One(activation::logistic), Codes),
    ("MAX_POOL_2D", One(pool::max), Codes),
    ("MUL", One(elementwise::mul), Reals),
    ("RELU", One(activation::relu), Codes),
    ("RELU_N1_TO_1", One(activation::relu_n1_to_1), Codes),
    ("RELU6", One(activation::relu6), Codes),
    ("RESHAPE", One(layout::reshape), Reals),
    ("RESIZE_BILINEAR", One(pixels::resize_bilinear), Codes),
    ("SOFTMAX", One(activation::softmax), Codes),
    ("SPACE_TO_DEPTH", One(pixels::space_to_depth), Reals),
    ("TANH", One(activation::tanh), Codes),
    ("PAD", One(layout::pad), Codes),
    ("GATHER", One(parts::gather), Reals),
    ("BATCH_TO_SPACE_ND", One(pixels::batch_to_space), Codes),
    ("SPACE_TO_BATCH_ND", One(pixels::space_to_batch), Codes),
    ("TRANSPOSE", One(layout::transpose), Reals),
    ("MEAN", One(reduce::mean), Codes),
    ("SUB", One(elementwise::sub), Reals),
    ("DIV", One(elementwise::div), Reals),
    ("SQUEEZE", One(layout::squeeze), Reals),
    ("STRIDED_SLICE", One(strided_slice::strided_slice), Reals),
    ("EXP", One(activation::exp), Codes),
    ("SPLIT", Several(parts::split), Reals),
    ("CAST", One(layout::cast), Reals),
    ("PRELU", One(activation::prelu), Codes),
    ("MAXIMUM", One(elementwise::maximum), Codes),
    ("ARG_MAX", One(reduce::arg_max), Codes),
    ("MINIMUM", One(elementwise::minimum), Codes),
    ("NEG", One(activation::neg), Codes),
    ("PADV2", One(layout::padv2), Codes),
    ("SLICE", One(parts::slice), Reals),
    ("TRANSPOSE_CONV", One(transpose_conv::transpose_conv), Codes),
    ("TILE", One(layout::tile), Reals),
    ("EXPAND_DIMS", One(layout::expand_dims), Reals),
    ("SUM", One(reduce::sum), Codes),
    ("SQRT", One(real::sqrt), Reals),
    ("RSQRT", One(activation::rsqrt), Codes),
    ("ARG_MIN", One(reduce::arg_min), Codes),
    ("REDUCE_MAX", One(reduce::max), Codes),
    ("PACK", One(parts::pack), Reals),
    ("UNPACK", Several(parts::unpack), Reals),
    ("REDUCE_MIN", One(reduce::min), Codes),
    ("FLOOR_DIV", One(elementwise::floor_div), Codes),
    ("RESIZE_NEAREST_NEIGHBOR", One(pixels::resize_nearest_neighbor), Codes),
    ("LEAKY_RELU", One(activation::leaky_relu), Codes),
    ("SQUARED_DIFFERENCE", One(elementwise::squared_difference), Codes),
    ("MIRROR_PAD", One(layout::mirror_pad), Codes),
    ("ABS", One(activation::abs), Codes),
    ("SPLIT_V", Several(parts::split_v), Reals),
    ("REVERSE_V2", One(layout::reverse), Reals),
    ("GATHER_ND", One(parts::gather_nd), Reals),
    ("QUANTIZE", One(real::quantize), Reals),
    ("HARD_SWISH", One(activation::hard_swish), Codes),
    ("BATCH_MATMUL", One(fully_connected::batch_matmul), Codes),
    ("RELU_0_TO_1", One(activation::relu_0_to_1), Codes),
    ("READ_VARIABLE", One(layout::read_variable), Reals),
];

/// Returns the reader of the operator with this name in the schema, if it is supported.
pub(super) fn find(name: &str) -> Option<(Reader, Elements)> {
    READERS.iter().find(|(known, ..)| *known == name).map(|&(_, read, elements)| (read, elements))
}

/// Returns the names of the supported operators.
pub(crate) fn operators() -> impl Iterator<Item = &'static str> {
    READERS.iter().map(|(name, ..)| *name)
}
