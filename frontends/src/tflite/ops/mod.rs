//! The builtin operators that can be read.

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

use super::error::TfliteError;
use super::operator::{NewNode, OperatorReader};
use super::operators;

/// Turns options and operands of an operator into an operation of the graph.
pub(super) type Read = fn(&mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError>;

/// The same for an operator of several outputs: one operation for each.
pub(super) type ReadSeveral = fn(&mut OperatorReader<'_, '_>) -> Result<Vec<NewNode>, TfliteError>;

/// How an operator is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reader {
    One(Read),
    Several(ReadSeveral),
}

/// What an operator works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elements {
    /// Codes, and integers.
    Codes,
    /// Real values, too: what stands between DEQUANTIZE and QUANTIZE, on a host.
    Reals,
}

use Elements::{Codes, Reals};
use Reader::{One, Several};

/// The registered operators: number in the schema, reader, and what they work on.
const READERS: &[(i32, Reader, Elements)] = &[
    (0, One(elementwise::add), Reals),
    (1, One(pool::average), Codes),
    (2, One(layout::concatenation), Reals),
    (3, One(convolution::conv2d), Codes),
    (4, One(convolution::depthwise_conv2d), Codes),
    (5, One(pixels::depth_to_space), Reals),
    (6, One(real::dequantize), Reals),
    (9, One(fully_connected::fully_connected), Codes),
    (8, One(real::floor), Reals),
    (11, One(activation::l2_normalization), Codes),
    (14, One(activation::logistic), Codes),
    (17, One(pool::max), Codes),
    (18, One(elementwise::mul), Reals),
    (19, One(activation::relu), Codes),
    (20, One(activation::relu_n1_to_1), Codes),
    (21, One(activation::relu6), Codes),
    (22, One(layout::reshape), Reals),
    (23, One(pixels::resize_bilinear), Codes),
    (25, One(activation::softmax), Codes),
    (26, One(pixels::space_to_depth), Reals),
    (28, One(activation::tanh), Codes),
    (34, One(layout::pad), Codes),
    (36, One(parts::gather), Reals),
    (37, One(pixels::batch_to_space), Codes),
    (38, One(pixels::space_to_batch), Codes),
    (39, One(layout::transpose), Reals),
    (40, One(reduce::mean), Codes),
    (41, One(elementwise::sub), Reals),
    (42, One(elementwise::div), Reals),
    (43, One(layout::squeeze), Reals),
    (45, One(strided_slice::strided_slice), Reals),
    (47, One(activation::exp), Codes),
    (49, Several(parts::split), Reals),
    (53, One(layout::cast), Reals),
    (54, One(activation::prelu), Codes),
    (55, One(elementwise::maximum), Codes),
    (56, One(reduce::arg_max), Codes),
    (57, One(elementwise::minimum), Codes),
    (59, One(activation::neg), Codes),
    (60, One(layout::padv2), Codes),
    (65, One(parts::slice), Reals),
    (67, One(transpose_conv::transpose_conv), Codes),
    (69, One(layout::tile), Reals),
    (70, One(layout::expand_dims), Reals),
    (74, One(reduce::sum), Codes),
    (75, One(real::sqrt), Reals),
    (76, One(activation::rsqrt), Codes),
    (79, One(reduce::arg_min), Codes),
    (82, One(reduce::max), Codes),
    (83, One(parts::pack), Reals),
    (88, Several(parts::unpack), Reals),
    (89, One(reduce::min), Codes),
    (90, One(elementwise::floor_div), Codes),
    (97, One(pixels::resize_nearest_neighbor), Codes),
    (98, One(activation::leaky_relu), Codes),
    (99, One(elementwise::squared_difference), Codes),
    (100, One(layout::mirror_pad), Codes),
    (101, One(activation::abs), Codes),
    (102, Several(parts::split_v), Reals),
    (105, One(layout::reverse), Reals),
    (107, One(parts::gather_nd), Reals),
    (114, One(real::quantize), Reals),
    (117, One(activation::hard_swish), Codes),
    (126, One(fully_connected::batch_matmul), Codes),
    (152, One(activation::relu_0_to_1), Codes),
];

/// The reader of a builtin operator, if it has one.
pub(super) fn find(builtin: i32) -> Option<(Reader, Elements)> {
    READERS.iter().find(|(code, ..)| *code == builtin).map(|&(_, read, elements)| (read, elements))
}

/// The names of TensorFlow Lite's operators that can be read, sorted.
pub fn tflite_operators() -> Vec<&'static str> {
    let mut names: Vec<_> = READERS.iter().map(|(code, ..)| operators::name(*code)).collect();
    names.sort_unstable();
    names
}
