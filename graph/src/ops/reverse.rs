//! Reversal along axes.

use super::Operands;
use super::moved::{Moved, moved};
use crate::{Brief, GraphError};

/// The input, reversed along some axes.
///
/// The output has the dtype, scale and zero point of the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Reverse {
    /// The axes, each once.
    pub axes: Vec<usize>,
}

moved!(Reverse, "reverse");

impl Moved for Reverse {
    fn shape(&self, operands: &Operands<'_>, input: &[usize]) -> Result<Vec<usize>, GraphError> {
        let unknown = |(at, axis): (usize, &usize)| *axis >= input.len() || self.axes[..at].contains(axis);
        if self.axes.iter().enumerate().any(unknown) {
            let problem = format!("{} must be distinct axes of {input:?}", Brief(&self.axes));
            return Err(operands.attribute_error("axes", problem));
        }
        Ok(input.to_vec())
    }

    fn source(&self, input: &[usize], output: &[usize], source: &mut [usize]) -> Option<()> {
        source.copy_from_slice(output);
        for &axis in &self.axes {
            source[axis] = input[axis] - 1 - output[axis];
        }
        Some(())
    }
}
