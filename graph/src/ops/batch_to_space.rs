//! Batches of pixels to larger images.

use super::Operands;
use super::moved::{Moved, moved, per_axis};
use crate::{Brief, GraphError};

/// The inverse of [`SpaceToBatch`](super::SpaceToBatch), followed by cropping.
///
/// The output has the dtype, scale and zero point of the input. Source: TensorFlow Lite `BATCH_TO_SPACE_ND`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct BatchToSpace {
    /// Sizes of a block along the axes after the first.
    pub block: Vec<usize>,
    /// Cells to remove before and after, along these axes.
    pub crops: Vec<[usize; 2]>,
}

moved!(BatchToSpace, "batch_to_space");

impl Moved for BatchToSpace {
    fn shape(&self, operands: &Operands<'_>, input: &[usize]) -> Result<Vec<usize>, GraphError> {
        per_axis(operands, "crops", &self.crops, self.block.len())?;
        let images = self.block.iter().try_fold(1usize, |n, &block| n.checked_mul(block)).filter(|&n| n > 0);
        let batch = input.first().zip(images).filter(|(batch, images)| **batch % images == 0);
        let Some((batch, images)) = batch else {
            let problem = format!("{} does not divide the images of {input:?}", Brief(&self.block));
            return Err(operands.attribute_error("block", problem));
        };
        let mut shape = input.to_vec();
        shape[0] = batch / images;
        for (axis, (&block, [before, after])) in self.block.iter().zip(&self.crops).enumerate() {
            let size = shape
                .get(axis + 1)
                .and_then(|size| size.checked_mul(block)?.checked_sub(*before)?.checked_sub(*after));
            let Some(size) = size.filter(|&size| size > 0) else {
                let problem = format!("[{before}, {after}] leave nothing of axis {} of {input:?}", axis + 1);
                return Err(operands.attribute_error("crops", problem));
            };
            shape[axis + 1] = size;
        }
        Ok(shape)
    }

    fn source(&self, input: &[usize], output: &[usize], source: &mut [usize]) -> Option<()> {
        source.copy_from_slice(output);
        let images: usize = self.block.iter().product();
        let mut offset = 0;
        for (axis, &block) in self.block.iter().enumerate() {
            let place = output[axis + 1] + self.crops[axis][0];
            source[axis + 1] = place / block;
            offset = offset * block + place % block;
        }
        source[0] = offset * (input[0] / images) + output[0];
        Some(())
    }
}
