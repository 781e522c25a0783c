//! Multiply-accumulates of an operation, independent of who runs it.

use crate::Window;

/// The products of two operands that a convolution or matrix product adds up, on codes or real values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Products {
    /// Products per dot product, padding included.
    pub terms: usize,
    /// Number of dot products, which is that of the elements of the output.
    pub dots: usize,
}

impl Products {
    /// Returns the products of a window.
    pub(crate) fn of(window: &Window) -> Self {
        Self { terms: window.terms(), dots: window.dots() }
    }

    /// Returns the number of multiply-accumulates.
    pub fn macs(&self) -> u64 {
        (self.terms as u64).saturating_mul(self.dots as u64)
    }
}
