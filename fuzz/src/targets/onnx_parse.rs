//! Target: the `parse` stage of the `.onnx` reader, which returns the plain network of a file.

use guardbit_frontends::onnx::floors;

use crate::message;

pub(crate) fn run(bytes: &[u8]) {
    if let Err(error) = floors::parse(bytes) {
        message::check(error);
    }
}
