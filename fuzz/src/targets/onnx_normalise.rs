//! Target: the `normalise` stage of the `.onnx` reader, which folds constants.

use guardbit_frontends::onnx::floors;

use crate::{generate, message};

pub(crate) fn run(bytes: &[u8]) {
    match floors::normalise(&generate::onnx_constants(bytes)) {
        Ok(constants) => {
            for (shape, count) in constants {
                assert_eq!(shape.iter().product::<usize>(), count, "an element for every place");
            }
        }
        Err(error) => message::check(error),
    }
}
