//! Target: the `normalise` stage of the `.tflite` reader, which computes lists of integers when it reads a file.

use guardbit_frontends::tflite::floors;

use crate::{generate, message};

pub(crate) fn run(bytes: &[u8]) {
    match floors::normalise(&generate::lists(bytes)) {
        Ok(computed) => {
            for (shape, values) in computed {
                assert_eq!(shape.iter().product::<usize>(), values.len(), "a value for every element");
            }
        }
        Err(error) => message::check(error),
    }
}
