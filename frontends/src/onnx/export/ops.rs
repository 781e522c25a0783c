//! The operators of ONNX that operations become.

use guardbit_graph::ops::{self as graph_ops, RealFunction, RealPair};
use guardbit_graph::{
    Activation, DType, NodeId, Op, Padding, Quantization, Requantize, TensorId, TensorType, Window,
};
use guardbit_num::{Rounding, Scheme};

use super::{ExportError, Order, Writer, float, int, ints, permuted, text};
use crate::onnx::proto;

pub(super) fn write(writer: &mut Writer<'_>, id: NodeId) -> Result<(), ExportError> {
    let op = writer.graph.node(id).op.clone();
    match &op {
        Op::Conv2d(conv) => convolution(writer, id, conv.padding, conv.requantize, conv.activation),
        Op::DepthwiseConv2d(conv) => convolution(writer, id, conv.padding, conv.requantize, conv.activation),
        Op::FullyConnected(dense) => fully_connected(writer, id, dense),
        Op::BatchMatmul(product) => batch_matmul(writer, id, product),
        Op::QLinearAdd(add) => pair(writer, id, "Add", add.activation),
        Op::QLinearMul(mul) => pair(writer, id, "Mul", mul.activation),
        Op::Mean(mean) => mean_of_images(writer, id, mean),
        Op::MaxPool2d(pool) if pool.activation == Activation::None => {
            window(writer, id, "MaxPool", pool.padding, Vec::new())
        }
        Op::QLinearSoftmax(softmax) => {
            simple(writer, id, "Softmax", vec![int("axis", softmax.axis as i64)], Vec::new())
        }
        Op::Reshape(_) => {
            let shape = &writer.graph.tensor(writer.graph.node(id).output).ty.shape;
            let sizes: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
            let name = writer.integers_constant("shape", &[sizes.len()], DType::Int64, &sizes)?;
            simple(writer, id, "Reshape", Vec::new(), vec![name])
        }
        Op::Transpose(transpose) => {
            let axes = transpose.permutation.iter().map(|&axis| axis as i64).collect();
            simple(writer, id, "Transpose", vec![ints("perm", axes)], Vec::new())
        }
        Op::Pad(pad) => padding(writer, id, pad),
        Op::Concat(concat) => joined(writer, id, concat),
        Op::Dequantize(_) => alias(writer, id),
        Op::QuantizeFloat(quantize)
            if quantize.rounding == Rounding::HalfEven && !quantize.zero_point_first =>
        {
            let input = operand(writer, id, 0)?;
            let order = available(writer, input);
            let real = writer.real(input, order)?;
            writer.result(id, &real, order)
        }
        Op::FloatUnary(unary) => function(writer, id, unary),
        Op::FloatBinary(binary) => pair(writer, id, pair_name(binary.function), Activation::None),
        Op::FloatMatMul(_) => product(writer, id),
        Op::FloatSoftmax(softmax) => {
            simple(writer, id, "Softmax", vec![int("axis", softmax.axis as i64)], Vec::new())
        }
        Op::FloatMean(mean) => {
            let axes: Vec<i64> = mean.axes.iter().map(|&axis| axis as i64).collect();
            let name = writer.integers_constant("axes", &[axes.len()], DType::Int64, &axes)?;
            simple(writer, id, "ReduceMean", vec![int("keepdims", mean.keep_dims.into())], vec![name])
        }
        Op::FloatLayerNorm(norm) => {
            let inputs = reals(writer, id, Order::Own)?;
            let attributes = vec![int("axis", norm.axis as i64), float("epsilon", norm.epsilon)];
            emit(writer, id, "LayerNormalization", inputs, attributes, Order::Own)
        }
        Op::FloatAvgPool2d(pool) => window(
            writer,
            id,
            "AveragePool",
            pool.padding,
            vec![int("count_include_pad", pool.count_padding.into())],
        ),
        Op::FloatMaxPool2d(pool) => window(writer, id, "MaxPool", pool.padding, Vec::new()),
        other => Err(refused(
            writer,
            id,
            format!(
                "has no counterpart in QDQ: {} is none of ONNX Runtime's quantized operators",
                other.name()
            ),
        )),
    }
}

fn refused(writer: &Writer<'_>, id: NodeId, problem: String) -> ExportError {
    let node = writer.graph.node(id);
    ExportError::Node { op: node.op.name(), node: writer.graph.node_name(id).into(), problem }
}

/// Fails for a scheme that is not ONNX Runtime's.
fn even(writer: &Writer<'_>, id: NodeId, scheme: Scheme) -> Result<(), ExportError> {
    if scheme == Scheme::Even {
        return Ok(());
    }
    let problem = format!("rounds by the scheme `{scheme}`; ONNX Runtime's is `{}`", Scheme::Even);
    Err(refused(writer, id, problem))
}

fn operand(writer: &Writer<'_>, id: NodeId, index: usize) -> Result<TensorId, ExportError> {
    let found = writer.graph.node(id).inputs.get(index).copied().flatten();
    found.ok_or_else(|| refused(writer, id, format!("lacks input {index}")))
}

/// An order in which a tensor is there already.
fn available(writer: &Writer<'_>, id: TensorId) -> Order {
    let has = |order| writer.codes.contains_key(&(id, order)) || writer.reals.contains_key(&(id, order));
    if has(Order::ChannelsFirst) && !has(Order::Own) { Order::ChannelsFirst } else { Order::Own }
}

/// The real values of all operands.
fn reals(writer: &mut Writer<'_>, id: NodeId, order: Order) -> Result<Vec<String>, ExportError> {
    let inputs: Vec<TensorId> = writer.graph.node(id).inputs.iter().flatten().copied().collect();
    inputs.into_iter().map(|input| writer.real(input, order)).collect()
}

fn emit(
    writer: &mut Writer<'_>,
    id: NodeId,
    op: &str,
    inputs: Vec<String>,
    attributes: Vec<proto::Attribute>,
    order: Order,
) -> Result<(), ExportError> {
    let made = writer.result_name(id);
    writer.node(op, inputs, &made, attributes);
    writer.result(id, &made, order)
}

/// An operator on the first operand, and what else it reads.
fn simple(
    writer: &mut Writer<'_>,
    id: NodeId,
    op: &str,
    attributes: Vec<proto::Attribute>,
    more: Vec<String>,
) -> Result<(), ExportError> {
    let x = writer.real(operand(writer, id, 0)?, Order::Own)?;
    let inputs = [vec![x], more].concat();
    emit(writer, id, op, inputs, attributes, Order::Own)
}

/// A rectifier between a result and its codes, where the clamp is more than that of the dtype.
fn activated(
    writer: &mut Writer<'_>,
    id: NodeId,
    real: String,
    activation: Activation,
) -> Result<String, ExportError> {
    let tensor = writer.graph.tensor(writer.graph.node(id).output);
    let TensorType { dtype, quantization, .. } = &tensor.ty;
    let Some(quantization) = quantization else { return Ok(real) };
    if activation.clamp(*dtype, quantization) == (dtype.min(), dtype.max()) {
        return Ok(real);
    }
    let made = writer.fresh(&tensor.name, "activated");
    match activation {
        Activation::Relu => writer.node("Relu", vec![real], &made, Vec::new()),
        Activation::Relu6 | Activation::ReluN1To1 => {
            let limits = if activation == Activation::Relu6 { [0.0, 6.0] } else { [-1.0, 1.0] };
            let [low, high] = limits.map(|limit| writer.reals_constant(&tensor.name, &[], &[limit]));
            writer.node("Clip", vec![real, low, high], &made, Vec::new());
        }
        _ => return Err(refused(writer, id, format!("has the activation `{}`", activation.name()))),
    }
    Ok(made)
}

/// The attributes of a window, with its padding on all sides.
fn window_attributes(window: &Window, padding: Padding) -> Vec<proto::Attribute> {
    let after = |axis: usize| {
        let last = (window.output[axis] - 1) * window.stride[axis]
            + (window.kernel[axis] - 1) * window.dilation[axis]
            + 1;
        last.saturating_sub(window.input[axis] + window.pad[axis]) as i64
    };
    let [top, left] = window.pad.map(|pad| pad as i64);
    // Cells that no window reaches are kept too.
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

/// A pool.
fn window(
    writer: &mut Writer<'_>,
    id: NodeId,
    op: &str,
    padding: Padding,
    more: Vec<proto::Attribute>,
) -> Result<(), ExportError> {
    let window = writer.graph.window(id).ok_or_else(|| refused(writer, id, "has no window".into()))?;
    let mut attributes = window_attributes(&window, padding);
    // All are 1, and older operators have none.
    attributes.retain(|attribute| attribute.name != "dilations");
    attributes.extend(more);
    let x = writer.real(operand(writer, id, 0)?, Order::ChannelsFirst)?;
    emit(writer, id, op, vec![x], attributes, Order::ChannelsFirst)
}

/// Constant weights with their axes in another order, and scales along the first or the last of them.
fn weights(writer: &mut Writer<'_>, id: NodeId, axes: &[usize]) -> Result<String, ExportError> {
    let tensor = writer.graph.tensor(operand(writer, id, 1)?);
    let (Some(codes), Some(quantization)) = (tensor.codes(), &tensor.ty.quantization) else {
        return Err(refused(writer, id, "has weights that are no constant codes".into()));
    };
    let wide: Vec<i64> = codes.iter().map(|&code| code.into()).collect();
    let (shape, codes) = permuted(&tensor.ty.shape, &wide, axes);
    let name = writer.integers_constant(&tensor.name, &shape, tensor.ty.dtype, &codes)?;
    let [scale, zero_point] = writer.scale_of(&tensor.name, quantization, tensor.ty.dtype)?;
    let axis = quantization.axis().and_then(|axis| axes.iter().position(|&from| from == axis));
    let attributes = axis.map(|axis| int("axis", axis as i64)).into_iter().collect();
    let to = writer.fresh(&tensor.name, "real");
    writer.node("DequantizeLinear", vec![name, scale, zero_point], &to, attributes);
    Ok(to)
}

/// The bias with the scale of the sums, if there is one.
fn bias(writer: &mut Writer<'_>, id: NodeId) -> Result<Option<String>, ExportError> {
    let Some(tensor) = writer.graph.node(id).inputs.get(2).copied().flatten() else { return Ok(None) };
    let tensor = writer.graph.tensor(tensor);
    let (x, w) = (writer.graph.tensor(operand(writer, id, 0)?), writer.graph.tensor(operand(writer, id, 1)?));
    let (Some(codes), Some(x), Some(w)) = (tensor.codes(), &x.ty.quantization, &w.ty.quantization) else {
        return Err(refused(writer, id, "has a bias of 64 bits".into()));
    };
    let values: Vec<i64> = codes.iter().map(|&code| code.into()).collect();
    let scales: Vec<f32> = w.scales().iter().map(|&weight| x.scale(0) * weight).collect();
    let name = writer.integers_constant(&tensor.name, &[values.len()], DType::Int32, &values)?;
    let zeros = vec![0; scales.len()];
    let per_axis = w.axis().is_some();
    let quantization = match per_axis {
        true => Quantization::per_axis(scales, zeros, 0),
        false => Quantization::per_tensor(scales[0], 0),
    };
    let quantization = quantization.map_err(|error| refused(writer, id, error.to_string()))?;
    let [scale, zero_point] = writer.scale_of(&tensor.name, &quantization, DType::Int32)?;
    let to = writer.fresh(&tensor.name, "real");
    let attributes = if per_axis { vec![int("axis", 0)] } else { Vec::new() };
    writer.node("DequantizeLinear", vec![name, scale, zero_point], &to, attributes);
    Ok(Some(to))
}

fn check_weighted(writer: &Writer<'_>, id: NodeId, requantize: Requantize) -> Result<(), ExportError> {
    even(writer, id, requantize.scheme)?;
    let output = writer.graph.tensor(writer.graph.node(id).output);
    match output.ty.dtype {
        DType::Int8 | DType::UInt8 => Ok(()),
        other => Err(refused(
            writer,
            id,
            format!("makes {other}; ONNX Runtime has quantized kernels for int8 and uint8"),
        )),
    }
}

fn convolution(
    writer: &mut Writer<'_>,
    id: NodeId,
    padding: Padding,
    requantize: Requantize,
    activation: Activation,
) -> Result<(), ExportError> {
    check_weighted(writer, id, requantize)?;
    let window = writer.graph.window(id).ok_or_else(|| refused(writer, id, "has no window".into()))?;
    let x = writer.real(operand(writer, id, 0)?, Order::ChannelsFirst)?;
    let depthwise = matches!(writer.graph.node(id).op, Op::DepthwiseConv2d(_));
    let axes = if depthwise { [3, 0, 1, 2] } else { [0, 3, 1, 2] };
    let mut inputs = vec![x, weights(writer, id, &axes)?];
    inputs.extend(bias(writer, id)?);
    let mut attributes = window_attributes(&window, padding);
    attributes.push(int("group", window.groups as i64));
    let made = writer.result_name(id);
    writer.node("Conv", inputs, &made, attributes);
    let made = activated(writer, id, made, activation)?;
    writer.result(id, &made, Order::ChannelsFirst)
}

fn fully_connected(
    writer: &mut Writer<'_>,
    id: NodeId,
    dense: &graph_ops::FullyConnected,
) -> Result<(), ExportError> {
    check_weighted(writer, id, dense.requantize)?;
    let input = operand(writer, id, 0)?;
    let (shape, terms) =
        (&writer.graph.tensor(input).ty.shape, writer.graph.tensor(operand(writer, id, 1)?).ty.shape[1]);
    if shape.len() != 2 || shape[1] != terms {
        let problem = format!("reads {shape:?}; a reshape to [.., {terms}] before it is needed");
        return Err(refused(writer, id, problem));
    }
    let mut inputs = vec![writer.real(input, Order::Own)?, weights(writer, id, &[0, 1])?];
    inputs.extend(bias(writer, id)?);
    let made = writer.result_name(id);
    writer.node("Gemm", inputs, &made, vec![int("transB", 1)]);
    let made = activated(writer, id, made, dense.activation)?;
    writer.result(id, &made, Order::Own)
}

fn batch_matmul(
    writer: &mut Writer<'_>,
    id: NodeId,
    product: &graph_ops::BatchMatmul,
) -> Result<(), ExportError> {
    check_weighted(writer, id, product.requantize)?;
    if product.adj_x || product.adj_y {
        return Err(refused(writer, id, "reads a transposed matrix; a transpose before it is needed".into()));
    }
    self::product(writer, id)
}

fn product(writer: &mut Writer<'_>, id: NodeId) -> Result<(), ExportError> {
    let inputs = reals(writer, id, Order::Own)?;
    emit(writer, id, "MatMul", inputs, Vec::new(), Order::Own)
}

/// A function of two tensors, in the order in which both are there.
fn pair(writer: &mut Writer<'_>, id: NodeId, op: &str, activation: Activation) -> Result<(), ExportError> {
    let inputs = [operand(writer, id, 0)?, operand(writer, id, 1)?];
    let images = inputs.iter().all(|&input| writer.graph.tensor(input).ty.shape.len() == 4);
    let first = inputs.iter().any(|&input| available(writer, input) == Order::ChannelsFirst);
    let order = if images && first { Order::ChannelsFirst } else { Order::Own };
    let reals = inputs.into_iter().map(|input| writer.real(input, order)).collect::<Result<_, _>>()?;
    let made = writer.result_name(id);
    writer.node(op, reals, &made, Vec::new());
    let made = activated(writer, id, made, activation)?;
    writer.result(id, &made, order)
}

fn mean_of_images(writer: &mut Writer<'_>, id: NodeId, mean: &graph_ops::Mean) -> Result<(), ExportError> {
    even(writer, id, mean.requantize.scheme)?;
    let input = operand(writer, id, 0)?;
    if mean.axes != [1, 2] || !mean.keep_dims || writer.graph.tensor(input).ty.shape.len() != 4 {
        let problem =
            "is no mean over whole images that keeps their axes, which alone is quantized in ONNX Runtime";
        return Err(refused(writer, id, problem.into()));
    }
    let x = writer.real(input, Order::ChannelsFirst)?;
    emit(writer, id, "GlobalAveragePool", vec![x], Vec::new(), Order::ChannelsFirst)
}

fn padding(writer: &mut Writer<'_>, id: NodeId, pad: &graph_ops::Pad) -> Result<(), ExportError> {
    let sides = |side: usize| pad.paddings.iter().map(move |both| both[side] as i64);
    let pads: Vec<i64> = sides(0).chain(sides(1)).collect();
    let ty = &writer.graph.tensor(operand(writer, id, 0)?).ty;
    let filler = match (&ty.quantization, pad.value) {
        (_, None) => 0.0,
        (None, Some(word)) => guardbit_graph::real_of(word),
        (Some(q), Some(code)) => (code - q.zero_point(0)) as f32 * q.scale(0),
    };
    let more = vec![
        writer.integers_constant("pads", &[pads.len()], DType::Int64, &pads)?,
        writer.reals_constant("filler", &[], &[filler]),
    ];
    simple(writer, id, "Pad", Vec::new(), more)
}

fn joined(writer: &mut Writer<'_>, id: NodeId, concat: &graph_ops::Concat) -> Result<(), ExportError> {
    let output = writer.graph.tensor(writer.graph.node(id).output);
    let inputs = writer.graph.node(id).inputs.iter().flatten();
    if !inputs.clone().all(|&input| writer.graph.tensor(input).ty.quantization == output.ty.quantization) {
        even(writer, id, concat.requantize.scheme)?;
    }
    let reals = reals(writer, id, Order::Own)?;
    emit(writer, id, "Concat", reals, vec![int("axis", concat.axis as i64)], Order::Own)
}

/// Real values of codes are those of the codes themselves.
fn alias(writer: &mut Writer<'_>, id: NodeId) -> Result<(), ExportError> {
    let (input, output) = (operand(writer, id, 0)?, writer.graph.node(id).output);
    let quantization = &writer.graph.tensor(input).ty.quantization;
    if quantization.as_ref().is_some_and(|q| q.axis().is_some()) {
        return Err(refused(writer, id, "reads codes of several scales".into()));
    }
    let images = writer.graph.tensor(input).ty.shape.len() == 4;
    let orders: &[Order] = if images { &[Order::Own, Order::ChannelsFirst] } else { &[Order::Own] };
    for &order in orders {
        let real = writer.real(input, order)?;
        writer.reals.insert((output, order), real);
    }
    Ok(())
}

fn function(writer: &mut Writer<'_>, id: NodeId, unary: &graph_ops::FloatUnary) -> Result<(), ExportError> {
    let p = &unary.parameters;
    let mut attributes = Vec::new();
    let mut limits = Vec::new();
    let op = match unary.function {
        RealFunction::Relu => "Relu",
        RealFunction::LeakyRelu => {
            attributes.push(float("alpha", p[0]));
            "LeakyRelu"
        }
        RealFunction::Clip => {
            limits = p.clone();
            "Clip"
        }
        RealFunction::Sigmoid => "Sigmoid",
        RealFunction::Tanh => "Tanh",
        RealFunction::HardSigmoid => {
            attributes.extend([float("alpha", p[0]), float("beta", p[1])]);
            "HardSigmoid"
        }
        RealFunction::HardSwish => "HardSwish",
        RealFunction::Elu => {
            attributes.push(float("alpha", p[0]));
            "Elu"
        }
        RealFunction::Softplus => "Softplus",
        RealFunction::Erf => "Erf",
        RealFunction::Gelu => "Gelu",
        RealFunction::GeluTanh => {
            attributes.push(text("approximate", "tanh"));
            "Gelu"
        }
        RealFunction::Exp => "Exp",
        RealFunction::Log => "Log",
        RealFunction::Sqrt => "Sqrt",
        RealFunction::Reciprocal => "Reciprocal",
        RealFunction::Neg => "Neg",
        RealFunction::Abs => "Abs",
        RealFunction::Floor => "Floor",
        RealFunction::Ceil => "Ceil",
        RealFunction::Round => "Round",
        other => {
            return Err(refused(
                writer,
                id,
                format!("computes `{}`, which ONNX has no operator for", other.name()),
            ));
        }
    };
    let input = operand(writer, id, 0)?;
    let order = available(writer, input);
    let mut inputs = vec![writer.real(input, order)?];
    for limit in limits {
        inputs.push(writer.reals_constant("limit", &[], &[limit]));
    }
    emit(writer, id, op, inputs, attributes, order)
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
