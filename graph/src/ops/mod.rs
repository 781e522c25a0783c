//! The operations: one file each.
//!
//! To add one, write its file (attributes, shape rule, exact integer meaning) and add its line to `ops!`.

mod elementwise;
mod operands;
mod pool;
mod reduce;
mod rescale;
mod strides;
mod window;

pub(crate) use operands::Operands;

use crate::{DotProducts, GraphError, Window};

/// What every operation says about itself.
pub(crate) trait Operator {
    /// The name used in files.
    const NAME: &'static str;

    /// Checks the operands and gives the shape of the output.
    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError>;

    /// The dot products that it is made of, if an accumulator can run it.
    fn dot_products(&self, _operands: &Operands<'_>) -> Option<DotProducts> {
        None
    }

    /// The window that it slides over its first input, if it does.
    fn window(&self, operands: &Operands<'_>) -> Option<Window> {
        self.dot_products(operands).map(|dots| dots.window)
    }

    /// The exact output codes. `inputs` are the codes of every input in order, constants included.
    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32>;
}

/// Registers the operations: file and type.
macro_rules! ops {
    ($($file:ident::$ty:ident),* $(,)?) => {
        $(mod $file; pub use $file::$ty;)*

        /// An operation with its attributes.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[non_exhaustive]
        pub enum Op {
            $(#[doc = concat!("See [`", stringify!($ty), "`].")] $ty($ty),)*
        }

        $(impl From<$ty> for Op {
            fn from(op: $ty) -> Self { Self::$ty(op) }
        })*

        impl Op {
            /// The names of all operations, in the order of registration.
            pub const NAMES: &[&str] = &[$($ty::NAME),*];

            /// The name used in files.
            pub fn name(&self) -> &'static str {
                match self { $(Self::$ty(_) => $ty::NAME,)* }
            }

            pub(crate) fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
                match self { $(Self::$ty(op) => op.output_shape(operands),)* }
            }

            pub(crate) fn dot_products(&self, operands: &Operands<'_>) -> Option<DotProducts> {
                match self { $(Self::$ty(op) => op.dot_products(operands),)* }
            }

            pub(crate) fn window(&self, operands: &Operands<'_>) -> Option<Window> {
                match self { $(Self::$ty(op) => Operator::window(op, operands),)* }
            }

            pub(crate) fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
                match self { $(Self::$ty(op) => op.evaluate(operands, inputs),)* }
            }
        }
    };
}

ops! {
    conv2d::Conv2d,
    depthwise_conv2d::DepthwiseConv2d,
    fully_connected::FullyConnected,
    add::Add,
    mul::Mul,
    avg_pool2d::AvgPool2d,
    max_pool2d::MaxPool2d,
    mean::Mean,
    sum::Sum,
    relu::Relu,
    relu6::Relu6,
    softmax::Softmax,
    reshape::Reshape,
    concat::Concat,
    pad::Pad,
    transpose::Transpose,
    quantize::Quantize,
}
