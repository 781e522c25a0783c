//! The operations: one file each.
//!
//! To add one, write its file here, or in `float` for one on real values, (attributes and `Operator`: shape rule, exact integer meaning, what an accelerator can
//! do with it) and add its line to `ops!`. Lists of operations elsewhere (`offload` and its checks, short names, ranges,
//! fuzzing) follow from that line.

mod additive;
mod axes;
mod convolution;
mod elementwise;
mod float;
pub use dynamic_quantization::DynamicPart;
pub use float::{Places, RealFunction, RealPair, RealReduction};
pub use integer_binary::IntegerPair;
mod lut;
mod moved;
mod operands;
mod pool;
mod quarter;
mod reduce;
mod rescale;
mod scaled;
mod strides;
mod weighted;
mod window;

pub use lut::Arithmetic;
pub(crate) use operands::Operands;
pub(crate) use strides::{offsets, row_major};

use guardbit_num::Requantizer;

use crate::dot::{Division, Finish};
use crate::{DotProducts, Effort, GraphError, Products, Requantize, Window};

/// The sums that an accelerator computes for an operation that it can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mac {
    /// Products with constant weights, a bias perhaps: accelerators run them unless told otherwise.
    Weighted,
    /// Codes alone, as if all weights were 1: accelerators that are told to run them.
    Unweighted,
}

/// What greater inputs do to the outputs of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Monotonicity {
    /// A greater code of any input never makes a lesser output.
    Increasing,
    /// In each of two inputs, the other fixed, outputs only grow or only fall.
    Bilinear,
    /// Nothing is known.
    Unknown,
}

/// An operation by its name, whatever its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpKind {
    /// The name used in files.
    pub name: &'static str,
    /// What an accelerator that runs it adds up; `None` if only a host can run it.
    pub mac: Option<Mac>,
    /// What a host does for it; what it does for some attributes may be less ([`Graph::work`](crate::Graph::work)).
    pub effort: Effort,
}

/// What every operation says about itself.
pub(crate) trait Operator {
    /// The name used in files.
    const NAME: &'static str;

    /// What an accelerator that runs it adds up; `None` if only a host can run it. Whoever gives a kind here gives
    /// [`dot_products`](Self::dot_products) too.
    const MAC: Option<Mac> = None;

    /// What a host does for it, whatever its attributes: the most of what [`effort`](Self::effort) says.
    const EFFORT: Effort;

    /// How outputs follow inputs.
    const MONOTONICITY: Monotonicity = Monotonicity::Unknown;

    /// Checks the operands and gives the shape of the output.
    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError>;

    /// How it rounds, where that is among its attributes; whoever gives this gives
    /// [`set_requantize`](Self::set_requantize) too.
    fn requantize(&self) -> Option<Requantize> {
        None
    }

    /// Rounds otherwise from now on.
    fn set_requantize(&mut self, _requantize: Requantize) {}

    /// The dot products that it is made of, if an accumulator can run it.
    fn dot_products(&self, _operands: &Operands<'_>) -> Option<DotProducts> {
        None
    }

    /// The products of two operands that it adds up, whoever runs it; `None` if it multiplies nothing. An operation whose
    /// products are not always dot products of an accelerator gives its own.
    fn products(&self, operands: &Operands<'_>) -> Option<Products> {
        let dots = self.dot_products(operands).filter(|_| Self::MAC == Some(Mac::Weighted))?;
        Some(Products::of(&dots.window))
    }

    /// What a host does for it.
    fn effort(&self, _operands: &Operands<'_>) -> Effort {
        Self::EFFORT
    }

    /// The window that it slides over its first input, if it does.
    fn window(&self, operands: &Operands<'_>) -> Option<Window> {
        self.dot_products(operands).map(|dots| dots.window)
    }

    /// The requantizers of [`requantize`](Self::requantize) in the order of their use: one, one per output channel, or
    /// those of each input and the output.
    fn requantizers(&self, operands: &Operands<'_>) -> Vec<Requantizer> {
        match self.dot_products(operands).map(|dots| dots.finish) {
            Some(Finish::Requantize(stage)) => stage.requantizers(None).unwrap_or_default(),
            Some(Finish::Divide(Division::Scaled { requantizer, .. })) => vec![requantizer],
            Some(Finish::Divide(Division::Average { .. })) | None => Vec::new(),
        }
    }

    /// The exact output codes within the dtype: a narrower range is no concern of an operation. `inputs` are the codes of every input in order, constants included.
    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        self.dot_products(operands).map_or_else(Vec::new, |dots| dots.evaluate(inputs))
    }
}

/// The type of one operation's attributes, for those who look for that operation.
pub trait OpType: Into<Op> {
    /// The name used in files.
    const NAME: &'static str;

    /// The attributes, if `op` is this operation.
    fn of(op: &Op) -> Option<&Self>;
}

/// Writes the part of [`Operator`] that tells and changes how an operation rounds, from the attribute `requantize`.
macro_rules! requantized {
    () => {
        fn requantize(&self) -> Option<$crate::Requantize> {
            Some(self.requantize)
        }

        fn set_requantize(&mut self, requantize: $crate::Requantize) {
            self.requantize = requantize;
        }
    };
}

use requantized;

/// Registers the operations: file and type; behind `float` those on real values, behind `made` those that no file holds.
macro_rules! ops {
    ($($file:ident::$ty:ident,)* ; float: $($real:ident,)* ; made: $($made_file:ident::$made:ident,)*) => {
        $(mod $file; pub use $file::$ty;)*
        $(mod $made_file; pub use $made_file::$made;)*
        $(pub use float::$real;)*
        every_op! { $($ty,)* $($real,)* $($made,)* }

        impl Op {
            /// All operations that files hold, in the order of registration.
            pub const KINDS: &[OpKind] = &[$($ty::KIND,)* $($real::KIND,)*];
        }
    };
}

macro_rules! every_op {
    ($($ty:ident,)*) => {
        /// An operation with its attributes.
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[non_exhaustive]
        pub enum Op {
            $(#[doc = concat!("See [`", stringify!($ty), "`].")] $ty($ty),)*
        }

        $(impl From<$ty> for Op {
            fn from(op: $ty) -> Self { Self::$ty(op) }
        }

        impl OpType for $ty {
            const NAME: &'static str = <Self as Operator>::NAME;

            fn of(op: &Op) -> Option<&Self> {
                match op {
                    Op::$ty(op) => Some(op),
                    _ => None,
                }
            }
        }

        impl $ty {
            /// What there is to know of this operation whatever its attributes.
            pub const KIND: OpKind = OpKind {
                name: <Self as Operator>::NAME,
                mac: <Self as Operator>::MAC,
                effort: <Self as Operator>::EFFORT,
            };
        })*

        impl Op {
            /// What there is to know of this operation whatever its attributes.
            pub fn kind(&self) -> OpKind {
                match self { $(Self::$ty(_) => $ty::KIND,)* }
            }

            /// How outputs follow inputs.
            pub fn monotonicity(&self) -> Monotonicity {
                match self { $(Self::$ty(_) => $ty::MONOTONICITY,)* }
            }

            /// How results become codes, where that is among its attributes.
            pub fn requantize(&self) -> Option<Requantize> {
                match self { $(Self::$ty(op) => op.requantize(),)* }
            }

            /// The same operation that rounds otherwise; what has no such attribute stays as it is.
            pub fn with_requantize(mut self, requantize: Requantize) -> Self {
                match &mut self { $(Self::$ty(op) => op.set_requantize(requantize),)* }
                self
            }

            pub(crate) fn requantizers(&self, operands: &Operands<'_>) -> Vec<Requantizer> {
                match self { $(Self::$ty(op) => op.requantizers(operands),)* }
            }

            pub(crate) fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError> {
                match self { $(Self::$ty(op) => op.output_shape(operands),)* }
            }

            pub(crate) fn dot_products(&self, operands: &Operands<'_>) -> Option<DotProducts> {
                match self { $(Self::$ty(op) => op.dot_products(operands),)* }
            }

            pub(crate) fn products(&self, operands: &Operands<'_>) -> Option<Products> {
                match self { $(Self::$ty(op) => op.products(operands),)* }
            }

            pub(crate) fn effort(&self, operands: &Operands<'_>) -> Effort {
                match self { $(Self::$ty(op) => op.effort(operands),)* }
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
    transpose_conv2d::TransposeConv2d,
    fully_connected::FullyConnected,
    batch_matmul::BatchMatmul,
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
    quantize_float::QuantizeFloat,
    dynamic_quantization::DynamicQuantization,
    quantize_by::QuantizeBy,
    sub_zero_point::SubZeroPoint,
    dequantize::Dequantize,
    table::Table,
    qlinear_softmax::QLinearSoftmax,
    qlinear_add::QLinearAdd,
    qlinear_mul::QLinearMul,
    slice::Slice,
    gather::Gather,
    gather_nd::GatherNd,
    pack::Pack,
    tile::Tile,
    reverse::Reverse,
    mirror_pad::MirrorPad,
    space_to_depth::SpaceToDepth,
    depth_to_space::DepthToSpace,
    space_to_batch::SpaceToBatch,
    batch_to_space::BatchToSpace,
    resize_nearest::ResizeNearest,
    resize_bilinear::ResizeBilinear,
    maximum::Maximum,
    minimum::Minimum,
    reduce_max::ReduceMax,
    reduce_min::ReduceMin,
    arg_max::ArgMax,
    arg_min::ArgMin,
    cast::Cast,
    integer_binary::IntegerBinary,
    dilate::Dilate,
    sub::Sub,
    squared_difference::SquaredDifference,
    relu_n1_to_1::ReluN1To1,
    relu_0_to_1::Relu0To1,
    leaky_relu::LeakyRelu,
    prelu::Prelu,
    hard_swish::HardSwish,
    logistic::Logistic,
    tanh::Tanh,
    abs::Abs,
    neg::Neg,
    exp::Exp,
    rsqrt::Rsqrt,
    l2_normalization::L2Normalization,
    ;
    float: FloatConv2d, FloatMatMul, FloatUnary, FloatBinary, FloatAvgPool2d, FloatMaxPool2d, FloatMean, FloatSoftmax,
    FloatLayerNorm, FloatReduce, FloatResizeBilinear,
    ;
    made:
    composite::Composite,
}

impl Op {
    /// The name used in files.
    pub fn name(&self) -> &'static str {
        self.kind().name
    }
}
