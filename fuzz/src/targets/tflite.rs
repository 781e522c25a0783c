//! Target: a network in a `.tflite` file, read under every runtime profile.

use guardbit_frontends::{Profile, read_tflite_as};

use crate::message;

pub(crate) fn run(bytes: &[u8]) {
    for profile in Profile::ALL {
        if let Err(error) = read_tflite_as(bytes, "fuzz", profile) {
            message::check(error);
        }
    }
}
