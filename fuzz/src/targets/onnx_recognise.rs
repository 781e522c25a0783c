//! Target: the `recognise` stage of the `.onnx` reader, on well-formed files of any operators, operands and
//! attributes.

use guardbit_frontends::read_onnx;

use crate::{generate, message};

pub(crate) fn run(bytes: &[u8]) {
    if let Err(error) = read_onnx(&generate::onnx_operators(bytes), "fuzz") {
        message::check(error);
    }
}
