//! Code shared by reductions.

use guardbit_num::Requantizer;

use super::Operands;
use super::axes::Reduced;
use crate::dot::{Division, DotProducts, Finish, Window};
use crate::{Activation, GraphError, Requantize};

/// Returns a requantizer to the output's scale times a number.
pub(super) type Scaled<'a> = dyn Fn(f32) -> Result<Requantizer, GraphError> + 'a;

/// A sum over some axes, checked against its input.
pub(super) struct Reduction<'a> {
    axes: Reduced<'a>,
    division: Division,
    input_zero_point: i32,
}

impl<'a> Reduction<'a> {
    /// Returns the sum over `axes`.
    ///
    /// `finish` returns the requantizer of sums, given their number of elements and a function that returns the
    /// requantizer from the input's scale to the output's scale times a number.
    pub fn new(
        operands: &Operands<'a>,
        axes: &[usize],
        requantize: Requantize,
        finish: impl Fn(&Scaled<'_>, usize) -> Result<Requantizer, GraphError>,
    ) -> Result<Self, GraphError> {
        let axes = Reduced::new(operands, axes)?;
        let (input, output) = (operands.activation(0)?, operands.output_activation()?);
        // The output of ONNX Runtime may be narrower than its input.
        if requantize.scheme != guardbit_num::Scheme::Even {
            operands.expect_output_dtype(&[operands.input(0).ty.dtype])?;
        }
        let count = axes.count();
        let scaled: &Scaled<'_> =
            &|times| operands.requantizer(requantize, input.scale(0), 1.0, output.scale(0) * times);
        let division = Division::Scaled {
            requantizer: finish(scaled, count)?,
            input_zero_point: input.zero_point(0),
            output_zero_point: output.zero_point(0),
            clamp: Activation::None.clamp(operands.output_dtype, output),
        };
        Ok(Self { axes, division, input_zero_point: input.zero_point(0) })
    }

    /// Returns the shape of the output. Reduced axes have size 1 or are left out.
    pub fn output_shape(&self, keep_dims: bool) -> Vec<usize> {
        self.axes.output_shape(keep_dims)
    }

    /// Returns the output codes.
    pub fn evaluate(&self, codes: &[i32]) -> Vec<i32> {
        let mut sums = vec![0i128; self.output_shape(true).iter().product()];
        for (&code, at) in codes.iter().zip(self.axes.places()) {
            sums[at] += i128::from(code);
        }
        let count = codes.len() / sums.len().max(1);
        sums.into_iter().map(|sum| self.division.finish(sum, count)).collect()
    }

    /// Returns the sums as dot products with weights of 1, if the input is `[n, c]`, `[n, w, c]` or `[n, h, w, c]`
    /// and `n` is kept.
    pub fn dot_products(&self) -> Option<DotProducts> {
        let (batch, image) = self.axes.shape.split_first()?;
        let (false, axes) = self.axes.reduced.split_first()? else { return None };
        let missing = 3usize.checked_sub(image.len()).filter(|&m| m < 3)?;
        let mut input = [1; 3];
        let mut kernel = [1; 3];
        let mut output = [1; 3];
        for (axis, (&size, &reduced)) in (missing..).zip(image.iter().zip(axes)) {
            input[axis] = size;
            if reduced { kernel[axis] = size } else { output[axis] = size }
        }
        let groups = output[2];
        let window = Window {
            batch: *batch,
            input,
            output,
            kernel,
            stride: [1, 1],
            dilation: [1, 1],
            pad: [0, 0],
            groups,
        };
        Some(DotProducts {
            window,
            input_zero_point: self.input_zero_point,
            weights: None,
            bias: None,
            finish: Finish::Divide(self.division.clone()),
        })
    }
}

/// Defines a reduction: its attributes and [`Operator`](super::Operator).
///
/// `$finish` returns the requantizer of a sum, given the requantizer from input to output scale and the number of
/// elements.
macro_rules! reduction {
    ($(#[$doc:meta])* $ty:ident, $name:literal, $finish:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        pub struct $ty {
            /// The axes that are summed over, each once.
            pub axes: Vec<usize>,
            /// Whether these axes stay, with size 1.
            pub keep_dims: bool,
            /// Requantization from sums to codes. The multiplier is that of `s_x * 1 / s_y`.
            pub requantize: $crate::Requantize,
        }

        impl $crate::ops::Operator for $ty {
            const NAME: &'static str = $name;
            const EFFORT: $crate::effort::Effort = $crate::effort::Effort::per_input(1).and_output($crate::effort::REQUANTIZE + $crate::effort::CLAMP);
            const MAC: Option<$crate::ops::Mac> = Some($crate::ops::Mac::Unweighted);
            const MONOTONICITY: $crate::ops::Monotonicity = $crate::ops::Monotonicity::Increasing;

            $crate::ops::requantized!();

            fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
                self.reduction(operands).map(|reduction| reduction.output_shape(self.keep_dims))
            }

            fn dot_products(&self, operands: &Operands<'_>) -> Option<$crate::DotProducts> {
                self.reduction(operands).ok()?.dot_products()
            }

            fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
                self.reduction(operands).map_or_else(|_| Vec::new(), |reduction| reduction.evaluate(inputs[0]))
            }
        }

        impl $ty {
            fn reduction<'a>(&self, operands: &Operands<'a>) -> Result<Reduction<'a>, GraphError> {
                Reduction::new(operands, &self.axes, self.requantize, $finish)
            }
        }
    };
}

pub(super) use reduction;
