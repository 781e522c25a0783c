//! Dilation: cells between pixels.

use super::Operands;
use super::moved::{Moved, image, moved};
use crate::GraphError;
use crate::limits::check_extents;

/// The image `[n, h, w, c]` with cells of real 0 between its rows and columns.
///
/// `y[n, h*r, w*s, c] = x[n, h, w, c]` for `factor = [r, s]`, and the zero point elsewhere. A transposed convolution
/// reads such an image. The output has the dtype, scale and zero point of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Dilate {
    /// Distance of rows and columns in the output.
    pub factor: [usize; 2],
}

moved!(Dilate, "dilate");

impl Moved for Dilate {
    fn shape(&self, operands: &Operands<'_>, _input: &[usize]) -> Result<Vec<usize>, GraphError> {
        let [batch, rows, cols, channels] = image(operands)?;
        if !operands.output_dtype.is_float() {
            operands.per_tensor(0)?;
        }
        check_extents(operands, "factor", self.factor)?;
        let along = |size: usize, factor: usize| (size - 1).saturating_mul(factor).saturating_add(1);
        Ok(vec![batch, along(rows, self.factor[0]), along(cols, self.factor[1]), channels])
    }

    fn source(&self, _input: &[usize], output: &[usize], source: &mut [usize]) -> Option<()> {
        source.copy_from_slice(output);
        for axis in 0..2 {
            if !output[axis + 1].is_multiple_of(self.factor[axis]) {
                return None;
            }
            source[axis + 1] = output[axis + 1] / self.factor[axis];
        }
        Some(())
    }
}
