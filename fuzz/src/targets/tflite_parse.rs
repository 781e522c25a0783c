//! The lowest floor of the reader of `.tflite` files: whatever can be asked of a described file.

use guardbit_frontends::tflite::floors;

use crate::message;

pub(crate) fn run(bytes: &[u8]) {
    for error in floors::parse(bytes) {
        message::check(error);
    }
}
