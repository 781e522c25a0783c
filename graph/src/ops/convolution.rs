//! Code shared by convolutions.

/// Defines a convolution: its attributes and [`Operator`](super::Operator). A function finds the geometry from the
/// shapes of its operands.
macro_rules! convolution {
    ($(#[$doc:meta])* $ty:ident, $name:literal, $geometry:path) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        pub struct $ty {
            /// Step of the window along rows and columns.
            pub stride: [usize; 2],
            /// Distance between cells of the window along rows and columns.
            pub dilation: [usize; 2],
            /// Padding.
            pub padding: $crate::Padding,
            /// The fused activation.
            pub activation: $crate::Activation,
            /// Requantization from sums to codes.
            pub requantize: $crate::Requantize,
        }

        impl $crate::ops::Operator for $ty {
            const NAME: &'static str = $name;
            const EFFORT: $crate::effort::Effort = $crate::effort::Effort::PRODUCTS;
            const MAC: Option<$crate::ops::Mac> = Some($crate::ops::Mac::Weighted);

            $crate::ops::requantized!();

            $crate::ops::activated!();

            fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
                self.parts(operands).map(|parts| $crate::ops::window::output_shape(&parts.window))
            }

            fn dot_products(&self, operands: &Operands<'_>) -> Option<$crate::DotProducts> {
                self.parts(operands).ok()
            }
        }

        /// The default has stride and dilation 1, no padding and no activation.
        impl Default for $ty {
            fn default() -> Self {
                Self {
                    stride: [1, 1],
                    dilation: [1, 1],
                    padding: $crate::Padding::Valid,
                    activation: $crate::Activation::None,
                    requantize: $crate::Requantize::default(),
                }
            }
        }

        impl $ty {
            fn parts(&self, operands: &Operands<'_>) -> Result<$crate::DotProducts, GraphError> {
                $crate::ops::weighted::dot_products(operands, self.requantize, self.activation, || {
                    $geometry(operands, self.stride, self.dilation, self.padding)
                })
            }
        }
    };
}

pub(super) use convolution;
