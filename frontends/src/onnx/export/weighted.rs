//! Convolutions and matrix products.

use guardbit_graph::ops::FullyConnected;
use guardbit_graph::{Activation, DType, NodeId, Op, Padding, Quantization, Requantize, Window};

use super::codes::Made;
use super::ops::{even, operand, refused};
use super::{ExportError, Order, Writer, int, ints};
use crate::onnx::parse::proto;

/// Returns the attributes of a window, with its padding on all sides.
pub(super) fn window_attributes(window: &Window, padding: Padding) -> Vec<proto::Attribute> {
    let after = |axis: usize| {
        let last = (window.output[axis] - 1) * window.stride[axis]
            + (window.kernel[axis] - 1) * window.dilation[axis]
            + 1;
        last.saturating_sub(window.input[axis] + window.pad[axis]) as i64
    };
    let [top, left] = window.pad.map(|pad| pad as i64);
    // Explicit padding is kept, even if no window reaches it.
    let [bottom, right] = match padding {
        Padding::Explicit { rows, cols } => [rows[1] as i64, cols[1] as i64],
        Padding::Valid | Padding::Same => [after(0), after(1)],
    };
    let pair = |values: [usize; 2]| values.iter().map(|&value| value as i64).collect();
    vec![
        ints("kernel_shape", pair([window.kernel[0], window.kernel[1]])),
        ints("strides", pair(window.stride)),
        ints("dilations", pair(window.dilation)),
        ints("pads", vec![top, left, bottom, right]),
    ]
}

/// Adds constant weights with permuted axes, and scales along the first or the last of them.
fn weights(writer: &mut Writer<'_>, id: NodeId, axes: &[usize]) -> Result<String, ExportError> {
    let input = operand(writer, id, 1)?;
    let (tensor, quantization) = (writer.graph.tensor(input), writer.quantization(input)?);
    let Some(codes) = tensor.codes() else {
        return Err(refused(writer, id, "has weights that are not constant codes".into()));
    };
    let wide = || codes.iter().map(i64::from).collect();
    let (shape, codes) = writer.permuted(&tensor.ty.shape, wide, axes);
    let name = writer.codes_constant(tensor, tensor.ty.dtype, &shape, &codes);
    let axis = quantization.axis().and_then(|axis| axes.iter().position(|&from| from == axis));
    let mut to = writer.fresh(&tensor.name, "real");
    writer.linear("DequantizeLinear", name, &to, (&quantization, tensor.ty.dtype), axis);
    // The runtime's kernels read weights of 8 bits.
    let wider = match tensor.ty.dtype {
        DType::Int4 => Some(DType::Int8),
        DType::UInt4 => Some(DType::UInt8),
        _ => None,
    };
    if let Some(dtype) = wider {
        let (codes, real) = (writer.fresh(&tensor.name, "wide"), writer.fresh(&tensor.name, "widened"));
        writer.linear("QuantizeLinear", to, &codes, (&quantization, dtype), axis);
        writer.linear("DequantizeLinear", codes, &real, (&quantization, dtype), axis);
        to = real;
    }
    Ok(to)
}

/// Adds the bias with the scale of the sums, if there is one.
fn bias(writer: &mut Writer<'_>, id: NodeId) -> Result<Option<String>, ExportError> {
    let Some(tensor) = writer.graph.node(id).inputs.get(2).copied().flatten() else { return Ok(None) };
    let tensor = writer.graph.tensor(tensor);
    let x = writer.quantization(operand(writer, id, 0)?)?;
    let w = writer.quantization(operand(writer, id, 1)?)?;
    let Some(codes) = tensor.codes() else {
        let problem = "has a bias of 64 bits; ONNX Runtime's kernels support 32 bits";
        return Err(refused(writer, id, problem.into()));
    };
    let values: Vec<i64> = codes.iter().map(i64::from).collect();
    let scales: Vec<f32> = w.scales().iter().map(|&weight| x.scale(0) * weight).collect();
    let name = writer.integers_constant(&tensor.name, &[values.len()], DType::Int32, &values);
    let zeros = vec![0; scales.len()];
    let quantization = match w.axis() {
        Some(_) => Quantization::per_axis(scales, zeros, 0),
        None => Quantization::per_tensor(scales[0], 0),
    };
    let quantization = quantization.map_err(|error| refused(writer, id, error.to_string()))?;
    let to = writer.fresh(&tensor.name, "real");
    let axis = quantization.axis();
    writer.linear("DequantizeLinear", name, &to, (&quantization, DType::Int32), axis);
    Ok(Some(to))
}

/// Rejects a layer that ONNX Runtime's integer kernels do not compute.
fn check(writer: &Writer<'_>, id: NodeId, requantize: Requantize) -> Result<(), ExportError> {
    let node = writer.graph.node(id);
    let inputs = node.inputs.iter().take(2).flatten().map(|&input| writer.graph.tensor(input).ty.dtype);
    let mut output = writer.graph.tensor(node.output).ty.dtype;
    // Sums without a quantizer are real values in the file.
    let dequantized = |&reader: &NodeId| matches!(writer.graph.node(reader).op, Op::Dequantize(_));
    let readers = writer.links.readers(node.output);
    let sums = output == DType::Int32
        && !writer.links.is_output(node.output)
        && matches!(node.op, Op::FullyConnected(_))
        && readers.iter().all(dequantized);
    if sums {
        output = DType::Int8;
    }
    if let Some(dtype) = inputs.chain([output]).find(|dtype| dtype.bits() > 8) {
        let problem = format!("has codes of {dtype}; ONNX Runtime's integer kernels support 8 bits");
        return Err(refused(writer, id, problem));
    }
    let [x, y] = [operand(writer, id, 0)?, node.output].map(|id| writer.graph.tensor(id).ty.dtype);
    let w = writer.graph.tensor(operand(writer, id, 1)?).ty.dtype;
    if !sums && x.is_signed() != y.is_signed() || x.is_signed() && !w.is_signed() {
        let problem = format!(
            "has codes of {x}, weights of {w} and output of {y}; ONNX Runtime's kernels need equal input \
             and output types, and support unsigned weights only with unsigned codes"
        );
        return Err(refused(writer, id, problem));
    }
    even(writer, id, requantize.scheme)
}

pub(super) fn convolution(
    writer: &mut Writer<'_>,
    id: NodeId,
    padding: Padding,
    requantize: Requantize,
    activation: Activation,
) -> Result<(), ExportError> {
    check(writer, id, requantize)?;
    let depthwise = matches!(writer.graph.node(id).op, Op::DepthwiseConv2d(_));
    let axes = if depthwise { [3, 0, 1, 2] } else { [0, 3, 1, 2] };
    let x = writer.operand(operand(writer, id, 0)?, Order::ChannelsFirst)?;
    let mut inputs = vec![x, weights(writer, id, &axes)?];
    inputs.extend(bias(writer, id)?);
    convolve(writer, id, inputs, padding, |made| Made::Fused(made, activation))
}

/// Writes a convolution of real values.
pub(super) fn float_convolution(
    writer: &mut Writer<'_>,
    id: NodeId,
    padding: Padding,
) -> Result<(), ExportError> {
    let [x, w] = [operand(writer, id, 0)?, operand(writer, id, 1)?];
    let mut inputs = vec![writer.real(x, Order::ChannelsFirst)?, writer.real(w, Order::ChannelsFirst)?];
    if let Some(bias) = writer.graph.node(id).inputs.get(2).copied().flatten() {
        inputs.push(writer.real(bias, Order::Own)?);
    }
    convolve(writer, id, inputs, padding, |made| Made::Real(made))
}

fn convolve(
    writer: &mut Writer<'_>,
    id: NodeId,
    inputs: Vec<String>,
    padding: Padding,
    made: impl for<'a> Fn(&'a str) -> Made<'a>,
) -> Result<(), ExportError> {
    let window = writer.graph.window(id).ok_or_else(|| refused(writer, id, "has no window".into()))?;
    let mut attributes = window_attributes(&window, padding);
    attributes.push(int("group", window.groups as i64));
    let name = writer.result_name(id);
    writer.node("Conv", inputs, &name, attributes);
    writer.result(id, made(&name), Order::ChannelsFirst)
}

pub(super) fn fully_connected(
    writer: &mut Writer<'_>,
    id: NodeId,
    dense: &FullyConnected,
) -> Result<(), ExportError> {
    check(writer, id, dense.requantize)?;
    let input = operand(writer, id, 0)?;
    let shape = &writer.graph.tensor(input).ty.shape;
    let terms = writer.graph.tensor(operand(writer, id, 1)?).ty.shape[1];
    let matrix = shape.len() == 2;
    if shape.last() != Some(&terms) || !matrix && !dense.keep_num_dims {
        let problem = format!("reads {shape:?}; add a reshape to [.., {terms}] before it");
        return Err(refused(writer, id, problem));
    }
    let bias = bias(writer, id)?;
    let x = writer.operand(input, Order::Own)?;
    let name = writer.result_name(id);
    // Gemm reads only matrices, and MatMul has no bias.
    match (matrix, bias) {
        (true, bias) => {
            let inputs = [x, weights(writer, id, &[0, 1])?].into_iter().chain(bias).collect();
            writer.node("Gemm", inputs, &name, vec![int("transB", 1)]);
        }
        (false, None) => {
            let inputs = vec![x, weights(writer, id, &[1, 0])?];
            writer.node("MatMul", inputs, &name, Vec::new());
        }
        (false, Some(_)) => {
            let problem = "reads more than a matrix and has a bias; add a reshape to a matrix before it";
            return Err(refused(writer, id, problem.into()));
        }
    }
    writer.result(id, Made::Fused(&name, dense.activation), Order::Own)
}

pub(super) fn batch_matmul(
    writer: &mut Writer<'_>,
    id: NodeId,
    product: &guardbit_graph::ops::BatchMatmul,
) -> Result<(), ExportError> {
    check(writer, id, product.requantize)?;
    if product.adj_x || product.adj_y {
        return Err(refused(writer, id, "reads a transposed matrix; add a transpose before it".into()));
    }
    let [a, b] = [operand(writer, id, 0)?, operand(writer, id, 1)?];
    let inputs = vec![writer.operand(a, Order::Own)?, writer.operand(b, Order::Own)?];
    let name = writer.result_name(id);
    writer.node("MatMul", inputs, &name, Vec::new());
    writer.result(id, Made::Fused(&name, Activation::None), Order::Own)
}
