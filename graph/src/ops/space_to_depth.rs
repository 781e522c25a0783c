//! Squares of pixels to channels.

use super::Operands;
use super::moved::{Moved, image, moved};
use crate::GraphError;

/// `y[n, h, w, (r*b + c)*C + i] = x[n, h*b + r, w*b + c, i]` with `b` the block size and `C` the channels.
///
/// The output has the dtype, scale and zero point of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SpaceToDepth {
    /// Rows and columns of a block.
    pub block_size: usize,
}

moved!(SpaceToDepth, "space_to_depth");

impl Moved for SpaceToDepth {
    fn shape(&self, operands: &Operands<'_>, _input: &[usize]) -> Result<Vec<usize>, GraphError> {
        let [batch, rows, cols, channels] = image(operands)?;
        let block = self.block_size;
        if block == 0 || rows % block != 0 || cols % block != 0 {
            let problem = format!("{block} does not divide {rows} rows and {cols} columns");
            return Err(operands.attribute_error("block_size", problem));
        }
        // Neither product exceeds the number of elements.
        Ok(vec![batch, rows / block, cols / block, channels * block * block])
    }

    fn source(&self, input: &[usize], output: &[usize], source: &mut [usize]) -> Option<()> {
        let (block, channels) = (self.block_size, input[3]);
        let cell = output[3] / channels;
        source.copy_from_slice(&[
            output[0],
            output[1] * block + cell / block,
            output[2] * block + cell % block,
            output[3] % channels,
        ]);
        Some(())
    }
}
