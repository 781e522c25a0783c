//! The operations by name, with the attributes of each.

use guardbit_graph::ops::{
    Abs, Add, ArgMax, ArgMin, AvgPool2d, BatchMatmul, BatchToSpace, Cast, Concat, Conv2d, DepthToSpace,
    DepthwiseConv2d, Dequantize, Dilate, DynamicPart, DynamicQuantization, Exp, FloatAvgPool2d, FloatBinary,
    FloatBlockScale, FloatCast, FloatConv2d, FloatLayerNorm, FloatMatMul, FloatMaxPool2d, FloatMean,
    FloatReduce, FloatResizeBilinear, FloatSoftmax, FloatUnary, FullyConnected, Gather, GatherNd, HardSwish,
    IntegerBinary, IntegerPair, L2Normalization, LeakyRelu, Logistic, MaxPool2d, Maximum, Mean, Minimum,
    MirrorPad, Mul, Neg, Pack, Pad, Places, Prelu, QLinearAdd, QLinearMul, QLinearSoftmax, Quantize,
    QuantizeBy, QuantizeFloat, RealFunction, RealPair, RealReduction, ReduceMax, ReduceMin, Relu, Relu0To1,
    Relu6, ReluN1To1, Reshape, ResizeBilinear, ResizeNearest, Reverse, Rsqrt, Slice, Softmax, SpaceToBatch,
    SpaceToDepth, SquaredDifference, Sub, SubZeroPoint, Sum, Table, Tanh, Tile, Transpose, TransposeConv2d,
};
use guardbit_graph::{Activation, Arithmetic, DType, MultiplierRule, Op, Padding, Requantize};
use guardbit_num::{Rounding, Scheme};

use serde::Deserialize;

use super::error::Kind;
use super::file::OutputFile;
use guardbit_documents::Path;

use super::problem::Problem;
use super::values::PaddingFile;

/// Defines the type of a node, which holds the attributes of every operation.
///
/// The attributes of the node's operation are checked later, so that an error can contain the position.
macro_rules! attributes {
    ($($attribute:ident: $ty:ty,)*) => {
        #[derive(Debug, Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(super) struct NodeFile {
            pub op: String,
            pub inputs: Vec<Option<String>>,
            pub output: OutputFile,
            $($attribute: Option<$ty>,)*
        }

        impl NodeFile {
            /// Returns the names of the given attributes.
            fn given(&self) -> Vec<&'static str> {
                let mut given = Vec::new();
                $(if self.$attribute.is_some() { given.push(stringify!($attribute)); })*
                given
            }
        }
    };
}

attributes! {
    stride: [usize; 2],
    dilation: [usize; 2],
    kernel: [usize; 2],
    padding: PaddingFile,
    activation: String,
    requantize: String,
    multiplier: String,
    keep_num_dims: bool,
    axes: Vec<usize>,
    keep_dims: bool,
    beta: f32,
    shape: Vec<i64>,
    axis: usize,
    paddings: Vec<[usize; 2]>,
    value: i32,
    permutation: Vec<usize>,
    rounding: String,
    zero_point_first: bool,
    saturate: bool,
    function: String,
    parameters: Vec<f32>,
    count_padding: bool,
    epsilon: f32,
    begin: Vec<usize>,
    size: Vec<usize>,
    strides: Vec<i64>,
    batch_dims: usize,
    repeats: Vec<usize>,
    symmetric: bool,
    block_size: usize,
    block: Vec<usize>,
    crops: Vec<[usize; 2]>,
    align_corners: bool,
    half_pixel_centers: bool,
    in_float32: bool,
    alpha: f32,
    arithmetic: String,
    factor: [usize; 2],
    adj_x: bool,
    adj_y: bool,
    scale_dtype: String,
    element_dtype: String,
}

/// An operation of graph YAML.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Its name, which is the value of `op`.
    pub name: &'static str,
    /// The attributes that it accepts.
    pub attributes: &'static [&'static str],
    read: fn(&Attributes<'_>) -> Result<Op, Problem>,
}

/// Lists the operations: name, inputs, attributes, and how to build the operation from them.
macro_rules! operations {
    ($($name:ident, $inputs:literal, [$($attribute:ident),*], |$a:ident| $op:expr;)*) => {
        /// Every operation with its inputs and attributes.
        ///
        /// | `op` | inputs | attributes |
        /// |---|---|---|
        $(#[doc = concat!(
            "| `", stringify!($name), "` | ", $inputs, " | ", $("`", stringify!($attribute), "` ",)* "|"
        )])*
        pub const OPERATIONS: &[Operation] = &[$(Operation {
            name: stringify!($name),
            attributes: &[$(stringify!($attribute)),*],
            read: |$a| Ok(Op::from($op)),
        }),*];
    };
}

/// Builds a convolution of type `$ty`.
macro_rules! convolution {
    ($a:ident, $ty:ident) => {
        $ty {
            stride: $a.node.stride.unwrap_or([1, 1]),
            dilation: $a.node.dilation.unwrap_or([1, 1]),
            padding: $a.padding()?,
            activation: $a.activation()?,
            requantize: $a.requantize()?,
        }
    };
}

/// Builds a pool of type `$ty`.
macro_rules! pool {
    ($a:ident, $ty:ident) => {
        $ty {
            kernel: $a.required("kernel", $a.node.kernel)?,
            stride: $a.node.stride.unwrap_or([1, 1]),
            padding: $a.padding()?,
            activation: $a.activation()?,
        }
    };
}

/// Builds a reduction of type `$ty`.
macro_rules! reduction {
    ($a:ident, $ty:ident) => {
        $ty {
            axes: $a.required("axes", $a.node.axes.clone())?,
            keep_dims: $a.node.keep_dims.unwrap_or(false),
            requantize: $a.requantize()?,
        }
    };
}

/// Builds a resize of type `$ty`.
macro_rules! resize {
    ($a:ident, $ty:ident $(, $more:ident)?) => {
        $ty {
            size: $a.picture()?,
            align_corners: $a.node.align_corners.unwrap_or(false),
            half_pixel_centers: $a.node.half_pixel_centers.unwrap_or(false),
            $($more: $a.node.$more.unwrap_or(false),)?
        }
    };
}

/// Builds an extreme along some axes, of type `$ty`.
macro_rules! extreme {
    ($a:ident, $ty:ident) => {
        $ty {
            axes: $a.required("axes", $a.node.axes.clone())?,
            keep_dims: $a.node.keep_dims.unwrap_or(false),
        }
    };
}

/// Builds the index of an extreme, of type `$ty`.
macro_rules! place_of_extreme {
    ($a:ident, $ty:ident) => {
        $ty { axis: $a.required("axis", $a.node.axis)?, keep_dims: $a.node.keep_dims.unwrap_or(false) }
    };
}

operations! {
    conv2d, "x, weights `[o, kh, kw, c/groups]`, bias?",
        [stride, dilation, padding, activation, requantize, multiplier], |a| convolution!(a, Conv2d);
    depthwise_conv2d, "x, weights `[1, kh, kw, c*m]`, bias?",
        [stride, dilation, padding, activation, requantize, multiplier], |a| convolution!(a, DepthwiseConv2d);
    transpose_conv2d, "x (see `dilate`), weights `[o, kh, kw, c]`, bias?", [padding, activation, requantize, multiplier],
        |a| TransposeConv2d {
            padding: a.padding()?,
            activation: a.activation()?,
            requantize: a.requantize()?,
        };
    fully_connected, "x, weights `[units, k]`, bias?", [keep_num_dims, activation, requantize, multiplier],
        |a| FullyConnected {
            keep_num_dims: a.node.keep_num_dims.unwrap_or(false),
            activation: a.activation()?,
            requantize: a.requantize()?,
        };
    batch_matmul, "a, b", [adj_x, adj_y, requantize, multiplier], |a| BatchMatmul {
        adj_x: a.node.adj_x.unwrap_or(false),
        adj_y: a.node.adj_y.unwrap_or(false),
        requantize: a.requantize()?,
    };
    add, "a, b", [activation, requantize], |a| Add { activation: a.activation()?, scheme: a.scheme()? };
    mul, "a, b", [activation, requantize, multiplier],
        |a| Mul { activation: a.activation()?, requantize: a.requantize()? };
    avg_pool2d, "x", [kernel, stride, padding, activation], |a| pool!(a, AvgPool2d);
    max_pool2d, "x", [kernel, stride, padding, activation], |a| pool!(a, MaxPool2d);
    mean, "x", [axes, keep_dims, requantize, multiplier], |a| reduction!(a, Mean);
    sum, "x", [axes, keep_dims, requantize, multiplier], |a| reduction!(a, Sum);
    relu, "x", [requantize, multiplier], |a| Relu { requantize: a.requantize()? };
    relu6, "x", [requantize, multiplier], |a| Relu6 { requantize: a.requantize()? };
    softmax, "x", [beta], |a| Softmax { beta: a.node.beta.unwrap_or(1.0) };
    reshape, "x", [shape], |a| Reshape { shape: a.required("shape", a.node.shape.clone())? };
    concat, "one or more", [axis, requantize, multiplier],
        |a| Concat { axis: a.required("axis", a.node.axis)?, requantize: a.requantize()? };
    pad, "x", [paddings, value],
        |a| Pad { paddings: a.required("paddings", a.node.paddings.clone())?, value: a.node.value };
    transpose, "x", [permutation],
        |a| Transpose { permutation: a.required("permutation", a.node.permutation.clone())? };
    quantize, "x", [requantize, multiplier], |a| Quantize { requantize: a.requantize()? };
    quantize_float, "x", [rounding, zero_point_first], |a| QuantizeFloat {
        rounding: a.rounding()?,
        zero_point_first: a.node.zero_point_first.unwrap_or(false),
    };
    dynamic_quantization, "x (float32)", [function],
        |a| DynamicQuantization { part: a.function(DynamicPart::ALL, |part| part.name())? };
    quantize_by, "x (float32), scale, zero point", [], |_a| QuantizeBy {};
    sub_zero_point, "x, zero point", [], |_a| SubZeroPoint {};
    dequantize, "x", [], |_a| Dequantize {};
    table, "x, table", [], |_a| Table {};
    qlinear_softmax, "x", [axis], |a| QLinearSoftmax { axis: a.required("axis", a.node.axis)? };
    qlinear_add, "a, b", [activation], |a| QLinearAdd { activation: a.activation()? };
    qlinear_mul, "a, b", [activation], |a| QLinearMul { activation: a.activation()? };
    float_conv2d, "x, weights `[o, kh, kw, c/groups]`, bias?", [stride, dilation, padding], |a| FloatConv2d {
        stride: a.node.stride.unwrap_or([1, 1]),
        dilation: a.node.dilation.unwrap_or([1, 1]),
        padding: a.padding()?,
    };
    float_matmul, "a `[.., m, k]`, b `[.., k, n]`", [], |_a| FloatMatMul {};
    float_unary, "x", [function, parameters], |a| FloatUnary {
        function: a.function(RealFunction::ALL, RealFunction::name)?,
        parameters: a.node.parameters.clone().unwrap_or_default(),
    };
    float_binary, "a, b", [function], |a| FloatBinary { function: a.function(RealPair::ALL, RealPair::name)? };
    float_cast, "x", [saturate], |a| FloatCast { saturate: a.node.saturate.unwrap_or(false) };
    float_block_scale, "x (float32)", [axis, block_size, scale_dtype, element_dtype], |a| FloatBlockScale {
        axis: a.required("axis", a.node.axis)?,
        block_size: a.required("block_size", a.node.block_size)?,
        scale_dtype: a.dtype("scale_dtype", a.node.scale_dtype.as_ref())?,
        element_dtype: a.dtype("element_dtype", a.node.element_dtype.as_ref())?,
    };
    float_avg_pool2d, "x", [kernel, stride, padding, count_padding], |a| FloatAvgPool2d {
        kernel: a.required("kernel", a.node.kernel)?,
        stride: a.node.stride.unwrap_or([1, 1]),
        padding: a.padding()?,
        count_padding: a.node.count_padding.unwrap_or(false),
    };
    float_max_pool2d, "x", [kernel, stride, padding], |a| FloatMaxPool2d {
        kernel: a.required("kernel", a.node.kernel)?,
        stride: a.node.stride.unwrap_or([1, 1]),
        padding: a.padding()?,
    };
    float_mean, "x", [axes, keep_dims], |a| FloatMean {
        axes: a.required("axes", a.node.axes.clone())?,
        keep_dims: a.node.keep_dims.unwrap_or(false),
    };
    float_reduce, "x", [function, axes, keep_dims], |a| FloatReduce {
        function: a.function(RealReduction::ALL, RealReduction::name)?,
        axes: a.required("axes", a.node.axes.clone())?,
        keep_dims: a.node.keep_dims.unwrap_or(false),
    };
    float_resize_bilinear, "x", [size, function, parameters], |a| FloatResizeBilinear {
        size: a.picture()?,
        places: a.function(Places::ALL, Places::name)?,
        scales: a.scales()?,
    };
    float_softmax, "x", [axis], |a| FloatSoftmax { axis: a.required("axis", a.node.axis)? };
    float_layer_norm, "x, scale, bias?", [axis, epsilon], |a| FloatLayerNorm {
        axis: a.required("axis", a.node.axis)?,
        epsilon: a.node.epsilon.unwrap_or(1e-5),
    };
    slice, "x", [begin, size, strides, shape], |a| a.slice()?;
    gather, "x, indices (constant int32)", [axis, batch_dims], |a| Gather {
        axis: a.required("axis", a.node.axis)?,
        batch_dims: a.node.batch_dims.unwrap_or(0),
    };
    gather_nd, "x, indices (int32)", [], |_a| GatherNd;
    pack, "one or more", [axis], |a| Pack { axis: a.required("axis", a.node.axis)? };
    tile, "x", [repeats], |a| Tile { repeats: a.required("repeats", a.node.repeats.clone())? };
    reverse, "x", [axes], |a| Reverse { axes: a.required("axes", a.node.axes.clone())? };
    mirror_pad, "x", [paddings, symmetric], |a| MirrorPad {
        paddings: a.required("paddings", a.node.paddings.clone())?,
        symmetric: a.node.symmetric.unwrap_or(false),
    };
    space_to_depth, "x", [block_size],
        |a| SpaceToDepth { block_size: a.required("block_size", a.node.block_size)? };
    depth_to_space, "x", [block_size],
        |a| DepthToSpace { block_size: a.required("block_size", a.node.block_size)? };
    space_to_batch, "x", [block, paddings], |a| SpaceToBatch {
        block: a.required("block", a.node.block.clone())?,
        paddings: a.required("paddings", a.node.paddings.clone())?,
    };
    batch_to_space, "x", [block, crops], |a| BatchToSpace {
        block: a.required("block", a.node.block.clone())?,
        crops: a.required("crops", a.node.crops.clone())?,
    };
    resize_nearest, "x", [size, align_corners, half_pixel_centers], |a| resize!(a, ResizeNearest);
    resize_bilinear, "x", [size, align_corners, half_pixel_centers, in_float32],
        |a| resize!(a, ResizeBilinear, in_float32);
    maximum, "a, b", [], |_a| Maximum;
    minimum, "a, b", [], |_a| Minimum;
    reduce_max, "x", [axes, keep_dims], |a| extreme!(a, ReduceMax);
    reduce_min, "x", [axes, keep_dims], |a| extreme!(a, ReduceMin);
    arg_max, "x", [axis, keep_dims], |a| place_of_extreme!(a, ArgMax);
    arg_min, "x", [axis, keep_dims], |a| place_of_extreme!(a, ArgMin);
    cast, "x", [], |_a| Cast;
    integer_binary, "a, b", [function],
        |a| IntegerBinary { function: a.function(IntegerPair::ALL, IntegerPair::name)? };
    dilate, "x", [factor], |a| Dilate { factor: a.required("factor", a.node.factor)? };
    sub, "a, b", [activation, requantize], |a| Sub { activation: a.activation()?, scheme: a.scheme()? };
    squared_difference, "a, b", [requantize], |a| SquaredDifference { scheme: a.scheme()? };
    relu_n1_to_1, "x", [requantize, multiplier], |a| ReluN1To1 { requantize: a.requantize()? };
    relu_0_to_1, "x", [requantize, multiplier], |a| Relu0To1 { requantize: a.requantize()? };
    leaky_relu, "x", [alpha, requantize, multiplier],
        |a| LeakyRelu { alpha: a.required("alpha", a.node.alpha)?, requantize: a.requantize()? };
    prelu, "x, slopes", [requantize, multiplier], |a| Prelu { requantize: a.requantize()? };
    hard_swish, "x", [], |_a| HardSwish;
    logistic, "x", [arithmetic], |a| Logistic { arithmetic: a.arithmetic()? };
    tanh, "x", [arithmetic], |a| Tanh { arithmetic: a.arithmetic()? };
    abs, "x", [requantize, multiplier], |a| Abs { requantize: a.requantize()? };
    neg, "x", [], |_a| Neg;
    exp, "x", [], |_a| Exp;
    rsqrt, "x", [], |_a| Rsqrt;
    l2_normalization, "x", [], |_a| L2Normalization;
}

/// Returns the operation of a node at `path` with its attributes.
pub(super) fn read(node: &NodeFile, path: &Path) -> Result<Op, Problem> {
    let Some(operation) = OPERATIONS.iter().find(|operation| operation.name == node.op) else {
        let names = OPERATIONS.iter().map(|operation| operation.name);
        return Err(Problem::not_one_of(path.join("op"), &node.op, names));
    };
    let Operation { name, attributes, read } = operation;
    if let Some(other) = node.given().into_iter().find(|given| !attributes.contains(given)) {
        let help = match attributes {
            [] => format!("{name} takes no attributes"),
            _ => format!("{name} takes {}", attributes.join(", ")),
        };
        let message = format!("is not an attribute of {name}");
        return Err(Problem::new(Kind::UnknownKey, path.join(other), message).help(help));
    }
    read(&Attributes { node, path })
}

/// The attributes of one node.
struct Attributes<'a> {
    node: &'a NodeFile,
    path: &'a Path,
}

impl Attributes<'_> {
    fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, Problem> {
        value.ok_or_else(|| Problem::missing(self.path, key, &self.node.op))
    }

    /// Returns rows and columns of an image.
    fn picture(&self) -> Result<[usize; 2], Problem> {
        let size = self.required("size", self.node.size.clone())?;
        <[usize; 2]>::try_from(size).map_err(|size| {
            let message = format!("has {} sizes, {} needs 2: rows and columns", size.len(), self.node.op);
            Problem::new(Kind::Value, self.path.join("size"), message)
        })
    }

    /// Returns the scales of rows and columns of an image, if they are given.
    fn scales(&self) -> Result<Option<[f32; 2]>, Problem> {
        let scales = self.node.parameters.clone().map(<[f32; 2]>::try_from).transpose();
        scales.map_err(|scales| {
            let message = format!("has {} scales, {} needs 2: rows and columns", scales.len(), self.node.op);
            Problem::new(Kind::Value, self.path.join("parameters"), message)
        })
    }

    fn slice(&self) -> Result<Slice, Problem> {
        let size = self.required("size", self.node.size.clone())?;
        let shape = self.node.shape.clone().map(|shape| {
            let negative =
                |size: i64| usize::try_from(size).map_err(|_| format!("contains the negative size {size}"));
            let shape = shape.into_iter().map(negative).collect::<Result<Vec<_>, _>>();
            shape.map_err(|message| Problem::new(Kind::Value, self.path.join("shape"), message))
        });
        Ok(Slice {
            begin: self.node.begin.clone().unwrap_or_else(|| vec![0; size.len()]),
            strides: self.node.strides.clone().unwrap_or_else(|| vec![1; size.len()]),
            shape: shape.transpose()?,
            size,
        })
    }

    fn padding(&self) -> Result<Padding, Problem> {
        match &self.node.padding {
            None => Ok(Padding::Valid),
            Some(PaddingFile::Cells { rows, cols }) => Ok(Padding::Explicit { rows: *rows, cols: *cols }),
            Some(PaddingFile::Rule(rule)) => match rule.as_str() {
                "same" => Ok(Padding::Same),
                "valid" => Ok(Padding::Valid),
                other => {
                    let allowed = ["same", "valid", "{rows: [before, after], cols: [before, after]}"];
                    Err(Problem::not_one_of(self.path.join("padding"), other, allowed))
                }
            },
        }
    }

    fn activation(&self) -> Result<Activation, Problem> {
        let Some(name) = &self.node.activation else { return Ok(Activation::None) };
        let found = Activation::ALL.into_iter().find(|activation| activation.name() == name);
        found.ok_or_else(|| {
            Problem::not_one_of(self.path.join("activation"), name, Activation::ALL.map(Activation::name))
        })
    }

    fn arithmetic(&self) -> Result<Arithmetic, Problem> {
        let Some(name) = &self.node.arithmetic else { return Ok(Arithmetic::Table) };
        let found = Arithmetic::ALL.into_iter().find(|arithmetic| arithmetic.name() == name);
        found.ok_or_else(|| {
            Problem::not_one_of(self.path.join("arithmetic"), name, Arithmetic::ALL.map(Arithmetic::name))
        })
    }

    fn scheme(&self) -> Result<Scheme, Problem> {
        let Some(name) = &self.node.requantize else { return Ok(Scheme::Double) };
        let names = Scheme::ALL.iter().map(|scheme| scheme.name());
        name.parse().map_err(|_| Problem::not_one_of(self.path.join("requantize"), name, names))
    }

    /// Returns the named function of real values.
    fn function<F: Copy>(&self, all: &[F], name_of: fn(F) -> &'static str) -> Result<F, Problem> {
        let name = self.required("function", self.node.function.as_ref())?;
        let found = all.iter().copied().find(|&function| name_of(function) == name);
        let names = all.iter().map(|&function| name_of(function));
        found.ok_or_else(|| Problem::not_one_of(self.path.join("function"), name, names))
    }

    fn dtype(&self, attribute: &'static str, name: Option<&String>) -> Result<DType, Problem> {
        let name = self.required(attribute, name)?;
        name.parse()
            .map_err(|_| Problem::not_one_of(self.path.join(attribute), name, DType::ALL.map(DType::name)))
    }

    fn rounding(&self) -> Result<Rounding, Problem> {
        let Some(name) = &self.node.rounding else { return Ok(Rounding::HalfEven) };
        name.parse().map_err(|_| {
            Problem::not_one_of(self.path.join("rounding"), name, Rounding::ALL.map(Rounding::name))
        })
    }

    fn requantize(&self) -> Result<Requantize, Problem> {
        let scheme = self.scheme()?;
        let Some(name) = &self.node.multiplier else {
            let in_float32 = scheme.forms_multiplier_in_float32();
            let rule = if in_float32 { MultiplierRule::Float32 } else { MultiplierRule::Float64 };
            return Ok(Requantize { scheme, rule });
        };
        let rules = MultiplierRule::ALL;
        match rules.into_iter().find(|rule| rule.name() == name) {
            Some(rule) => Ok(Requantize { scheme, rule }),
            None => {
                let names = rules.map(MultiplierRule::name);
                Err(Problem::not_one_of(self.path.join("multiplier"), name, names))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_operation_of_the_graph_can_be_written() {
        let names: BTreeSet<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
        assert_eq!(names, Op::KINDS.iter().map(|kind| kind.name).collect());
    }
}
