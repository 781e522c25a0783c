//! Conv and ConvInteger.

use guardbit_graph::ops::{Conv2d, DepthwiseConv2d, FloatConv2d};
use guardbit_graph::{Activation, Brief, DType, MAX_ELEMENTS, Op, Padding, Requantize};

use super::follow::{Follow, follow};
use super::quantize::without_functions;
use super::weighted::{self, Bias, Layer, with_rows, without_rows};
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::value::{Located, Value};

/// The window of a convolution or pool.
#[derive(Clone, Copy)]
pub(super) struct Sliding {
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    pub padding: Padding,
}

/// The window that a node's attributes say, over an image of so many rows and columns. One axis becomes the columns.
pub(super) fn sliding(node: Node<'_>, kernel: &[usize], image: &[usize]) -> Result<Sliding, OnnxError> {
    let axes = kernel.len();
    if !(1..=2).contains(&axes) || image.len() != axes {
        let problem = format!("slides over {} axes; 1 or 2 can be represented", image.len());
        return Err(node.error(problem));
    }
    let sizes = |name: &str| -> Result<Vec<usize>, OnnxError> {
        let found = node.sizes(name)?.unwrap_or_else(|| vec![1; axes]);
        if found.len() != axes {
            return Err(node.error(format!("`{name}` {} must have {axes} numbers", Brief(&found))));
        }
        Ok(found)
    };
    let (stride, dilation) = (sizes("strides")?, sizes("dilations")?);
    let pads = node.sizes("pads")?.unwrap_or_else(|| vec![0; 2 * axes]);
    if pads.len() != 2 * axes || stride.contains(&0) || dilation.contains(&0) || kernel.contains(&0) {
        return Err(node.error("has strides, dilations or pads that no window has"));
    }
    let two = |values: &[usize], one: usize| {
        if let [only] = values { [one, *only] } else { [values[0], values[1]] }
    };
    let side = |axis: usize| {
        let reach = (kernel[axis] - 1).saturating_mul(dilation[axis]).saturating_add(1);
        let covered = (image[axis].div_ceil(stride[axis]).saturating_sub(1)).saturating_mul(stride[axis]);
        let total = covered.saturating_add(reach).saturating_sub(image[axis]);
        match node.text("auto_pad", "NOTSET").as_str() {
            "NOTSET" => Ok([pads[axis], pads[axes + axis]]),
            "VALID" => Ok([0, 0]),
            "SAME_UPPER" => Ok([total / 2, total - total / 2]),
            "SAME_LOWER" => Ok([total - total / 2, total / 2]),
            other => Err(node.error(format!("`auto_pad` is `{other}`"))),
        }
    };
    let sides = (0..axes).map(side).collect::<Result<Vec<_>, _>>()?;
    if sides.as_flattened().iter().any(|&side| side > MAX_ELEMENTS) {
        return Err(node.error(format!("has pads {sides:?}; {MAX_ELEMENTS} elements are the most")));
    }
    let (rows, cols) = if axes == 1 { ([0, 0], sides[0]) } else { (sides[0], sides[1]) };
    let padding =
        if rows == [0, 0] && cols == [0, 0] { Padding::Valid } else { Padding::Explicit { rows, cols } };
    Ok(Sliding { kernel: two(kernel, 1), stride: two(&stride, 1), dilation: two(&dilation, 1), padding })
}

pub(super) fn conv<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (x, w, b) = (network.input(node, 0)?, network.input(node, 1)?, network.optional(node, 2)?);
    let follow = follow(network, node)?;
    convolve(network, node, [x, w], b, follow)
}

/// A convolution of values, quantized where its operands are codes.
pub(super) fn convolve<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [x, w]: [Value; 2],
    b: Option<Value>,
    follow: Option<Follow<'a>>,
) -> Result<(), OnnxError> {
    let Some((codes, weight_quant)) = weighted::weights(&w, 0) else {
        weighted::note_scales(network, node, &w, 0)?;
        return real(network, node, [x, w], b);
    };
    let x = without_functions(network, node, x)?;
    let Some((at, x_quant)) = weighted::activations(network, node, &x) else {
        return real(network, node, [x, w], b);
    };
    let geometry = Geometry::new(node, &network.shape_of(at), &codes.shape)?;
    let bias = weighted::bias(node, b.as_ref(), geometry.channels, (&x_quant, &weight_quant))?;
    let layer = geometry.layer(network, node, at, x_quant, (&codes, weight_quant), bias)?;
    layer.emit(network, node, |requantize, activation| geometry.op(requantize, activation), follow, true)
}

pub(super) fn integer<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (x, w) = (weighted::raw(network, node, 0, 2)?, weighted::raw(network, node, 1, 3)?);
    let (Some((at, x_quant)), Some((codes, weight_quant))) =
        (weighted::activations(network, node, &x), weighted::weights(&w, 0))
    else {
        return Err(node.error("needs constant weights and one zero point of its input"));
    };
    let geometry = Geometry::new(node, &network.shape_of(at), &codes.shape)?;
    let layer = geometry.layer(network, node, at, x_quant, (&codes, weight_quant), Bias::None)?;
    let sums =
        layer.sums(network, node, |requantize, activation| geometry.op(requantize, activation), true)?;
    weighted::bind_sums(network, node, sums)
}

/// Geometry of a convolution.
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
        at: Located,
        x_quant: crate::onnx::value::Quant,
        (codes, weight_quant): (&crate::onnx::constant::Constant, crate::onnx::value::Quant),
        bias: Bias,
    ) -> Result<Layer, OnnxError> {
        weighted::check_scales(node, &weight_quant, self.channels)?;
        let mut weights = codes.clone();
        if self.one_axis {
            weights.shape.insert(2, 1);
        }
        // [o, i, h, w] becomes [o, h, w, i], or [1, h, w, o] where every channel is on its own.
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

/// A convolution in float.
fn real<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [x, w]: [Value; 2],
    b: Option<Value>,
) -> Result<(), OnnxError> {
    let (x_shape, w_shape) = (network.shape(&x), network.shape(&w));
    let geometry = Geometry::new(node, &x_shape, &w_shape)?;
    let Sliding { stride, dilation, padding, .. } = geometry.sliding;
    let mut inputs = vec![network.real_tensor(node, x, true)?, network.real_tensor(node, w, true)?];
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
    let id = network.emit(node, op, &inputs, &name, (DType::Float32, None))?;
    let mut at = Located { id, channels_last: true };
    if geometry.one_axis {
        at = without_rows(network, node, at)?;
    }
    network.bind(node, 0, Value::Real(at))
}
