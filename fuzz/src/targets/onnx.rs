//! Target: a network in an `.onnx` file.

use guardbit_frontends::read_onnx;

use crate::message;

pub(crate) fn run(bytes: &[u8]) {
    if let Err(error) = read_onnx(bytes, "fuzz") {
        message::check(error);
    }
}
