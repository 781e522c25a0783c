//! The operations, one file each.
//!
//! To add an operation, write its file here, or in `float` for an operation on real values, with its attributes and
//! `Operator` (shape rule, exact integer meaning, what an accelerator can do with it). Add its `mod` line and its line in `ops!`. Lists
//! of operations elsewhere (`offload` and its checks, short names, ranges, fuzzing) follow from that line.

mod abs;
mod add;
mod additive;
mod arg_max;
mod arg_min;
mod avg_pool2d;
mod axes;
mod batch_matmul;
mod batch_to_space;
mod cast;
mod composite;
mod concat;
mod conv2d;
mod convolution;
mod depth_to_space;
mod depthwise_conv2d;
mod dequantize;
mod dilate;
mod dynamic_quantization;
mod elementwise;
mod exp;
mod float;
mod fully_connected;
mod gather;
mod gather_nd;
mod hard_swish;
mod integer_binary;
mod l2_normalization;
mod leaky_relu;
mod logistic;
mod max_pool2d;
mod maximum;
mod mean;
mod minimum;
mod mirror_pad;
mod mul;
mod neg;
mod pack;
mod pad;
mod prelu;
mod qlinear_add;
mod qlinear_mul;
mod qlinear_softmax;
mod quantize;
mod quantize_by;
mod quantize_float;
mod reduce_max;
mod reduce_min;
mod relu;
mod relu6;
mod relu_0_to_1;
mod relu_n1_to_1;
mod reshape;
mod resize_bilinear;
mod resize_nearest;
mod reverse;
mod rsqrt;
mod slice;
mod softmax;
mod space_to_batch;
mod space_to_depth;
mod squared_difference;
mod sub;
mod sub_zero_point;
mod sum;
mod table;
mod tanh;
mod tile;
mod transpose;
mod transpose_conv2d;
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
use crate::{Activation, DotProducts, Effort, GraphError, Products, Requantize, Window};

/// The sums that an accelerator computes for an operation that it can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mac {
    /// Products with constant weights, optionally with a bias. Accelerators run them by default.
    Weighted,
    /// Codes without weights, as if all weights were 1. Accelerators run them only if configured to.
    Unweighted,
}

/// The effect of greater inputs on the outputs of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Monotonicity {
    /// A greater code of an input never gives a lesser output.
    Increasing,
    /// In each of two inputs, with the other fixed, outputs either only increase or only decrease.
    Bilinear,
    /// Unknown.
    Unknown,
}

/// The properties of an operation that do not depend on its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpKind {
    /// The name used in files.
    pub name: &'static str,
    /// The sums of an accelerator that runs it, or `None` if only a host can run it.
    pub mac: Option<Mac>,
    /// The effort of a host. For some attributes it may be less ([`Graph::work`](crate::Graph::work)).
    pub effort: Effort,
}

/// The interface that every operation implements.
pub(crate) trait Operator {
    /// The name used in files.
    const NAME: &'static str;

    /// The sums of an accelerator that runs it, or `None` if only a host can run it.
    ///
    /// An operation that sets this also implements [`dot_products`](Self::dot_products).
    const MAC: Option<Mac> = None;

    /// The greatest effort of a host over all attributes: an upper bound of [`effort`](Self::effort).
    const EFFORT: Effort;

    /// The dependence of outputs on inputs.
    const MONOTONICITY: Monotonicity = Monotonicity::Unknown;

    /// Checks the operands and returns the shape of the output.
    fn output_shape(&self, operands: &Operands<'_>) -> Result<Vec<usize>, GraphError>;

    /// Returns the requantization if the attributes contain it.
    ///
    /// An operation that implements this also implements [`set_requantize`](Self::set_requantize).
    fn requantize(&self) -> Option<Requantize> {
        None
    }

    /// Replaces the requantization.
    fn set_requantize(&mut self, _requantize: Requantize) {}

    /// Returns the fused activation.
    fn activation(&self) -> Activation {
        Activation::None
    }

    /// Returns its dot products, or `None` if an accumulator cannot run it.
    fn dot_products(&self, _operands: &Operands<'_>) -> Option<DotProducts> {
        None
    }

    /// Returns the products of two operands that it adds up, or `None` if it multiplies nothing.
    ///
    /// An operation whose products are not always dot products of an accelerator overrides this.
    fn products(&self, operands: &Operands<'_>) -> Option<Products> {
        let dots = self.dot_products(operands).filter(|_| Self::MAC == Some(Mac::Weighted))?;
        Some(Products::of(&dots.window))
    }

    /// Returns the effort of a host.
    fn effort(&self, _operands: &Operands<'_>) -> Effort {
        Self::EFFORT
    }

    /// Returns the window that it slides over its first input, if it has one.
    fn window(&self, operands: &Operands<'_>) -> Option<Window> {
        self.dot_products(operands).map(|dots| dots.window)
    }

    /// Returns the requantizers in the order of their use: one, one per output channel, or those of each input and
    /// the output.
    fn requantizers(&self, operands: &Operands<'_>) -> Vec<Requantizer> {
        match self.dot_products(operands).map(|dots| dots.finish) {
            Some(Finish::Requantize(stage)) => stage.requantizers(None).unwrap_or_default(),
            Some(Finish::Divide(Division::Scaled { requantizer, .. })) => vec![requantizer],
            Some(Finish::Divide(Division::Average { .. })) | None => Vec::new(),
        }
    }

    /// Returns the exact output codes within the dtype. The caller clamps them to a narrower range.
    ///
    /// `inputs` are the codes of every input in order, constants included.
    fn evaluate(&self, operands: &Operands<'_>, inputs: &[&[i32]]) -> Vec<i32> {
        self.dot_products(operands).map_or_else(Vec::new, |dots| dots.evaluate(inputs))
    }
}

/// The type of the attributes of one operation, for code that looks for this operation.
pub trait OpType: Into<Op> {
    /// The name used in files.
    const NAME: &'static str;

    /// Returns the attributes if `op` is this operation.
    fn of(op: &Op) -> Option<&Self>;
}

/// Implements the part of [`Operator`] that returns and replaces the attribute `requantize`.
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

/// Implements the part of [`Operator`] that returns the attribute `activation`.
macro_rules! activated {
    () => {
        fn activation(&self) -> $crate::Activation {
            self.activation
        }
    };
}

use activated;

/// Registers the operations by file and type. Operations on real values follow `float`, and operations that files
/// never contain follow `made`.
macro_rules! ops {
    ($($file:ident::$ty:ident,)* ; float: $($real:ident,)* ; made: $($made_file:ident::$made:ident,)*) => {
        $(pub use $file::$ty;)*
        $(pub use $made_file::$made;)*
        $(pub use float::$real;)*
        every_op! { $($ty,)* $($real,)* $($made,)* }

        impl Op {
            /// All operations that files can contain, in the order of registration.
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
            /// The properties of this operation that do not depend on its attributes.
            pub const KIND: OpKind = OpKind {
                name: <Self as Operator>::NAME,
                mac: <Self as Operator>::MAC,
                effort: <Self as Operator>::EFFORT,
            };
        })*

        impl Op {
            /// Returns the properties of this operation that do not depend on its attributes.
            pub fn kind(&self) -> OpKind {
                match self { $(Self::$ty(_) => $ty::KIND,)* }
            }

            /// Returns the dependence of outputs on inputs.
            pub fn monotonicity(&self) -> Monotonicity {
                match self { $(Self::$ty(_) => $ty::MONOTONICITY,)* }
            }

            /// Returns the requantization if the attributes contain it.
            pub fn requantize(&self) -> Option<Requantize> {
                match self { $(Self::$ty(op) => op.requantize(),)* }
            }

            /// Returns the operation with another requantization. An operation without this attribute stays
            /// unchanged.
            pub fn with_requantize(mut self, requantize: Requantize) -> Self {
                match &mut self { $(Self::$ty(op) => op.set_requantize(requantize),)* }
                self
            }

            /// Returns the fused activation.
            pub fn activation(&self) -> Activation {
                match self { $(Self::$ty(op) => op.activation(),)* }
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
    float: FloatConv2d, FloatMatMul, FloatUnary, FloatBinary, FloatAvgPool2d, FloatMaxPool2d, FloatMean, FloatSoftmax, FloatBlockScale,
    FloatLayerNorm, FloatReduce, FloatResizeBilinear, FloatCast,
    ;
    made:
    composite::Composite,
}

impl Op {
    /// Returns the name used in files.
    pub fn name(&self) -> &'static str {
        self.kind().name
    }
}
