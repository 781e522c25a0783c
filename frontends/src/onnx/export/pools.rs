//! Pools and means.

use guardbit_graph::ops::{FloatAvgPool2d, FloatMean, Mean, QuantizeFloat};
use guardbit_graph::{Activation, NodeId, Op, Padding, TensorId};
use guardbit_num::Rounding;

use super::codes::Made;
use super::ops::{available, even, one_type, operand, refused};
use super::weighted::window_attributes;
use super::{ExportError, Order, Writer, int};
use crate::onnx::parse::proto;

/// Returns the attributes of a pool.
fn attributes(
    writer: &Writer<'_>,
    id: NodeId,
    padding: Padding,
) -> Result<Vec<proto::Attribute>, ExportError> {
    let window = writer.graph.window(id).ok_or_else(|| refused(writer, id, "has no window".into()))?;
    let mut attributes = window_attributes(&window, padding);
    // All dilations are 1, and older operators do not have the attribute.
    attributes.retain(|attribute| attribute.name != "dilations");
    Ok(attributes)
}

pub(super) fn max(
    writer: &mut Writer<'_>,
    id: NodeId,
    padding: Padding,
    activation: Activation,
) -> Result<(), ExportError> {
    if activation != Activation::None {
        let problem = format!("has the activation `{}`; use a separate operation for it", activation.name());
        return Err(refused(writer, id, problem));
    }
    let attributes = attributes(writer, id, padding)?;
    let x = writer.operand(operand(writer, id, 0)?, Order::ChannelsFirst)?;
    let name = writer.result_name(id);
    writer.node("MaxPool", vec![x], &name, attributes);
    writer.result(id, Made::Moved(&name), Order::ChannelsFirst)
}

pub(super) fn average(writer: &mut Writer<'_>, id: NodeId, pool: &FloatAvgPool2d) -> Result<(), ExportError> {
    let mut attributes = attributes(writer, id, pool.padding)?;
    attributes.push(int("count_include_pad", pool.count_padding.into()));
    let input = operand(writer, id, 0)?;
    let x = match pooled_codes(writer, id) {
        Some(codes) => writer.operand(codes, Order::ChannelsFirst)?,
        None => writer.real(input, Order::ChannelsFirst)?,
    };
    let name = writer.result_name(id);
    writer.node("AveragePool", vec![x], &name, attributes);
    writer.result(id, Made::Real(&name), Order::ChannelsFirst)
}

/// Returns the codes that a pool reads if ONNX Runtime fuses it with the quantizer after it.
///
/// Both must have one dtype of 8 bits, and nothing else may read the tensors in between.
fn pooled_codes(writer: &Writer<'_>, pool: NodeId) -> Option<TensorId> {
    let graph = writer.graph;
    let dequantizer = writer.links.producer(*graph.node(pool).inputs.first()?.as_ref()?)?;
    let Op::Dequantize(_) = graph.node(dequantizer).op else { return None };
    let codes = graph.node(dequantizer).inputs[0]?;
    let quantizer = graph.node(writer.links.only_reader(graph.node(pool).output)?);
    let Op::QuantizeFloat(_) = quantizer.op else { return None };
    let (from, to) = (&graph.tensor(codes).ty, &graph.tensor(quantizer.output).ty);
    let single = from.quantization.as_ref().is_some_and(|q| q.axis().is_none());
    let signed = from.dtype.is_signed() == to.dtype.is_signed();
    (single && signed && from.dtype.bits() <= 8 && to.dtype.bits() <= 8).then_some(codes)
}

/// Writes a quantizer of real values. A quantizer after a pool of codes is fused with it, and then adds the zero
/// point before rounding.
pub(super) fn quantize(
    writer: &mut Writer<'_>,
    id: NodeId,
    quantize: &QuantizeFloat,
) -> Result<(), ExportError> {
    let input = operand(writer, id, 0)?;
    let pool = writer.links.producer(input).filter(|&maker| {
        matches!(writer.graph.node(maker).op, Op::FloatAvgPool2d(_)) && pooled_codes(writer, maker).is_some()
    });
    if quantize.rounding != Rounding::HalfEven {
        let problem =
            format!("rounds with `{}`; ONNX's QuantizeLinear uses `half_even`", quantize.rounding.name());
        return Err(refused(writer, id, problem));
    }
    if quantize.zero_point_first != pool.is_some() {
        let problem = match pool {
            Some(_) => {
                "adds the zero point after rounding; after a pool of codes ONNX Runtime adds it before: \
                 set `zero_point_first`"
            }
            None => {
                "adds the zero point before rounding, which ONNX Runtime only does after an average pool \
                 of 8-bit codes"
            }
        };
        return Err(refused(writer, id, problem.into()));
    }
    let order = available(writer, input);
    let real = writer.real(input, order)?;
    let made = if pool.is_some() { Made::Fused(&real, Activation::None) } else { Made::Real(&real) };
    writer.result(id, made, order)
}

/// Writes a mean over whole images.
pub(super) fn mean(writer: &mut Writer<'_>, id: NodeId, mean: &Mean) -> Result<(), ExportError> {
    even(writer, id, mean.requantize.scheme)?;
    let input = operand(writer, id, 0)?;
    let mut axes = mean.axes.clone();
    axes.sort_unstable();
    one_type(writer, id, &[input])?;
    if axes != [1, 2] || writer.graph.tensor(input).ty.shape.len() != 4 {
        let problem = "is not a mean over whole images of 8-bit codes, the only quantized mean of ONNX \
                       Runtime; use a mean of real values and a quantizer";
        return Err(refused(writer, id, problem.into()));
    }
    if !mean.keep_dims {
        let problem = "removes the axes of its images; use a mean that keeps them, and a reshape";
        return Err(refused(writer, id, problem.into()));
    }
    let x = writer.operand(input, Order::ChannelsFirst)?;
    let name = writer.result_name(id);
    writer.node("GlobalAveragePool", vec![x], &name, Vec::new());
    writer.result(id, Made::Fused(&name, Activation::None), Order::ChannelsFirst)
}

pub(super) fn float_mean(writer: &mut Writer<'_>, id: NodeId, mean: &FloatMean) -> Result<(), ExportError> {
    let input = operand(writer, id, 0)?;
    let name = writer.result_name(id);
    if mean.axes == [1, 2] && mean.keep_dims && writer.graph.tensor(input).ty.shape.len() == 4 {
        let x = writer.real(input, Order::ChannelsFirst)?;
        writer.node("GlobalAveragePool", vec![x], &name, Vec::new());
        return writer.result(id, Made::Real(&name), Order::ChannelsFirst);
    }
    reduced(writer, id, "ReduceMean", &mean.axes, mean.keep_dims)
}

/// Writes a reduction over axes. An extreme of codes is one of its codes.
pub(super) fn reduced(
    writer: &mut Writer<'_>,
    id: NodeId,
    op: &str,
    axes: &[usize],
    keep_dims: bool,
) -> Result<(), ExportError> {
    let axes: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    let inputs =
        vec![writer.operand(operand(writer, id, 0)?, Order::Own)?, writer.sizes_constant("axes", &axes)];
    let name = writer.result_name(id);
    writer.node(op, inputs, &name, vec![int("keepdims", keep_dims.into())]);
    writer.result(id, Made::Moved(&name), Order::Own)
}
