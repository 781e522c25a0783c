//! Multiply-accumulates of an operation, whoever runs it.

use crate::Window;

/// Products of two operands, added up: those of a convolution or a product of matrices, on codes or real values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Products {
    /// Products per dot product, padding included.
    pub terms: usize,
    /// Dot products: elements of the output.
    pub dots: usize,
}

impl Products {
    /// Returns the products of a window.
    pub(crate) fn of(window: &Window) -> Self {
        Self { terms: window.terms(), dots: window.dots() }
    }

    /// Multiply-accumulates.
    pub fn macs(&self) -> u64 {
        (self.terms as u64).saturating_mul(self.dots as u64)
    }
}
