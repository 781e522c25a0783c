//! Squares of pixels to a batch of smaller images.

use super::Operands;
use super::moved::{Moved, moved, per_axis};
use crate::{Brief, GraphError};

/// The input `[n, .., ..]`, padded with the zero point and split into one image per offset in a block.
///
/// Image `g*n + i` of the output holds the rows (columns, ...) of image `i` at offset `g` of the blocks, every
/// `block[i]`-th one. Converters write a convolution with dilation in this form. The output has the dtype, scale and
/// zero point of the input. Source: TensorFlow Lite `SPACE_TO_BATCH_ND`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SpaceToBatch {
    /// Sizes of a block along the axes after the first.
    pub block: Vec<usize>,
    /// Padding cells before and after, along these axes.
    pub paddings: Vec<[usize; 2]>,
}

moved!(SpaceToBatch, "space_to_batch");

impl Moved for SpaceToBatch {
    fn shape(&self, operands: &Operands<'_>, input: &[usize]) -> Result<Vec<usize>, GraphError> {
        per_axis(operands, "paddings", &self.paddings, self.block.len())?;
        let mut shape = input.to_vec();
        for (axis, (&block, [before, after])) in self.block.iter().zip(&self.paddings).enumerate() {
            let size = shape.get(axis + 1).map(|size| size.saturating_add(*before).saturating_add(*after));
            let Some(size) = size.filter(|size| block > 0 && size.is_multiple_of(block)) else {
                let problem = format!("{} does not divide the padded axes of {input:?}", Brief(&self.block));
                return Err(operands.attribute_error("block", problem));
            };
            shape[axis + 1] = size / block;
            shape[0] = shape[0].saturating_mul(block);
        }
        Ok(shape)
    }

    fn source(&self, input: &[usize], output: &[usize], source: &mut [usize]) -> Option<()> {
        source.copy_from_slice(output);
        source[0] = output[0] % input[0];
        let mut offset = output[0] / input[0];
        for (axis, &block) in self.block.iter().enumerate().rev() {
            let place = output[axis + 1] * block + offset % block;
            source[axis + 1] =
                place.checked_sub(self.paddings[axis][0]).filter(|&at| at < input[axis + 1])?;
            offset /= block;
        }
        Some(())
    }
}
