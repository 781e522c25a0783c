//! STRIDED_SLICE.

use crate::tflite::normalise::{Masks, taken};
use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{NewNode, OperatorReader};

pub(super) fn strided_slice(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(32)?;
    let masks = Masks::read(&options)?;
    if options.flag(Field(5, "StridedSliceOptions.offset"), false)? {
        return Err(reader.error("ends that are offsets are not supported".into()));
    }
    reader.expect_inputs(4, 4)?;
    let x = reader.input(0)?;
    let [begin, end, strides] = [reader.integers(1)?, reader.integers(2)?, reader.integers(3)?];
    let op = taken(&masks, [&begin, &end, &strides], reader.shape(x));
    Ok(NewNode::on(x, op.map_err(|problem| reader.error(problem))?))
}
