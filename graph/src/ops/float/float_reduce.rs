//! Sums and extremes of real values over axes.

use super::elements::expect;
use crate::effort::Effort;
use crate::ops::strides::{offsets, row_major};
use crate::ops::{Operands, Operator};
use crate::{Brief, GraphError, real_of, word_of};

/// Lists the functions: variant, name, the start value, and the step in float64.
macro_rules! functions {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, $start:expr, |$a:ident, $b:ident| $value:expr;)*) => {
        /// The reduction of real values along some axes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
        pub enum RealReduction { $($(#[$doc])* $variant,)* }

        impl RealReduction {
            /// Every function.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the name used in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            fn start(self) -> f64 {
                match self { $(Self::$variant => $start,)* }
            }

            fn with(self, a: f64, b: f64) -> f64 {
                match self { $(Self::$variant => { let ($a, $b) = (a, b); $value })* }
            }
        }
    };
}

functions! {
    /// The sum.
    Sum, "sum", 0.0, |a, b| a + b;
    /// The greatest value.
    Maximum, "maximum", f64::NEG_INFINITY, |a, b| a.max(b);
    /// The least value.
    Minimum, "minimum", f64::INFINITY, |a, b| a.min(b);
    /// The product.
    Product, "product", 1.0, |a, b| a * b;
}

/// A reduction over some axes, computed in float64.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FloatReduce {
    /// The reduction.
    pub function: RealReduction,
    /// The axes.
    pub axes: Vec<usize>,
    /// Whether these axes stay, with size 1.
    pub keep_dims: bool,
}

impl Operator for FloatReduce {
    const NAME: &'static str = "float_reduce";
    const EFFORT: Effort = Effort::per_input(1);

    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
        expect(operands, 1, 1)?;
        let shape = &operands.input(0).ty.shape;
        check_axes(operands, &self.axes)?;
        let kept = kept(shape, &self.axes).into_iter().enumerate();
        let kept = kept.filter(|(axis, _)| self.keep_dims || !self.axes.contains(axis));
        Ok(kept.map(|(_, size)| size).collect())
    }

    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        let made =
            reduced(operands, inputs[0], &self.axes, self.function.start(), |a, b| self.function.with(a, b));
        made.into_iter().map(|value| word_of(value as f32)).collect()
    }
}

/// Checks that the axes are distinct axes of the input.
pub(super) fn check_axes(operands: &Operands<'_>, axes: &[usize]) -> Result<(), GraphError> {
    let shape = &operands.input(0).ty.shape;
    let twice = |(at, axis): (usize, &usize)| axes[..at].contains(axis);
    if axes.iter().any(|&axis| axis >= shape.len()) || axes.iter().enumerate().any(twice) {
        let problem = format!("{} must be distinct axes of {shape:?}", Brief(axes));
        return Err(operands.attribute_error("axes", problem));
    }
    Ok(())
}

/// Returns the shape with size 1 along the axes.
pub(super) fn kept(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    let size = |(axis, &size)| if axes.contains(&axis) { 1 } else { size };
    shape.iter().enumerate().map(size).collect()
}

/// Returns the reduction of the values along the axes.
pub(super) fn reduced(
    operands: &Operands<'_>,
    words: &[i32],
    axes: &[usize],
    start: f64,
    with: impl Fn(f64, f64) -> f64,
) -> Vec<f64> {
    let shape = &operands.input(0).ty.shape;
    let kept = kept(shape, axes);
    let mut strides = row_major(&kept);
    axes.iter().for_each(|&axis| strides[axis] = 0);
    let mut made = vec![start; kept.iter().product()];
    for (&word, at) in words.iter().zip(offsets(shape, &strides)) {
        made[at] = with(made[at], f64::from(real_of(word)));
    }
    made
}
