//! MatMul, Gemm and MatMulInteger.

use guardbit_graph::ops::{BatchMatmul, FloatBinary, FloatMatMul, FullyConnected, RealPair, Transpose};
use guardbit_graph::{Activation, DType, Op, Requantize};

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::quant::Quant;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::codes::{code_tensor, without_functions};
use crate::onnx::recognise::kit::follow::{Follow, follow};
use crate::onnx::recognise::kit::moves::moved;
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::operand::{check_weights, operand, result};
use crate::onnx::recognise::kit::value::{Dequantized, Located, Value};
use crate::onnx::recognise::kit::weighted::{Bias, EVEN, Layer};
use crate::onnx::recognise::kit::weighted;

pub(super) fn matmul<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (a, b) = (network.input(node, 0)?, network.input(node, 1)?);
    let follow = follow(network, node)?;
    product(network, node, [a, b], None, false, follow)
}

pub(super) fn gemm<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (alpha, beta) = (node.float("alpha", 1.0), node.float("beta", 1.0));
    let [a, b] = [network.input(node, 0)?, network.input(node, 1)?];
    let c = network.optional(node, 2)?;
    if alpha != 1.0 || beta != 1.0 && c.is_some() {
        return Err(node.error(format!("has alpha {alpha} and beta {beta}; 1 is needed")));
    }
    let a = if node.int("transA", 0) != 0 { transposed(network, node, a)? } else { a };
    let follow = follow(network, node)?;
    product(network, node, [a, b], c, node.int("transB", 0) != 0, follow)
}

fn transposed<'a>(network: &mut Network<'a>, node: Node<'a>, value: Value) -> Result<Value, OnnxError> {
    match value {
        Value::Constant(constant) => {
            let mut axes: Vec<usize> = (0..constant.shape.len()).collect();
            let [.., a, b] = axes.as_mut_slice() else {
                return Err(node.error(format!("transposes a constant of shape {:?}; 2 axes are needed", constant.shape)));
            };
            std::mem::swap(a, b);
            Ok(Value::Constant(std::rc::Rc::new(constant.permuted(&axes))))
        }
        value => {
            moved(network, node, value, Transpose { permutation: vec![1, 0] }, "transposed")
        }
    }
}

/// A product with a matrix, quantized where its operands are codes and the matrix is constant.
fn product<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [a, b]: [Value; 2],
    c: Option<Value>,
    transposed_b: bool,
    follow: Option<Follow<'a>>,
) -> Result<(), OnnxError> {
    let columns = usize::from(!transposed_b);
    let weights = weighted::weights(&b, columns);
    let a = match weights {
        Some(_) => without_functions(network, node, a)?,
        None => {
            weighted::note_scales(network, node, &b, columns)?;
            a
        }
    };
    let operands = (weighted::activations(network, node, &a), weights);
    let constant = match operands {
        (Some(a), Some(b)) if b.0.shape.len() == 2 && network.shape_of(a.0).len() >= 2 => Some((a, b)),
        _ => None,
    };
    let Some(((at, a_quant), (codes, b_quant))) = constant else {
        return between_codes(network, node, [a, b], c, transposed_b, follow);
    };
    let layer = dense(network, node, (at, a_quant), (&codes, b_quant), transposed_b)?;
    let bias = weighted::bias(node, c.as_ref(), layer.channels, (&layer.x_quant, &layer.weight_quant))?;
    let layer = Layer { bias, ..layer };
    if !layer.fits(network, node, follow.as_ref())? {
        return real(network, node, [a, b], c, transposed_b);
    }
    layer.emit(network, node, op, follow, false)
}

fn op(requantize: Requantize, activation: Activation) -> Op {
    FullyConnected { keep_num_dims: true, activation, requantize }.into()
}

fn dense<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    (at, x_quant): (Located, Quant),
    (codes, weight_quant): (&Constant, Quant),
    transposed: bool,
) -> Result<Layer, OnnxError> {
    let weights = if transposed { codes.clone() } else { codes.permuted(&[1, 0]) };
    let x = Located { id: network.in_order(node, at, false)?, channels_last: false };
    let shape = network.shape_of(x);
    if shape.last() != weights.shape.get(1) {
        return Err(node.error(format!("cannot multiply {shape:?} by {:?}", codes.shape)));
    }
    let channels = weights.shape[0];
    weighted::check_scales(node, &weight_quant, channels)?;
    Ok(Layer { x, x_quant, weights, weight_quant, axis: 0, channels, bias: Bias::None, line: false })
}

pub(super) fn integer<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (a, mut b) = (weighted::raw(network, node, 0, 2)?, weighted::raw(network, node, 1, 3)?);
    if let Value::Dequantized(b) = &mut b {
        // Zero points of the matrix lie along its columns.
        b.quant.axis = b.quant.axis.map(|_| 1);
    }
    let operands = (weighted::activations(network, node, &a), weighted::weights(&b, 1));
    let (Some((at, a_quant)), Some((codes, b_quant))) = operands else {
        return Err(node.error("needs a constant matrix and one zero point of its input"));
    };
    if codes.shape.len() != 2 || network.shape_of(at).len() < 2 {
        return Err(node.error("needs a constant matrix of two axes"));
    }
    let layer = dense(network, node, (at, a_quant), (&codes, b_quant), false)?;
    let sums = layer.sums(network, node, op, false)?;
    weighted::bind_sums(network, node, sums)
}

/// A product of two tensors: of codes where a quantizer follows, of real values otherwise.
fn between_codes<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [a, b]: [Value; 2],
    c: Option<Value>,
    transposed_b: bool,
    follow: Option<Follow<'a>>,
) -> Result<(), OnnxError> {
    let quant = |value: &Value| match value {
        Value::Dequantized(d) if d.functions.is_empty() && d.quant.dtype.bits() == 8 => {
            d.quant.single().map(|_| d.quant.dtype)
        }
        _ => None,
    };
    let dtypes = (quant(&a), quant(&b), follow.as_ref().map(|follow| follow.kernel));
    let (Value::Dequantized(left), Value::Dequantized(right)) = (&a, &b) else {
        return real(network, node, [a, b], c, transposed_b);
    };
    match (dtypes, follow) {
        ((Some(of_a), Some(_), Some(of_y)), Some(follow)) if of_a == of_y && c.is_none() => {
            let in_file_order = |network: &mut Network<'a>, operand: &Dequantized| {
                code_tensor(network, node, operand.clone(), (false, 0))
            };
            let inputs = [in_file_order(network, left)?, in_file_order(network, right)?];
            // It has no activation of its own.
            let follow = follow.without_activation();
            let ty = network.code_type(node, &follow.quant, 1, false)?;
            let op = BatchMatmul { adj_x: false, adj_y: transposed_b, requantize: EVEN };
            let id = network.emit(node, op, &inputs, &follow.name.clone(), ty)?;
            follow.finish(network, node, Located { id, channels_last: false })
        }
        (_, Some(follow)) if follow.quantizer.is_none() => Err(node
            .error("multiplies codes of several scales or of more than 8 bits, which cannot be represented")),
        _ => real(network, node, [a, b], c, transposed_b),
    }
}

/// A product in float.
fn real<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [a, b]: [Value; 2],
    c: Option<Value>,
    transposed_b: bool,
) -> Result<(), OnnxError> {
    let name = node.first_output()?;
    let a = network.real_tensor(node, a, false)?;
    let b = network.materialize(node, b)?;
    let b = if transposed_b { transposed(network, node, b)? } else { b };
    let b = network.real_tensor(node, b, false)?;
    let product_name = if c.is_some() { format!("{name}_product") } else { name.to_owned() };
    let mut id = network.emit(node, FloatMatMul {}, &[a, b], &product_name, (DType::Float32, None))?;
    if let Some(c) = c {
        let other = network.real_tensor(node, c, false)?;
        let op = FloatBinary { function: RealPair::Add };
        id = network.emit(node, op, &[id, other], name, (DType::Float32, None))?;
    }
    network.bind(node, 0, Value::Real(Located { id, channels_last: false }))
}

pub(super) fn qlinear<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (a, b) = (operand(network, node, 0, 0)?, operand(network, node, 3, 1)?);
    let follow = Some(Follow::of_operator(network, node, result(network, node, 6, &a)?)?);
    product(network, node, [a, b], None, false, follow)
}

pub(super) fn qgemm<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let transposed = node.int("transB", 0) != 0;
    if node.int("transA", 0) != 0 || node.float("alpha", 1.0) != 1.0 {
        return Err(node.error("has transA or an alpha that is not 1"));
    }
    let (a, b) = (operand(network, node, 0, 0)?, operand(network, node, 3, if transposed { 0 } else { 1 })?);
    check_weights(node, &a, &b)?;
    let bias = network.optional(node, 6)?;
    if node.input(7).is_none() {
        return Err(node.error("makes real values; a scale of its output is needed"));
    }
    let follow = Some(Follow::of_operator(network, node, result(network, node, 7, &a)?)?);
    product(network, node, [a, b], bias, transposed, follow)
}
