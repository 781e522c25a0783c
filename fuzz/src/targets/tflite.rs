//! A network in a `.tflite` file, as every runtime has it.

use guardbit_frontends::{Profile, read_tflite_as};

use crate::message;

pub(crate) fn run(bytes: &[u8]) {
    for profile in Profile::ALL {
        if let Err(error) = read_tflite_as(bytes, "fuzz", profile) {
            message::check(error);
        }
    }
}
