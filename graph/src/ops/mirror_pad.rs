//! Padding with mirrored elements.

use super::Operands;
use super::moved::{Moved, moved, per_axis};
use crate::GraphError;

/// The input, surrounded by its own mirrored elements.
///
/// The output has the dtype, scale and zero point of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MirrorPad {
    /// Cells before and after, per axis.
    pub paddings: Vec<[usize; 2]>,
    /// Whether the outermost element is repeated (TensorFlow's SYMMETRIC) or not (REFLECT).
    pub symmetric: bool,
}

moved!(MirrorPad, "mirror_pad");

impl Moved for MirrorPad {
    fn shape(&self, operands: &Operands<'_>, input: &[usize]) -> Result<Vec<usize>, GraphError> {
        per_axis(operands, "paddings", &self.paddings, input.len())?;
        let mut shape = input.to_vec();
        for (axis, (&size, [before, after])) in input.iter().zip(&self.paddings).enumerate() {
            let most = if self.symmetric { size } else { size.saturating_sub(1) };
            if *before > most || *after > most {
                let problem = format!("[{before}, {after}] must be at most {most} along axis {axis}");
                return Err(operands.attribute_error("paddings", problem));
            }
            shape[axis] = size + before + after;
        }
        Ok(shape)
    }

    fn source(&self, input: &[usize], output: &[usize], source: &mut [usize]) -> Option<()> {
        let repeated = usize::from(!self.symmetric);
        for (axis, (&size, [before, _])) in input.iter().zip(&self.paddings).enumerate() {
            source[axis] = match output[axis].checked_sub(*before) {
                None => before - output[axis] - 1 + repeated,
                Some(place) if place < size => place,
                Some(place) => 2 * size - 1 - repeated - place,
            };
        }
        Some(())
    }
}
