//! Repetition along axes.

use super::Operands;
use super::moved::{Moved, moved, per_axis};
use crate::GraphError;

/// The input, repeated along each axis.
///
/// The output has the dtype, scale and zero point of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Tile {
    /// Number of repetitions per axis.
    pub repeats: Vec<usize>,
}

moved!(Tile, "tile");

impl Moved for Tile {
    fn shape(&self, operands: &Operands<'_>, input: &[usize]) -> Result<Vec<usize>, GraphError> {
        per_axis(operands, "repeats", &self.repeats, input.len())?;
        Ok(input.iter().zip(&self.repeats).map(|(&size, &repeat)| size.saturating_mul(repeat)).collect())
    }

    fn source(&self, input: &[usize], output: &[usize], source: &mut [usize]) -> Option<()> {
        for (axis, &size) in input.iter().enumerate() {
            source[axis] = output[axis] % size;
        }
        Some(())
    }
}
