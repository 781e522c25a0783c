//! MatMul, Gemm, MatMulInteger and MatMulNBits.

use std::rc::Rc;

use guardbit_graph::ops::{
    BatchMatmul, Conv2d, FloatBinary, FloatMatMul, FullyConnected, RealPair, Transpose,
};
use guardbit_graph::{Activation, FloatReason, Op, Requantize, TensorId};

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::blocked;
use crate::onnx::normalise::blocks::Blocked;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::blocks;
use crate::onnx::recognise::kit::codes::{code_tensor, without_functions};
use crate::onnx::recognise::kit::follow::{Follow, follow};
use crate::onnx::recognise::kit::moves::moved;
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::operand::{check_weights, operand, result};
use crate::onnx::recognise::kit::value::{Coding, Dequantized, Located, Value};
use crate::onnx::recognise::kit::weighted::{self, Activations, Bias, EVEN, Layer, Weights};

pub(super) fn matmul<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (a, b) = (network.input(node, 0)?, network.input(node, 1)?);
    if let Some(weights) = Matrix::of(network, node, [false; 2]) {
        return by_blocks(network, node, [a, b], None, weights);
    }
    let follow = follow(network, node)?;
    product(network, node, [a, b], None, false, follow)
}

pub(super) fn gemm<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (alpha, beta) = (node.float("alpha", 1.0), node.float("beta", 1.0));
    let [a, b] = [network.input(node, 0)?, network.input(node, 1)?];
    let c = network.optional(node, 2)?;
    if alpha != 1.0 || beta != 1.0 && c.is_some() {
        return Err(node.error(format!("has alpha {alpha} and beta {beta}; expected 1")));
    }
    let transposes = ["transA", "transB"].map(|name| node.int(name, 0) != 0);
    if let Some(weights) = Matrix::of(network, node, transposes) {
        return by_blocks(network, node, [a, b], c, weights);
    }
    let a = if transposes[0] { transposed(network, node, a)? } else { a };
    let follow = follow(network, node)?;
    product(network, node, [a, b], c, transposes[1], follow)
}

/// Reads a product with a matrix of 2, 4 or 8 bits. Activations are real values, whatever `accuracy_level` allows.
pub(super) fn of_bits<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (a, matrix) = (network.input(node, 0)?, Rc::new(blocked::of_bits(network.known, node)?));
    let b = Value::Constant(Rc::new(matrix.reals()));
    let c = network.optional(node, 5)?;
    let weights = Matrix { codes: matrix, right: true, transposes: [false, true] };
    by_blocks(network, node, [a, b], c, weights)
}

/// An operand of a product with constant codes and a scale per block.
struct Matrix {
    codes: Rc<Blocked>,
    /// Whether it is the second operand.
    right: bool,
    /// The operands that the product transposes.
    transposes: [bool; 2],
}

impl Matrix {
    fn of(network: &Network<'_>, node: Node<'_>, transposes: [bool; 2]) -> Option<Self> {
        let side =
            |right: bool| Some(Self { codes: network.known.blocked(node, right.into())?, right, transposes });
        side(true).or_else(|| side(false))
    }

    /// Returns the weights of a layer. An output channel is a column, or a row if the matrix is the first operand.
    fn weights(&self) -> Result<blocks::Weights, FloatReason> {
        let axis = self.codes.blocks.axis;
        if self.codes.codes.shape.len() != 2 {
            return Err(FloatReason::Blocks { axis });
        }
        let is_turned = if self.right { !self.transposes[1] } else { self.transposes[0] };
        let rows = if is_turned { self.codes.permuted(&[1, 0]) } else { Blocked::clone(&self.codes) };
        blocks::Weights::new(&rows.as_kernel(), axis)
    }
}

/// Adds a product with a matrix that has a scale per block.
fn by_blocks<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [a, b]: [Value; 2],
    c: Option<Value>,
    matrix: Matrix,
) -> Result<(), OnnxError> {
    let x = without_functions(network, node, if matrix.right { a.clone() } else { b.clone() })?;
    let mut reason = None;
    if weighted::activations(network, node, &x).is_some() {
        let name = node.first_output()?;
        let name = if c.is_some() { format!("{name}_product") } else { name.to_owned() };
        match layer_of_blocks(network, node, x, &matrix, &name)? {
            Ok(id) => return with_added(network, node, id, c),
            Err(why) => reason = Some(why),
        }
    }
    let a = if matrix.transposes[0] { transposed(network, node, a)? } else { a };
    let id = multiplied(network, node, [a, b], matrix.transposes[1], c.is_some())?;
    blocks::note(network, id, reason);
    with_added(network, node, id, c)
}

/// Returns the product as a layer, or the reason why it cannot be one.
fn layer_of_blocks<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    x: Value,
    matrix: &Matrix,
    name: &str,
) -> Result<Result<TensorId, FloatReason>, OnnxError> {
    let weights = match matrix.weights() {
        Ok(weights) => weights,
        Err(reason) => return Ok(Err(reason)),
    };
    let rank = network.shape(&x).len();
    // If the matrix is on the left, `y = (x' * w')'`.
    let is_turned = rank >= 2 && if matrix.right { matrix.transposes[0] } else { !matrix.transposes[1] };
    let x = if is_turned { moved(network, node, x, turn(rank), "transposed")? } else { x };
    let Some(Activations { at, quant }) = weighted::activations(network, node, &x) else {
        return Err(node.error("has no codes of one scale"));
    };
    let id = network.in_order(node, at, false)?;
    let shape = network.builder.tensor(id).ty.shape.clone();
    let Some((&terms, front)) = shape.split_last().filter(|(terms, _)| **terms == weights.inputs) else {
        return Err(node.error(format!("cannot multiply {shape:?} by {:?}", matrix.codes.codes.shape)));
    };
    let rows = [front.iter().product(), 1, 1, terms];
    let x = format!("{}_rows", network.builder.tensor(id).name);
    let id = blocks::reshaped(network, node, id, &rows, &x)?;
    let op = |requantize, activation| Conv2d { activation, requantize, ..Conv2d::default() }.into();
    let columns = format!("{name}_columns");
    let is_turned = !matrix.right && rank >= 2;
    let own = if is_turned { columns.as_str() } else { name };
    let product = blocks::Product { x: id, x_quant: quant, weights, front: Some(front), name: own };
    let id = match product.add(network, node, op)? {
        Ok(id) if is_turned => network.emit_like(node, turn(rank), &[id], name, id)?,
        Ok(id) => id,
        Err(reason) => return Ok(Err(reason)),
    };
    Ok(Ok(id))
}

/// Returns the exchange of the last two axes.
fn turn(rank: usize) -> Transpose {
    let mut permutation: Vec<usize> = (0..rank).collect();
    permutation.swap(rank - 2, rank - 1);
    Transpose { permutation }
}

fn transposed<'a>(network: &mut Network<'a>, node: Node<'a>, value: Value) -> Result<Value, OnnxError> {
    match value {
        Value::Constant(constant) => {
            let mut axes: Vec<usize> = (0..constant.shape.len()).collect();
            let [.., a, b] = axes.as_mut_slice() else {
                return Err(node
                    .error(format!("transposes a constant of shape {:?}; expected 2 axes", constant.shape)));
            };
            std::mem::swap(a, b);
            Ok(Value::Constant(std::rc::Rc::new(constant.permuted(&axes))))
        }
        value => moved(network, node, value, Transpose { permutation: vec![1, 0] }, "transposed"),
    }
}

/// Adds a product with a matrix, which is quantized if its operands are codes and the matrix is constant.
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
        (Some(a), Some(b)) if b.codes.shape.len() == 2 && network.shape_of(a.at).len() >= 2 => Some((a, b)),
        _ => None,
    };
    let Some((activations, weights)) = constant else {
        return between_codes(network, node, [a, b], c, transposed_b, follow);
    };
    let layer = dense(network, node, activations, weights, transposed_b)?;
    let bias = weighted::bias(node, c.as_ref(), layer.channels, &layer.x_quant, &layer.weight_quant)?;
    let layer = Layer { bias, ..layer };
    if let Some(reason) = layer.stays_in_float(network, follow.as_ref()) {
        return real(network, node, [a, b], c, transposed_b, Some(reason));
    }
    layer.emit(network, node, op, follow, false)
}

fn op(requantize: Requantize, activation: Activation) -> Op {
    FullyConnected { keep_num_dims: true, activation, requantize }.into()
}

fn dense<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    activations: Activations,
    weights: Weights,
    transposed: bool,
) -> Result<Layer, OnnxError> {
    let (Activations { at, quant: x_quant }, Weights { codes, quant: weight_quant }) = (activations, weights);
    let weights = if transposed { Constant::clone(&codes) } else { codes.permuted(&[1, 0]) };
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
        // Zero points of the matrix are along its columns.
        b.quant.axis = b.quant.axis.map(|_| 1);
    }
    let operands = (weighted::activations(network, node, &a), weighted::weights(&b, 1));
    let (Some(activations), Some(weights)) = operands else {
        return Err(node.error("needs a constant matrix and one zero point of its input"));
    };
    if weights.codes.shape.len() != 2 || network.shape_of(activations.at).len() < 2 {
        return Err(node.error("needs a constant matrix of two axes"));
    }
    let layer = dense(network, node, activations, weights, false)?;
    let sums = layer.sums(network, node, op, false)?;
    weighted::bind_sums(network, node, sums)
}

/// Adds a product of two tensors: of codes if a quantizer follows, otherwise of real values.
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
        return real(network, node, [a, b], c, transposed_b, None);
    };
    match (dtypes, follow) {
        ((Some(of_a), Some(_), Some(of_y)), Some(follow)) if of_a == of_y && c.is_none() => {
            let in_file_order = |network: &mut Network<'a>, operand: &Dequantized| {
                code_tensor(network, node, operand.clone(), false, 0)
            };
            let inputs = [in_file_order(network, left)?, in_file_order(network, right)?];
            // The operation does not support an activation.
            let follow = follow.without_activation();
            let ty = network.code_type(node, &follow.quant, 1, false)?;
            let op = BatchMatmul { adj_x: false, adj_y: transposed_b, requantize: EVEN };
            let id = network.emit(node, op, &inputs, &follow.name.clone(), ty)?;
            follow.finish(network, node, Located { id, channels_last: false })
        }
        (_, Some(follow)) if follow.quantizer.is_none() => Err(node
            .error("multiplies codes of several scales or of more than 8 bits, which cannot be represented")),
        _ => real(network, node, [a, b], c, transposed_b, None),
    }
}

/// Adds a float product. `reason` is why it is not one of codes, if its operands are codes.
fn real<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [a, b]: [Value; 2],
    c: Option<Value>,
    transposed_b: bool,
    reason: Option<FloatReason>,
) -> Result<(), OnnxError> {
    let id = multiplied(network, node, [a, b], transposed_b, c.is_some())?;
    blocks::note(network, id, reason);
    with_added(network, node, id, c)
}

/// Adds the product of two real matrices, optionally followed by an addition.
fn multiplied<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [a, b]: [Value; 2],
    transposed_b: bool,
    is_part: bool,
) -> Result<TensorId, OnnxError> {
    let name = node.first_output()?;
    let a = network.real_operand(node, a, false)?;
    let b = network.materialize(node, b)?;
    let b = if transposed_b { transposed(network, node, b)? } else { b };
    let b = network.real_operand(node, b, false)?;
    let name = if is_part { format!("{name}_product") } else { name.to_owned() };
    network.emit(node, FloatMatMul {}, &[a, b], &name, Coding::REAL)
}

/// Binds the output of a node to the sum of a product and an operand.
fn with_added<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    product: TensorId,
    c: Option<Value>,
) -> Result<(), OnnxError> {
    let mut id = product;
    if let Some(c) = c {
        let other = network.real_tensor(node, c, false)?;
        let op = FloatBinary { function: RealPair::Add };
        id = network.emit(node, op, &[id, other], node.first_output()?, Coding::REAL)?;
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
        return Err(node.error("produces real values; expected a scale of its output"));
    }
    let follow = Some(Follow::of_operator(network, node, result(network, node, 7, &a)?)?);
    product(network, node, [a, b], bias, transposed, follow)
}
