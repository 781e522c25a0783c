//! The builtin operators that can be read.

mod activation;
mod convolution;
mod elementwise;
mod fully_connected;
mod layout;
mod pool;
mod reduce;

use super::error::TfliteError;
use super::operator::{NewNode, OperatorReader};
use super::operators;

/// Turns options and operands of an operator into an operation of the graph.
pub(super) type Read = fn(&mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError>;

/// The registered operators: number in the schema and reader.
const READERS: &[(i32, Read)] = &[
    (0, elementwise::add),
    (1, pool::average),
    (2, layout::concatenation),
    (3, convolution::conv2d),
    (4, convolution::depthwise_conv2d),
    (9, fully_connected::fully_connected),
    (17, pool::max),
    (18, elementwise::mul),
    (19, activation::relu),
    (21, activation::relu6),
    (22, layout::reshape),
    (25, activation::softmax),
    (34, layout::pad),
    (39, layout::transpose),
    (40, reduce::mean),
    (43, layout::squeeze),
    (60, layout::padv2),
    (74, reduce::sum),
    (114, activation::quantize),
];

/// The reader of a builtin operator, if it has one.
pub(super) fn find(builtin: i32) -> Option<Read> {
    READERS.iter().find(|(code, _)| *code == builtin).map(|(_, read)| *read)
}

/// The names of the operators that can be read, sorted.
pub(super) fn supported() -> Vec<&'static str> {
    let mut names: Vec<_> = READERS.iter().map(|(code, _)| operators::name(*code)).collect();
    names.sort_unstable();
    names
}
