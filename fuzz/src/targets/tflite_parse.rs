//! Target: the `parse` stage of the `.tflite` reader, with every query that the description of a file allows.

use guardbit_frontends::tflite::floors;

use crate::message;

pub(crate) fn run(bytes: &[u8]) {
    for error in floors::parse(bytes) {
        message::check(error);
    }
}
