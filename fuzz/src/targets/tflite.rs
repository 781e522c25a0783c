//! A network in a `.tflite` file.

use guardbit_frontends::read_tflite;

use crate::message;

pub(crate) fn run(bytes: &[u8]) {
    if let Err(error) = read_tflite(bytes, "fuzz") {
        message::check(error);
    }
}
