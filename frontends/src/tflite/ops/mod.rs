//! The builtin operators that can be read.

mod activation;
mod convolution;
mod elementwise;
mod fully_connected;
mod layout;
mod parts;
mod pixels;
mod pool;
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

use Reader::{One, Several};

/// The registered operators: number in the schema and reader.
const READERS: &[(i32, Reader)] = &[
    (0, One(elementwise::add)),
    (1, One(pool::average)),
    (2, One(layout::concatenation)),
    (3, One(convolution::conv2d)),
    (4, One(convolution::depthwise_conv2d)),
    (5, One(pixels::depth_to_space)),
    (9, One(fully_connected::fully_connected)),
    (11, One(activation::l2_normalization)),
    (14, One(activation::logistic)),
    (17, One(pool::max)),
    (18, One(elementwise::mul)),
    (19, One(activation::relu)),
    (20, One(activation::relu_n1_to_1)),
    (21, One(activation::relu6)),
    (22, One(layout::reshape)),
    (23, One(pixels::resize_bilinear)),
    (25, One(activation::softmax)),
    (26, One(pixels::space_to_depth)),
    (28, One(activation::tanh)),
    (34, One(layout::pad)),
    (36, One(parts::gather)),
    (37, One(pixels::batch_to_space)),
    (38, One(pixels::space_to_batch)),
    (39, One(layout::transpose)),
    (40, One(reduce::mean)),
    (41, One(elementwise::sub)),
    (43, One(layout::squeeze)),
    (45, One(strided_slice::strided_slice)),
    (47, One(activation::exp)),
    (49, Several(parts::split)),
    (53, One(layout::cast)),
    (54, One(activation::prelu)),
    (55, One(elementwise::maximum)),
    (56, One(reduce::arg_max)),
    (57, One(elementwise::minimum)),
    (59, One(activation::neg)),
    (60, One(layout::padv2)),
    (65, One(parts::slice)),
    (67, One(transpose_conv::transpose_conv)),
    (69, One(layout::tile)),
    (70, One(layout::expand_dims)),
    (74, One(reduce::sum)),
    (76, One(activation::rsqrt)),
    (79, One(reduce::arg_min)),
    (82, One(reduce::max)),
    (83, One(parts::pack)),
    (88, Several(parts::unpack)),
    (89, One(reduce::min)),
    (97, One(pixels::resize_nearest_neighbor)),
    (98, One(activation::leaky_relu)),
    (99, One(elementwise::squared_difference)),
    (100, One(layout::mirror_pad)),
    (101, One(activation::abs)),
    (102, Several(parts::split_v)),
    (105, One(layout::reverse)),
    (114, One(activation::quantize)),
    (117, One(activation::hard_swish)),
    (126, One(fully_connected::batch_matmul)),
    (152, One(activation::relu_0_to_1)),
];

/// The reader of a builtin operator, if it has one.
pub(super) fn find(builtin: i32) -> Option<Reader> {
    READERS.iter().find(|(code, _)| *code == builtin).map(|(_, read)| *read)
}

/// The names of TensorFlow Lite's operators that can be read, sorted.
pub fn tflite_operators() -> Vec<&'static str> {
    let mut names: Vec<_> = READERS.iter().map(|(code, _)| operators::name(*code)).collect();
    names.sort_unstable();
    names
}
