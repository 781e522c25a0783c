//! Target: the `recognise` stage of the `.tflite` reader, on well-formed files of any operators, operands and
//! options.

use guardbit_frontends::{Profile, read_tflite_as};

use crate::{generate, message};

pub(crate) fn run(bytes: &[u8]) {
    let file = generate::operators(bytes);
    for profile in Profile::ALL {
        if let Err(error) = read_tflite_as(&file, "fuzz", profile) {
            message::check(error);
        }
    }
}
