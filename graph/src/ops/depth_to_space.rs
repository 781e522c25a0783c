//! Channels to squares of pixels.

use super::Operands;
use super::moved::{Moved, image, moved};
use crate::GraphError;

/// `y[n, h*b + r, w*b + c, i] = x[n, h, w, (r*b + c)*C + i]` with `b` the block size and `C` the channels left.
///
/// The output has the dtype, scale and zero point of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DepthToSpace {
    /// Rows and columns of a block.
    pub block_size: usize,
}

moved!(DepthToSpace, "depth_to_space");

impl Moved for DepthToSpace {
    fn shape(&self, operands: &Operands<'_>, _input: &[usize]) -> Result<Vec<usize>, GraphError> {
        let [batch, rows, cols, channels] = image(operands)?;
        let cells = self.block_size.checked_mul(self.block_size).filter(|&cells| cells > 0);
        let Some(cells) = cells.filter(|cells| channels % cells == 0) else {
            let problem = format!("{0} times {0} does not divide {channels} channels", self.block_size);
            return Err(operands.attribute_error("block_size", problem));
        };
        Ok(vec![batch, rows * self.block_size, cols * self.block_size, channels / cells])
    }

    fn source(&self, input: &[usize], output: &[usize], source: &mut [usize]) -> Option<()> {
        let block = self.block_size;
        let cell = output[1] % block * block + output[2] % block;
        let channels = input[3] / (block * block);
        source.copy_from_slice(&[
            output[0],
            output[1] / block,
            output[2] / block,
            cell * channels + output[3],
        ]);
        Some(())
    }
}
