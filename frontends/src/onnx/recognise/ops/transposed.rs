//! ConvTranspose: a convolution of the image with zeros between its pixels.

use guardbit_graph::ops::{Conv2d, DepthwiseConv2d, Dilate, FloatConv2d, Pad, Slice, TransposeConv2d};
use guardbit_graph::{Activation, Brief, FloatReason, Op, Padding, Requantize, TensorId};

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::quant::Quant;
use crate::onnx::normalise::transposed::{Geometry, geometry};
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::blocks;
use crate::onnx::recognise::kit::codes::without_functions;
use crate::onnx::recognise::kit::follow::follow;
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::value::{Coding, Located, Value};
use crate::onnx::recognise::kit::weighted::{self, Activations, Layer, Weights};

pub(super) fn conv<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (value, weights) = (network.input(node, 0)?, network.input(node, 1)?);
    let (shape, kernel) = (network.shape(&value), network.shape(&weights));
    let (&[_, inputs, h, w], &[depth, _, kh, kw]) = (shape.as_slice(), kernel.as_slice()) else {
        let problem = format!("convolves {} with {}; expected images", Brief(&shape), Brief(&kernel));
        return Err(node.error(problem));
    };
    let geometry = geometry(node, [h, w], [kh, kw])?;
    if inputs != depth || depth % geometry.groups != 0 {
        return Err(node.error(format!("cannot convolve {shape:?} with {kernel:?}")));
    }
    let around = Around::of(&geometry, [h, w], [kh, kw]);
    // Scales belong to output channels, which are one axis of the weights only if there is one group.
    let codes =
        weighted::weights(&weights, 1).filter(|codes| geometry.groups == 1 || codes.quant.axis.is_none());
    let value = if codes.is_some() { without_functions(network, node, value)? } else { value };
    let (
        Some(Weights { codes, quant: weight_quant }),
        Some(Activations { at, quant: x_quant }),
        Some(padding),
    ) = (codes, weighted::activations(network, node, &value), around.padding())
    else {
        weighted::note_scales(network, node, &weights, 1)?;
        return real(network, node, [value, weights], &geometry, &around, None);
    };
    let channels = kernel[1] * geometry.groups;
    let bias = network.optional(node, 2)?;
    let bias = weighted::bias(node, bias.as_ref(), channels, &x_quant, &weight_quant)?;
    let follow = follow(network, node)?;
    let x = Located { id: network.in_order(node, at, true)?, channels_last: true };
    let plain = geometry.groups == 1 && geometry.dilation == [1, 1];
    let depthwise = geometry.groups > 1 && geometry.groups == inputs;
    let laid = laid(&codes, geometry.groups, !plain);
    // `[1, h, w, o]` for a depthwise convolution.
    let (arranged, axis) = if depthwise { (laid.permuted(&[3, 1, 2, 0]), 3) } else { (laid, 0) };
    let weight_quant = Quant { axis: weight_quant.axis.map(|_| axis), ..weight_quant };
    let layer = Layer { x, x_quant, weights: arranged, weight_quant, axis, channels, bias, line: false };
    if let Some(reason) = layer.stays_in_float(network, follow.as_ref()) {
        return real(network, node, [value, weights], &geometry, &around, Some(reason));
    }
    let x = Located { id: dilated(network, node, layer.x.id, &geometry)?, ..layer.x };
    let dilation = geometry.dilation;
    let op = |requantize: Requantize, activation: Activation| -> Op {
        match (plain, depthwise) {
            (true, _) => TransposeConv2d { padding, activation, requantize }.into(),
            (_, true) => DepthwiseConv2d { stride: [1, 1], dilation, padding, activation, requantize }.into(),
            _ => Conv2d { stride: [1, 1], dilation, padding, activation, requantize }.into(),
        }
    };
    Layer { x, ..layer }.emit(network, node, op, follow, true)
}

/// Returns the image with zeros between its pixels.
fn dilated<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    id: TensorId,
    geometry: &Geometry,
) -> Result<TensorId, OnnxError> {
    if geometry.stride == [1, 1] {
        return Ok(id);
    }
    let name = format!("{}_dilated", node.first_output()?);
    network.emit_like(node, Dilate { factor: geometry.stride }, &[id], &name, id)
}

/// The surroundings of the image with zeros between its pixels, for rows and columns.
struct Around {
    /// Number of cells by which a window extends beyond the image.
    reach: [usize; 2],
    /// Cells after the image that only the size of the output requires.
    after: [usize; 2],
    /// First cell and size of the output, among all sums.
    begin: [usize; 2],
    size: [usize; 2],
    full: [usize; 2],
}

impl Around {
    fn of(geometry: &Geometry, image: [usize; 2], kernel: [usize; 2]) -> Self {
        let (begin, size) = (geometry.begin, geometry.size);
        // A kernel extends equally far beyond the last pixel and before the first.
        let reach = [0, 1].map(|axis| (kernel[axis] - 1) * geometry.dilation[axis]);
        let full = [0, 1].map(|axis| (image[axis] - 1) * geometry.stride[axis] + reach[axis] + 1);
        let after = [0, 1].map(|axis| (begin[axis] + size[axis]).saturating_sub(full[axis]));
        Self { reach, after, begin, size, full }
    }

    /// Returns whether sums are removed along an axis.
    fn cuts(&self, axis: usize) -> bool {
        self.begin[axis] > 0 || self.size[axis] != self.full[axis] + self.after[axis]
    }

    /// Returns the padding whose windows are those of the output, or `None` if these lie inside the image.
    fn padding(&self) -> Option<Padding> {
        let side = |axis: usize| {
            let before = self.reach[axis].checked_sub(self.begin[axis])?;
            let behind =
                (self.begin[axis] + self.size[axis] + self.reach[axis]).checked_sub(self.full[axis])?;
            Some([before, behind])
        };
        Some(Padding::Explicit { rows: side(0)?, cols: side(1)? })
    }
}

/// Adds a transposed convolution in float.
fn real<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    [value, weights]: [Value; 2],
    geometry: &Geometry,
    around: &Around,
    reason: Option<FloatReason>,
) -> Result<(), OnnxError> {
    let Value::Constant(weights) = network.materialize(node, weights)? else {
        return Err(node.error("needs constant weights"));
    };
    let name = node.first_output()?.to_owned();
    let id = network.real_tensor(node, value, true)?;
    let mut id = dilated(network, node, id, geometry)?;
    let sides = [0, 1].map(|axis| [around.reach[axis], around.reach[axis] + around.after[axis]]);
    let op = Pad { paddings: vec![[0, 0], sides[0], sides[1], [0, 0]], value: Some(0) };
    id = network.emit(node, op, &[id], &format!("{name}_padded"), Coding::REAL)?;
    let kernel = network.reals(node, &format!("{name}_weights"), &laid(&weights, geometry.groups, true))?;
    let mut operands = vec![id, kernel];
    if let Some(bias) = network.optional(node, 2)? {
        operands.push(network.real_tensor(node, bias, false)?);
    }
    let op = FloatConv2d { stride: [1, 1], dilation: geometry.dilation, padding: Padding::Valid };
    let cut = around.cuts(0) || around.cuts(1);
    let conv_name = if cut { format!("{name}_full") } else { name.clone() };
    id = network.emit(node, op, &operands, &conv_name, Coding::REAL)?;
    blocks::note(network, id, reason);
    if cut {
        let whole = network.builder.tensor(id).ty.shape.clone();
        let mut slice = Slice::whole(&whole);
        slice.begin[1..3].copy_from_slice(&geometry.begin);
        slice.size[1..3].copy_from_slice(&geometry.size);
        id = network.emit(node, slice, &[id], &name, Coding::REAL)?;
    }
    network.bind(node, 0, Value::Real(Located { id, channels_last: true }))
}

/// Reorders weights `[i, o/groups, kh, kw]` to `[o, kh, kw, i/groups]`, rotated by 180 degrees for a convolution.
fn laid(weights: &Constant, groups: usize, turned: bool) -> Constant {
    let [inputs, each, kh, kw] = [0, 1, 2, 3].map(|axis| weights.shape[axis]);
    let (of_group, cells) = (inputs / groups, kh * kw);
    let place = move |out: usize, cell: usize, i: usize| {
        let (group, channel) = (out / each, out % each);
        let cell = if turned { cells - 1 - cell } else { cell };
        ((group * of_group + i) * each + channel) * cells + cell
    };
    let places = (0..groups * each).flat_map(move |out| {
        (0..cells).flat_map(move |cell| (0..of_group).map(move |i| place(out, cell, i)))
    });
    weights.at(places, vec![groups * each, kh, kw, of_group])
}
