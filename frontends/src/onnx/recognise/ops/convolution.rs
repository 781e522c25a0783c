//! Conv and ConvInteger.

use guardbit_graph::ops::{Conv2d, DepthwiseConv2d, FloatBinary, FloatConv2d, RealPair};
use guardbit_graph::{Activation, Brief, FloatReason, Op, Requantize};

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::blocks::Blocked;
use crate::onnx::normalise::window::{Sliding, sliding};
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::blocks;
use crate::onnx::recognise::kit::codes::without_functions;
use crate::onnx::recognise::kit::follow::{Follow, follow};
use crate::onnx::recognise::kit::moves::{with_rows, without_rows};
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::operand::{check_weights, operand, result};
use crate::onnx::recognise::kit::value::{Coding, Located, Value};
use crate::onnx::recognise::kit::weighted::{self, Activations, Bias, Layer, Weights};

pub(super) fn conv<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (x, w, b) = (network.input(node, 0)?, network.input(node, 1)?, network.optional(node, 2)?);
    if let Some(weights) = network.known.blocked(node, 1) {
        return by_blocks(network, node, [x, w], b, &weights);
    }
    let follow = follow(network, node)?;
    convolve(network, node, [x, w], b, follow)
}

/// Adds a convolution with weights that have a scale per block.
fn by_blocks<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [x, w]: [Value; 2],
    b: Option<Value>,
    weights: &Blocked,
) -> Result<(), OnnxError> {
    let value = without_functions(network, node, x.clone())?;
    let Some(Activations { at, quant }) = weighted::activations(network, node, &value) else {
        return real(network, node, [x, w], b, None);
    };
    let geometry = Geometry::new(node, &network.shape_of(at), &weights.codes.shape)?;
    let axis = weights.blocks.axis;
    let arranged = match weights.codes.shape.len() {
        4 if node.int("group", 1) == 1 => blocks::Weights::new(&weights.permuted(&[0, 2, 3, 1]), axis),
        _ => Err(FloatReason::Blocks { axis }),
    };
    let arranged = match arranged {
        Ok(arranged) => arranged,
        Err(reason) => return real(network, node, [x, w], b, Some(reason)),
    };
    let id = network.in_order(node, at, true)?;
    let Sliding { stride, dilation, padding, .. } = geometry.sliding;
    let op = |requantize, activation| Conv2d { stride, dilation, padding, activation, requantize }.into();
    let name = node.first_output()?;
    let product = if b.is_some() { format!("{name}_product") } else { name.to_owned() };
    let product = blocks::Product { x: id, x_quant: quant, weights: arranged, front: None, name: &product };
    let mut id = match product.add(network, node, op)? {
        Ok(id) => id,
        Err(reason) => return real(network, node, [x, w], b, Some(reason)),
    };
    if let Some(bias) = b {
        let bias = network.real_tensor(node, bias, false)?;
        let op = FloatBinary { function: RealPair::Add };
        id = network.emit(node, op, &[id, bias], name, Coding::REAL)?;
    }
    network.bind(node, 0, Value::Real(Located { id, channels_last: true }))
}

/// Adds a convolution, which is quantized if its operands are codes.
fn convolve<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [x, w]: [Value; 2],
    b: Option<Value>,
    follow: Option<Follow<'a>>,
) -> Result<(), OnnxError> {
    let Some(weights) = weighted::weights(&w, 0) else {
        weighted::note_scales(network, node, &w, 0)?;
        return real(network, node, [x, w], b, None);
    };
    let x = without_functions(network, node, x)?;
    let Some(activations) = weighted::activations(network, node, &x) else {
        return real(network, node, [x, w], b, None);
    };
    let geometry = Geometry::new(node, &network.shape_of(activations.at), &weights.codes.shape)?;
    let bias = weighted::bias(node, b.as_ref(), geometry.channels, &activations.quant, &weights.quant)?;
    let layer = geometry.layer(network, node, activations, weights, bias)?;
    if let Some(reason) = layer.stays_in_float(network, follow.as_ref()) {
        return real(network, node, [x, w], b, Some(reason));
    }
    layer.emit(network, node, |requantize, activation| geometry.op(requantize, activation), follow, true)
}

pub(super) fn integer<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (x, w) = (weighted::raw(network, node, 0, 2)?, weighted::raw(network, node, 1, 3)?);
    let (Some(activations), Some(weights)) =
        (weighted::activations(network, node, &x), weighted::weights(&w, 0))
    else {
        return Err(node.error("needs constant weights and one zero point of its input"));
    };
    let geometry = Geometry::new(node, &network.shape_of(activations.at), &weights.codes.shape)?;
    let layer = geometry.layer(network, node, activations, weights, Bias::None)?;
    let sums =
        layer.sums(network, node, |requantize, activation| geometry.op(requantize, activation), true)?;
    weighted::bind_sums(network, node, sums)
}

/// The geometry of a convolution.
#[derive(Clone, Copy)]
struct Geometry {
    sliding: Sliding,
    channels: usize,
    depthwise: bool,
    one_axis: bool,
}

impl Geometry {
    fn new(node: Node<'_>, x: &[usize], w: &[usize]) -> Result<Self, OnnxError> {
        let (&[_, inputs, ref image @ ..], &[channels, depth, ref kernel @ ..]) = (x, w) else {
            return Err(node.error(format!("cannot convolve {x:?} with {}", Brief(w))));
        };
        let groups = usize::try_from(node.int("group", 1)).unwrap_or(0);
        if groups == 0 || inputs != depth.saturating_mul(groups) || channels % groups != 0 {
            return Err(node.error(format!("cannot convolve {x:?} with {} in {groups} groups", Brief(w))));
        }
        let sliding = sliding(node, kernel, image)?;
        let depthwise = groups > 1 && groups == inputs;
        Ok(Self { sliding, channels, depthwise, one_axis: image.len() == 1 })
    }

    fn layer<'a>(
        &self,
        network: &mut Network<'a>,
        node: Node<'a>,
        activations: Activations,
        weights: Weights,
        bias: Bias,
    ) -> Result<Layer, OnnxError> {
        let (Activations { at, quant: x_quant }, Weights { codes, quant: weight_quant }) =
            (activations, weights);
        weighted::check_scales(node, &weight_quant, self.channels)?;
        let mut weights = Constant::clone(&codes);
        if self.one_axis {
            weights.shape.insert(2, 1);
        }
        // [o, i, h, w] becomes [o, h, w, i], or [1, h, w, o] for a depthwise convolution.
        let (weights, axis) = match self.depthwise {
            true => (weights.permuted(&[1, 2, 3, 0]), 3),
            false => (weights.permuted(&[0, 2, 3, 1]), 0),
        };
        let mut x = Located { id: network.in_order(node, at, true)?, channels_last: true };
        if self.one_axis {
            x.id = with_rows(network, node, x.id)?;
        }
        let (channels, line) = (self.channels, self.one_axis);
        Ok(Layer { x, x_quant, weights, weight_quant, axis, channels, bias, line })
    }

    fn op(&self, requantize: Requantize, activation: Activation) -> Op {
        let Sliding { stride, dilation, padding, .. } = self.sliding;
        match self.depthwise {
            true => DepthwiseConv2d { stride, dilation, padding, activation, requantize }.into(),
            false => Conv2d { stride, dilation, padding, activation, requantize }.into(),
        }
    }
}

/// Adds a float convolution. `reason` is why it is not one of codes, if its operands are codes.
fn real<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [x, w]: [Value; 2],
    b: Option<Value>,
    reason: Option<FloatReason>,
) -> Result<(), OnnxError> {
    let (x_shape, w_shape) = (network.shape(&x), network.shape(&w));
    let geometry = Geometry::new(node, &x_shape, &w_shape)?;
    let Sliding { stride, dilation, padding, .. } = geometry.sliding;
    let mut inputs = vec![network.real_operand(node, x, true)?, network.real_operand(node, w, true)?];
    if geometry.one_axis {
        inputs = inputs.into_iter().map(|id| with_rows(network, node, id)).collect::<Result<_, _>>()?;
    }
    if let Some(bias) = b {
        inputs.push(network.real_tensor(node, bias, false)?);
    }
    let name = match geometry.one_axis {
        true => format!("{}_row", node.first_output()?),
        false => node.first_output()?.to_owned(),
    };
    let op = FloatConv2d { stride, dilation, padding };
    let id = network.emit(node, op, &inputs, &name, Coding::REAL)?;
    blocks::note(network, id, reason);
    let mut at = Located { id, channels_last: true };
    if geometry.one_axis {
        at = without_rows(network, node, at)?;
    }
    network.bind(node, 0, Value::Real(at))
}

pub(super) fn qlinear<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (x, w) = (operand(network, node, 0, 0)?, operand(network, node, 3, 0)?);
    let follow = Some(Follow::of_operator(network, node, result(network, node, 6, &x)?)?);
    let bias = network.optional(node, 8)?;
    check_weights(node, &x, &w)?;
    convolve(network, node, [x, w], bias, follow)
}
