//! Normalizations and softmax.

use std::rc::Rc;

use guardbit_graph::ops::{FloatLayerNorm, FloatSoftmax, QLinearSoftmax, RealPair};

use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::follow::{Follow, follow};
use crate::onnx::recognise::kit::network::{Network, axis_of};
use crate::onnx::recognise::kit::operand::{operand, result};
use crate::onnx::recognise::kit::pairs::by_constant;
use crate::onnx::recognise::kit::value::{Coding, Located, Value};
use crate::onnx::recognise::kit::weighted::{self, Activations};

/// Reads batch normalization for inference: a factor and an offset per channel, in float32.
pub(super) fn batch<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    if node.int("training_mode", 0) != 0 {
        return Err(node.error("is in training mode"));
    }
    let mut constant = |index: usize| {
        let value = network.input(node, index)?;
        match network.materialize(node, value)? {
            Value::Constant(constant) => Ok(constant),
            _ => Err(node.error(format!("needs a constant in input {index}"))),
        }
    };
    let constants = (1..5).map(&mut constant).collect::<Result<Vec<_>, OnnxError>>()?;
    let reals: Option<Vec<&[f32]>> = constants.iter().map(|constant| constant.as_reals()).collect();
    let Some([scale, bias, mean, variance]) = reals.as_deref() else {
        return Err(node.error("has constants that are not real numbers"));
    };
    let value = network.input(node, 0)?;
    let shape = network.shape(&value);
    let rank = shape.len();
    let Some(&channels) = shape.get(1) else {
        return Err(
            node.error(format!("needs at least two axes, channels second; its input has shape {shape:?}"))
        );
    };
    if [scale, bias, mean, variance].iter().any(|values| values.len() != channels) {
        return Err(node.error(format!("needs {channels} numbers of each kind")));
    }
    let epsilon = node.float("epsilon", 1e-5);
    let factor: Vec<f32> = (0..channels).map(|c| scale[c] / (variance[c] + epsilon).sqrt()).collect();
    let offset = (0..channels).map(|c| bias[c] - mean[c] * factor[c]).collect();
    let mut shape = vec![1; rank];
    shape[1] = channels;
    let name = node.first_output()?.to_owned();
    let Value::Real(x) = network.materialize(node, value)? else {
        return Err(node.error("normalizes a constant"));
    };
    let x = by_constant(
        network,
        node,
        x,
        &Constant::reals(shape.clone(), factor),
        RealPair::Mul,
        &format!("{name}_scaled"),
    )?;
    let x = by_constant(network, node, x, &Constant::reals(shape, offset), RealPair::Add, &name)?;
    network.bind(node, 0, Value::Real(x))
}

pub(super) fn layer<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let shape = network.shape(&value);
    let axis = node.axis(node.int("axis", -1), shape.len())?;
    let mut inputs = vec![network.real_tensor(node, value, false)?];
    for index in [1, 2] {
        let Some(value) = network.optional(node, index)? else { continue };
        let Value::Constant(constant) = network.materialize(node, value)? else {
            return Err(node.error("needs constant scale and bias"));
        };
        let count: usize = shape[axis..].iter().product();
        let values = constant.as_reals().filter(|values| values.len() == count);
        let values = values.ok_or_else(|| node.error(format!("needs {count} numbers as scale and bias")))?;
        let constant = Rc::new(Constant::reals(shape[axis..].to_vec(), values.to_vec()));
        inputs.push(network.real_tensor(node, Value::Constant(constant), false)?);
    }
    let op = FloatLayerNorm { axis, epsilon: node.float("epsilon", 1e-5) };
    let id = network.emit(node, op, &inputs, node.first_output()?, Coding::REAL)?;
    network.bind(node, 0, Value::Real(Located { id, channels_last: false }))
}

pub(super) fn softmax<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let old = network.known.opset < 13;
    let value = network.input(node, 0)?;
    let follow = follow(network, node)?;
    softmax_of(network, node, value, follow, old)
}

/// Adds a softmax: of codes of 8 bits if a quantizer to an equal dtype follows, otherwise of real values.
///
/// In an old opset, it covers all axes from `axis` on.
fn softmax_of<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    follow: Option<Follow<'a>>,
    old: bool,
) -> Result<(), OnnxError> {
    let shape = network.shape(&value);
    let axis = node.axis(node.int("axis", if old { 1 } else { -1 }), shape.len())?;
    if old && shape[axis + 1..].iter().any(|&size| size != 1) {
        return Err(node.error("covers several axes, which cannot be represented"));
    }
    let codes = weighted::activations(network, node, &value).filter(|codes| codes.quant.dtype.bits() == 8);
    if let (Some(Activations { at, quant }), Some(follow)) = (codes, follow)
        && follow.kernel == quant.dtype
    {
        let follow = follow.without_activation();
        let ty = network.code_type(node, &follow.quant, 1, false)?;
        let op = QLinearSoftmax { axis: axis_of(network, at, axis) };
        let id = network.emit(node, op, &[at.id], &follow.name.clone(), ty)?;
        return follow.finish(network, node, Located { id, ..at });
    }
    let Value::Real(at) = network.materialize(node, value)? else {
        return Err(node.error("works on a constant"));
    };
    let op = FloatSoftmax { axis: axis_of(network, at, axis) };
    let id = network.emit(node, op, &[at.id], node.first_output()?, Coding::REAL)?;
    network.bind(node, 0, Value::Real(Located { id, ..at }))
}

pub(super) fn qlinear_softmax<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let x = operand(network, node, 0, 0)?;
    let quant = result(network, node, 3, &x)?;
    let follow = Some(Follow::of_operator(network, node, quant)?);
    softmax_of(network, node, x, follow, node.int("opset", 13) < 13)
}
