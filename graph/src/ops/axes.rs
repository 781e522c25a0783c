//! Code shared by operations on some axes.

use super::Operands;
use super::strides::{offsets, row_major};
use crate::{Brief, GraphError};

/// The axes of a tensor that are reduced.
pub(super) struct Reduced<'a> {
    pub shape: &'a [usize],
    pub reduced: Vec<bool>,
}

impl<'a> Reduced<'a> {
    /// Checks `axes` of the only input. Each axis may occur once.
    pub fn new(operands: &Operands<'a>, axes: &[usize]) -> Result<Self, GraphError> {
        operands.expect_inputs(1, 1)?;
        let shape = operands.input(0).ty.shape.as_slice();
        let mut reduced = vec![false; shape.len()];
        for &axis in axes {
            match reduced.get_mut(axis) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    let problem = format!("{} must be distinct axes of {shape:?}", Brief(axes));
                    return Err(operands.attribute_error("axes", problem));
                }
            }
        }
        if axes.is_empty() {
            let problem = format!("{} must cover at least one element of {shape:?}", Brief(axes));
            return Err(operands.attribute_error("axes", problem));
        }
        Ok(Self { shape, reduced })
    }

    /// Returns the number of input elements per output element.
    pub fn count(&self) -> usize {
        self.shape.iter().zip(&self.reduced).filter(|(_, reduced)| **reduced).map(|(&size, _)| size).product()
    }

    /// Returns the shape of the output. Reduced axes have size 1 or are left out.
    pub fn output_shape(&self, keep_dims: bool) -> Vec<usize> {
        let kept = self.shape.iter().zip(&self.reduced).filter(|(_, reduced)| keep_dims || !**reduced);
        kept.map(|(&size, &reduced)| if reduced { 1 } else { size }).collect()
    }

    /// Returns the flat index in the output for every element of the input, in input order.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        let output = self.output_shape(true);
        let strides = row_major(&output).into_iter().zip(&self.reduced);
        let strides: Vec<_> = strides.map(|(stride, &reduced)| if reduced { 0 } else { stride }).collect();
        offsets(self.shape, &strides).collect::<Vec<_>>().into_iter()
    }
}

/// Defines an operation that keeps one code of those along some axes: its attributes and
/// [`Operator`](super::Operator).
macro_rules! extreme {
    ($(#[$doc:meta])* $ty:ident, $name:literal, $worst:ident, $better:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        pub struct $ty {
            /// The axes, each once.
            pub axes: Vec<usize>,
            /// Whether these axes stay, with size 1.
            pub keep_dims: bool,
        }

        impl $crate::ops::Operator for $ty {
            const NAME: &'static str = $name;
            const EFFORT: $crate::effort::Effort = $crate::effort::Effort::per_input(1);
            const MONOTONICITY: $crate::ops::Monotonicity = $crate::ops::Monotonicity::Increasing;

            fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
                let reduced = Reduced::new(operands, &self.axes)?;
                operands.expect_output_like(0)?;
                Ok(reduced.output_shape(self.keep_dims))
            }

            fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
                let Ok(reduced) = Reduced::new(operands, &self.axes) else { return Vec::new() };
                let mut output = vec![i32::$worst; reduced.output_shape(true).iter().product()];
                for (&code, at) in inputs[0].iter().zip(reduced.places()) {
                    output[at] = $better(output[at], code);
                }
                output
            }
        }
    };
}

pub(super) use extreme;

/// Defines an operation that finds the index of an extreme along an axis: its attributes and
/// [`Operator`](super::Operator).
macro_rules! place_of_extreme {
    ($(#[$doc:meta])* $ty:ident, $name:literal, $better:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        pub struct $ty {
            /// The axis.
            pub axis: usize,
            /// Whether the axis stays, with size 1.
            pub keep_dims: bool,
        }

        impl $crate::ops::Operator for $ty {
            const NAME: &'static str = $name;
            /// Counts a comparison and two selections, of the code and its index.
            const EFFORT: $crate::effort::Effort = $crate::effort::Effort::per_input(3);

            fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
                operands.expect_output_dtype(&[$crate::DType::Int32])?;
                Ok(Reduced::new(operands, &[self.axis])?.output_shape(self.keep_dims))
            }

            fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
                let Ok(reduced) = Reduced::new(operands, &[self.axis]) else { return Vec::new() };
                let count = reduced.output_shape(true).iter().product();
                let (mut best, mut place, mut seen) = (vec![None; count], vec![0; count], vec![0; count]);
                for (&code, at) in inputs[0].iter().zip(reduced.places()) {
                    if best[at].is_none_or(|best: i32| $better(&code, &best)) {
                        (best[at], place[at]) = (Some(code), seen[at]);
                    }
                    seen[at] += 1;
                }
                place
            }
        }
    };
}

pub(super) use place_of_extreme;
