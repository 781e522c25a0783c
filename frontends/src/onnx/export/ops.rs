//! The ONNX operators of all operations.

use guardbit_graph::ops::{FloatUnary, RealPair, RealReduction};
use guardbit_graph::{Activation, DType, NodeId, Op, TensorId};
use guardbit_num::Scheme;

use super::codes::Made;
use super::tensors::element_of;
use super::{ExportError, Order, Writer, block_scale, float, floats, int, layout, pools, table, weighted};

pub(super) fn write(writer: &mut Writer<'_>, id: NodeId) -> Result<(), ExportError> {
    let op = writer.graph.node(id).op.clone();
    match &op {
        // The whole quantizer or dequantizer is written where it ends, or where its values are read.
        Op::FloatBinary(_) | Op::FloatCast(_) if floats::is_part(writer, id) => Ok(()),
        Op::Conv2d(conv) => weighted::convolution(writer, id, conv.padding, conv.requantize, conv.activation),
        Op::DepthwiseConv2d(conv) => {
            weighted::convolution(writer, id, conv.padding, conv.requantize, conv.activation)
        }
        Op::FullyConnected(dense) => weighted::fully_connected(writer, id, dense),
        Op::BatchMatmul(product) => weighted::batch_matmul(writer, id, product),
        Op::QLinearAdd(add) => pair(writer, id, "Add", Kind::Codes(add.activation)),
        Op::QLinearMul(mul) => pair(writer, id, "Mul", Kind::Codes(mul.activation)),
        Op::QLinearSoftmax(softmax) => softmax_of_codes(writer, id, softmax.axis),
        Op::Table(_) => table::table(writer, id),
        Op::Mean(mean) => pools::mean(writer, id, mean),
        Op::MaxPool2d(pool) => pools::max(writer, id, pool.padding, pool.activation),
        Op::Reshape(_) => layout::reshape(writer, id),
        Op::Transpose(transpose) => layout::transpose(writer, id, &transpose.permutation),
        Op::Pad(pad) => layout::pad(writer, id, pad),
        Op::Concat(concat) => layout::concat(writer, id, concat),
        Op::Slice(slice) => layout::slice(writer, id, slice),
        Op::Gather(gather) => layout::gather(writer, id, gather),
        // The real values are written where they are read.
        Op::Dequantize(_) => Ok(()),
        Op::QuantizeFloat(quantize) => pools::quantize(writer, id, quantize),
        Op::FloatConv2d(conv) => weighted::float_convolution(writer, id, conv.padding),
        Op::FloatUnary(unary) => function(writer, id, unary),
        Op::FloatBinary(binary) => pair(writer, id, pair_name(binary.function), Kind::Reals),
        Op::FloatCast(cast) => converted(writer, id, cast.saturate),
        Op::FloatMatMul(_) => simple(writer, id, "MatMul", Vec::new()),
        Op::FloatSoftmax(softmax) => simple(writer, id, "Softmax", vec![int("axis", softmax.axis as i64)]),
        Op::FloatBlockScale(scale) => block_scale::write(writer, id, scale),
        Op::FloatReduce(reduce) => {
            pools::reduced(writer, id, reduction_name(reduce.function), &reduce.axes, reduce.keep_dims)
        }
        Op::ReduceMax(reduce) => pools::reduced(writer, id, "ReduceMax", &reduce.axes, reduce.keep_dims),
        Op::ReduceMin(reduce) => pools::reduced(writer, id, "ReduceMin", &reduce.axes, reduce.keep_dims),
        Op::ResizeNearest(resize) => layout::resize_nearest(writer, id, resize),
        Op::FloatResizeBilinear(resize) => layout::resize_bilinear(writer, id, resize),
        Op::Tile(tile) => layout::tile(writer, id, &tile.repeats),
        Op::DepthToSpace(blocks) => layout::blocks(writer, id, "DepthToSpace", blocks.block_size),
        Op::SpaceToDepth(blocks) => layout::blocks(writer, id, "SpaceToDepth", blocks.block_size),
        Op::Dilate(dilate) => layout::dilate(writer, id, dilate.factor),
        Op::MirrorPad(pad) => layout::mirror_pad(writer, id, pad),
        Op::FloatMean(mean) => pools::float_mean(writer, id, mean),
        Op::FloatLayerNorm(norm) => {
            let attributes = vec![int("axis", norm.axis as i64), float("epsilon", norm.epsilon)];
            simple(writer, id, "LayerNormalization", attributes)
        }
        Op::FloatAvgPool2d(pool) => pools::average(writer, id, pool),
        Op::FloatMaxPool2d(pool) => pools::max(writer, id, pool.padding, Activation::None),
        other => Err(refused(
            writer,
            id,
            format!(
                "has no counterpart in QDQ: {} is not one of ONNX Runtime's quantized operators",
                other.name()
            ),
        )),
    }
}

fn softmax_of_codes(writer: &mut Writer<'_>, id: NodeId, axis: usize) -> Result<(), ExportError> {
    let input = operand(writer, id, 0)?;
    one_type(writer, id, &[input])?;
    let (input, name) = (writer.operand(input, Order::Own)?, writer.result_name(id));
    writer.node("Softmax", vec![input], &name, vec![int("axis", axis as i64)]);
    writer.result(id, Made::Fused(&name, Activation::None), Order::Own)
}

/// Writes a function of single real values, in the order in which its input exists.
fn function(writer: &mut Writer<'_>, id: NodeId, unary: &FloatUnary) -> Result<(), ExportError> {
    let input = operand(writer, id, 0)?;
    let order = available(writer, input);
    let (x, name) = (writer.real(input, order)?, writer.result_name(id));
    table::operator(writer, id, unary.function, &unary.parameters, x, &name)?;
    writer.result(id, Made::Real(&name), order)
}

/// Writes a conversion between floating-point types, in the order in which its input exists.
fn converted(writer: &mut Writer<'_>, id: NodeId, saturate: bool) -> Result<(), ExportError> {
    if floats::quantize(writer, id, saturate)? {
        return Ok(());
    }
    let input = operand(writer, id, 0)?;
    let dtype = writer.graph.tensor(writer.graph.node(id).output).ty.dtype;
    if dtype == DType::Float8E8M0 {
        return Err(refused(
            writer,
            id,
            "rounds scales to nearest, which ONNX's Cast to float8e8m0 does not".into(),
        ));
    }
    let order = available(writer, input);
    let (x, name) = (writer.real(input, order)?, writer.result_name(id));
    let mut attributes = vec![int("to", element_of(dtype).0.into())];
    // ONNX Runtime refuses the attribute for wider types.
    if dtype.bits() < 16 {
        attributes.push(int("saturate", saturate.into()));
    }
    writer.node("Cast", vec![x], &name, attributes);
    writer.result(id, Made::Real(&name), order)
}

pub(super) fn refused(writer: &Writer<'_>, id: NodeId, problem: String) -> ExportError {
    let node = writer.graph.node(id);
    ExportError::Node { op: node.op.name(), node: writer.graph.node_name(id).into(), problem }
}

/// Rejects a scheme that ONNX Runtime does not use.
pub(super) fn even(writer: &Writer<'_>, id: NodeId, scheme: Scheme) -> Result<(), ExportError> {
    if scheme == Scheme::Even {
        return Ok(());
    }
    let problem = format!("rounds with the scheme `{scheme}`; ONNX Runtime uses `{}`", Scheme::Even);
    Err(refused(writer, id, problem))
}

pub(super) fn operand(writer: &Writer<'_>, id: NodeId, index: usize) -> Result<TensorId, ExportError> {
    let found = writer.graph.node(id).inputs.get(index).copied().flatten();
    found.ok_or_else(|| refused(writer, id, format!("lacks input {index}")))
}

/// Returns an order in which a tensor already exists.
pub(super) fn available(writer: &Writer<'_>, id: TensorId) -> Order {
    let id = writer.dequantized(id).unwrap_or(id);
    let id = floats::codes(writer, id).unwrap_or(id);
    let has = |order| writer.codes.contains_key(&(id, order)) || writer.reals.contains_key(&(id, order));
    if has(Order::ChannelsFirst) && !has(Order::Own) { Order::ChannelsFirst } else { Order::Own }
}

/// Writes an operator on real values.
fn simple(
    writer: &mut Writer<'_>,
    id: NodeId,
    op: &str,
    attributes: Vec<crate::onnx::parse::proto::Attribute>,
) -> Result<(), ExportError> {
    let inputs: Vec<TensorId> = writer.graph.node(id).inputs.iter().flatten().copied().collect();
    let reals = inputs.into_iter().map(|input| writer.real(input, Order::Own)).collect::<Result<_, _>>()?;
    let name = writer.result_name(id);
    writer.node(op, reals, &name, attributes);
    writer.result(id, Made::Real(&name), Order::Own)
}

/// Checks that a kernel for codes of 8 bits reads and computes codes of one type.
pub(super) fn one_type(writer: &Writer<'_>, id: NodeId, inputs: &[TensorId]) -> Result<(), ExportError> {
    let tensors = inputs.iter().chain([&writer.graph.node(id).output]);
    let dtypes: Vec<_> = tensors.map(|&id| writer.graph.tensor(id).ty.dtype).collect();
    let fits = |dtype: &DType| dtype.bits() <= 8 && dtype.is_signed() == dtypes[0].is_signed();
    if dtypes.iter().all(fits) {
        return Ok(());
    }
    let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
    let problem =
        format!("has codes of {}; ONNX Runtime's kernel needs one type of at most 8 bits", names.join(", "));
    Err(refused(writer, id, problem))
}

/// The operands of a function of two tensors.
enum Kind {
    Reals,
    Codes(Activation),
}

/// Writes a function of two tensors, in an order in which both exist.
fn pair(writer: &mut Writer<'_>, id: NodeId, op: &str, kind: Kind) -> Result<(), ExportError> {
    let inputs = [operand(writer, id, 0)?, operand(writer, id, 1)?];
    let images = inputs.iter().all(|&input| writer.graph.tensor(input).ty.shape.len() == 4);
    let first = inputs.iter().any(|&input| available(writer, input) == Order::ChannelsFirst);
    let order = if images && first { Order::ChannelsFirst } else { Order::Own };
    if let Kind::Codes(_) = kind {
        one_type(writer, id, &inputs)?;
    }
    let real = |input| match kind {
        Kind::Reals => writer.real(input, order),
        Kind::Codes(_) => writer.operand(input, order),
    };
    let reals = inputs.into_iter().map(real).collect::<Result<_, _>>()?;
    let name = writer.result_name(id);
    writer.node(op, reals, &name, Vec::new());
    let made = match kind {
        Kind::Reals => Made::Real(&name),
        Kind::Codes(activation) => Made::Fused(&name, activation),
    };
    writer.result(id, made, order)
}

fn pair_name(function: RealPair) -> &'static str {
    match function {
        RealPair::Add => "Add",
        RealPair::Sub => "Sub",
        RealPair::Mul => "Mul",
        RealPair::Div => "Div",
        RealPair::Pow => "Pow",
        RealPair::Maximum => "Max",
        RealPair::Minimum => "Min",
    }
}

fn reduction_name(function: RealReduction) -> &'static str {
    match function {
        RealReduction::Sum => "ReduceSum",
        RealReduction::Maximum => "ReduceMax",
        RealReduction::Minimum => "ReduceMin",
        RealReduction::Product => "ReduceProd",
    }
}
