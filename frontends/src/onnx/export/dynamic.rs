//! Layers whose activations are quantized at run time, as written by ONNX Runtime's `quantize_dynamic`:
//! DynamicQuantizeLinear, then ConvInteger or MatMulInteger, then the scales.

use guardbit_graph::{DType, NodeId, Op, Tensor, TensorId};

use super::ops::{operand, refused};
use super::tensors::permuted;
use super::weighted::window_attributes;
use super::{ExportError, Order, Writer, int};
use crate::onnx::parse::proto::element;

/// Returns the constant codes whose real values are the weights of a layer.
pub(super) fn codes_of_weights<'g>(writer: &Writer<'g>, id: NodeId) -> Option<&'g Tensor> {
    let real = writer.graph.node(id).inputs.get(1).copied().flatten()?;
    let codes = writer.graph.tensor(writer.dequantized(real)?);
    codes.constant.is_some().then_some(codes)
}

/// Writes a layer with weights of codes as an integer product, whose sums are multiplied by both scales, and a bias.
pub(super) fn layer(writer: &mut Writer<'_>, id: NodeId, weights: &Tensor) -> Result<(), ExportError> {
    let (op, order, axes) = match writer.graph.node(id).op {
        Op::FloatConv2d(_) => ("ConvInteger", Order::ChannelsFirst, vec![0, 3, 1, 2]),
        _ => ("MatMulInteger", Order::Own, (0..weights.ty.shape.len()).collect()),
    };
    let output = writer.graph.node(id).output;
    let name = writer.result_name(id);
    let [codes, scale, zero_point] = quantized(writer, operand(writer, id, 0)?, order)?;
    let [weights, weight_scale, weight_zero] = integer_weights(writer, id, weights, &axes)?;
    let attributes = match &writer.graph.node(id).op {
        Op::FloatConv2d(conv) => {
            let window =
                writer.graph.window(id).ok_or_else(|| refused(writer, id, "has no window".into()))?;
            let mut attributes = window_attributes(&window, conv.padding);
            attributes.push(int("group", window.groups as i64));
            attributes
        }
        _ => Vec::new(),
    };
    let shape = writer.shape_in(output, order);
    let [sums, cast, scales] = ["sums", "real_sums", "scales"].map(|what| writer.fresh(&name, what));
    writer.node(op, vec![codes, weights, zero_point, weight_zero], &sums, attributes);
    writer.shaped(&sums, element::INT32, shape.clone());
    writer.node("Cast", vec![sums], &cast, vec![int("to", element::FLOAT.into())]);
    writer.shaped(&cast, element::FLOAT, shape.clone());
    let weight_shape = writer.known.get(&weight_scale).map(|known| known.shape.clone()).unwrap_or_default();
    writer.node("Mul", vec![scale, weight_scale], &scales, Vec::new());
    writer.shaped(&scales, element::FLOAT, weight_shape);
    let bias = writer.graph.node(id).inputs.get(2).copied().flatten();
    let Some(bias) = bias else {
        writer.node("Mul", vec![cast, scales], &name, Vec::new());
        return writer.result(id, super::codes::Made::Real(&name), order);
    };
    let bias = writer.graph.tensor(bias);
    let channels = bias.ty.shape.iter().product();
    let values = bias.codes().map(|words| words.iter().map(guardbit_graph::real_of).collect::<Vec<_>>());
    let values = values.ok_or_else(|| refused(writer, id, "has a bias that is not constant".into()))?;
    let product = writer.fresh(&name, "product");
    writer.node("Mul", vec![cast, scales], &product, Vec::new());
    let bias = writer.reals_constant(&bias.name, &[channels, 1, 1], &values);
    writer.node("Add", vec![product, bias], &name, Vec::new());
    writer.result(id, super::codes::Made::Real(&name), order)
}

/// Returns the names of the codes of real values, of their scale and of their zero point.
fn quantized(writer: &mut Writer<'_>, id: TensorId, order: Order) -> Result<[String; 3], ExportError> {
    if let Some(names) = writer.dynamic.get(&(id, order)) {
        return Ok(names.clone());
    }
    let real = writer.real(id, order)?;
    let names = ["quantized", "scale", "zero_point"].map(|what| writer.fresh(&real, what));
    let shape = writer.shape_in(id, order);
    writer.node("DynamicQuantizeLinear", vec![real], &names[0], Vec::new());
    writer.shaped(&names[0], element::UINT8, shape);
    for (name, element) in names[1..].iter().zip([element::FLOAT, element::UINT8]) {
        writer.shaped(name, element, Vec::new());
        writer.nodes.last_mut().expect("a node was added").outputs.push(name.clone());
    }
    writer.dynamic.insert((id, order), names.clone());
    Ok(names)
}

/// Returns the names of the codes of weights, of the scales that multiply sums, and of the zero point.
fn integer_weights(
    writer: &mut Writer<'_>,
    id: NodeId,
    tensor: &Tensor,
    axes: &[usize],
) -> Result<[String; 3], ExportError> {
    let quantization = tensor.ty.quantization.clone();
    let quantization =
        quantization.ok_or_else(|| refused(writer, id, "has weights without a scale".into()))?;
    let (image, dtype) = (axes.len() == 4, tensor.ty.dtype);
    if !matches!(dtype, DType::Int8 | DType::UInt8) {
        let problem = format!("has weights of {dtype}; ONNX's integer products need 8 bits");
        return Err(refused(writer, id, problem));
    }
    let codes: Vec<i64> = tensor.codes().into_iter().flat_map(|codes| codes.iter()).map(i64::from).collect();
    let (shape, codes) = permuted(&tensor.ty.shape, &codes, axes);
    let name = writer.integers_constant(&tensor.name, &shape, dtype, &codes);
    let mut zeros: Vec<i64> = quantization.zero_points().iter().map(|&zero| zero.into()).collect();
    if zeros.iter().all(|zero| *zero == zeros[0]) {
        zeros.truncate(1);
    } else if image {
        let problem = "has weights with several zero points; ONNX Runtime's ConvInteger supports one: use \
                       symmetric weights, or one scale per tensor";
        return Err(refused(writer, id, problem.into()));
    }
    let zero_shape: &[usize] = if zeros.len() > 1 { &[zeros.len()] } else { &[] };
    let channels = quantization.scales().len();
    let scale_shape: &[usize] = match (quantization.axis(), image) {
        (None, _) => &[],
        (Some(_), true) => &[channels, 1, 1],
        (Some(_), false) => &[channels],
    };
    let scale = writer.reals_constant(&name, scale_shape, quantization.scales());
    let zero = writer.integers_constant(&name, zero_shape, dtype, &zeros);
    Ok([name, scale, zero])
}
