//! Fully connected layer.

use super::operands::Operands;
use super::weighted::{self, Geometry};
use super::{Mac, Operator};
use crate::dot::{DotProducts, Window};
use crate::effort::Effort;
use crate::{Activation, GraphError, Requantize};

/// `y[n,u] = sum over i of (x[n,i] - zx) * (w[u,i] - zw)`, plus bias, requantized.
///
/// Inputs: activations, read as `[n, k]` whatever their shape, constant weights `[units, k]` (scales per tensor or
/// along axis 0), optional bias `[units]`.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FullyConnected {
    /// Whether the output keeps all axes of the input except the last, which must then have size `k`.
    pub keep_num_dims: bool,
    /// The fused activation.
    pub activation: Activation,
    /// Requantization from sums to codes.
    pub requantize: Requantize,
}

impl Operator for FullyConnected {
    const NAME: &'static str = "fully_connected";
    const EFFORT: Effort = Effort::PRODUCTS;
    const MAC: Option<Mac> = Some(Mac::Weighted);

    super::requantized!();

    super::activated!();

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        let Window { batch, input: [.., terms], output: [.., units], .. } = self.parts(operands)?.window;
        if !self.keep_num_dims {
            return Ok(vec![batch, units]);
        }
        match operands.input(0).ty.shape.split_last() {
            Some((&last, front)) if last == terms => Ok([front, &[units]].concat()),
            _ => Err(operands.shape_error(operands.input(0), format!("[.., {terms}]"))),
        }
    }

    fn dot_products(&self, operands: &Operands<'_>) -> Option<DotProducts> {
        self.parts(operands).ok()
    }
}

impl FullyConnected {
    fn parts(&self, operands: &Operands<'_>) -> Result<DotProducts, GraphError> {
        weighted::dot_products(operands, self.requantize, self.activation, || geometry(operands))
    }
}

fn geometry(operands: &Operands<'_>) -> Result<Geometry, GraphError> {
    let [units, terms] = operands.shape(1)?;
    let len = operands.input(0).ty.len();
    if !len.is_multiple_of(terms) {
        return Err(operands.shape_error(operands.input(0), format!("a multiple of {terms} elements")));
    }
    let window = Window::dense(len / terms, terms, units);
    Ok(Geometry { window, axis: 0, strides: [terms, 0, 0, 1] })
}
