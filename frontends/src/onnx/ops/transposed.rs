//! ConvTranspose: a convolution of the picture with zeros between its pixels.

use guardbit_graph::ops::{Dilate, FloatConv2d, Pad, Slice};
use guardbit_graph::{Brief, DType, MAX_ELEMENTS, Padding};

use crate::onnx::constant::Constant;
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::value::{Located, Value};

/// Attributes of a transposed convolution of images.
struct Geometry {
    groups: usize,
    stride: [usize; 2],
    dilation: [usize; 2],
    /// Cells that are left out at the beginning of rows and columns, and the sizes of the output.
    begin: [usize; 2],
    size: [usize; 2],
}

pub(super) fn conv<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (value, weights) = (network.input(node, 0)?, network.input(node, 1)?);
    let Value::Constant(weights) = network.materialize(node, weights)? else {
        return Err(node.error("needs constant weights"));
    };
    let shape = network.shape(&value);
    let (&[_, inputs, h, w], &[depth, each, kh, kw]) = (shape.as_slice(), weights.shape.as_slice()) else {
        return Err(
            node.error(format!("convolves {} with {}; images can be represented", Brief(&shape), Brief(&weights.shape)))
        );
    };
    let geometry = geometry(node, [h, w], [kh, kw])?;
    if inputs != depth || depth % geometry.groups != 0 {
        return Err(node.error(format!("cannot convolve {shape:?} with {:?}", weights.shape)));
    }
    let name = node.first_output()?.to_owned();
    let float = || (DType::Float32, None);
    let mut id = network.real_tensor(node, value, true)?;
    if geometry.stride != [1, 1] {
        let op = Dilate { factor: geometry.stride };
        id = network.emit(node, op, &[id], &format!("{name}_dilated"), float())?;
    }
    // A kernel reaches as far beyond the last pixel as before the first.
    let reach = |axis: usize| ([kh, kw][axis] - 1) * geometry.dilation[axis];
    let full = |axis: usize| ([h, w][axis] - 1) * geometry.stride[axis] + reach(axis) + 1;
    let after = |axis: usize| (geometry.begin[axis] + geometry.size[axis]).saturating_sub(full(axis));
    let sides = [0, 1].map(|axis| [reach(axis), reach(axis) + after(axis)]);
    let op = Pad { paddings: vec![[0, 0], sides[0], sides[1], [0, 0]], value: Some(0) };
    id = network.emit(node, op, &[id], &format!("{name}_padded"), float())?;
    let kernel = network.reals(node, &format!("{name}_weights"), &turned(&weights, geometry.groups, each))?;
    let mut operands = vec![id, kernel];
    if let Some(bias) = network.optional(node, 2)? {
        operands.push(network.real_tensor(node, bias, false)?);
    }
    let op = FloatConv2d { stride: [1, 1], dilation: geometry.dilation, padding: Padding::Valid };
    let cut = (0..2).any(|axis| geometry.begin[axis] > 0 || geometry.size[axis] != full(axis) + after(axis));
    let conv_name = if cut { format!("{name}_full") } else { name.clone() };
    id = network.emit(node, op, &operands, &conv_name, float())?;
    if cut {
        let whole = network.builder.tensor(id).ty.shape.clone();
        let mut slice = Slice::whole(&whole);
        slice.begin[1..3].copy_from_slice(&geometry.begin);
        slice.size[1..3].copy_from_slice(&geometry.size);
        id = network.emit(node, slice, &[id], &name, float())?;
    }
    network.bind(node, 0, Value::Real(Located { id, channels_last: true }))
}

fn geometry(node: Node<'_>, image: [usize; 2], kernel: [usize; 2]) -> Result<Geometry, OnnxError> {
    let two = |name: &str, default: usize| -> Result<[usize; 2], OnnxError> {
        let given = node.sizes(name)?.unwrap_or_else(|| vec![default; 2]);
        <[usize; 2]>::try_from(given).map_err(|_| node.error(format!("`{name}` must have 2 numbers")))
    };
    let (stride, dilation, more) = (two("strides", 1)?, two("dilations", 1)?, two("output_padding", 0)?);
    let groups = usize::try_from(node.int("group", 1)).ok().filter(|&groups| groups > 0);
    let groups = groups.ok_or_else(|| node.error("has no groups"))?;
    if stride.contains(&0) || dilation.contains(&0) || kernel.contains(&0) {
        return Err(node.error("has strides or dilations that no window has"));
    }
    let pads = node.sizes("pads")?.unwrap_or_else(|| vec![0; 4]);
    let auto = node.text("auto_pad", "NOTSET");
    if pads.len() != 4 || !matches!(auto.as_str(), "NOTSET" | "VALID" | "SAME_UPPER" | "SAME_LOWER") {
        return Err(node.error(format!("has pads {} and `auto_pad` `{auto}`", Brief(&pads))));
    }
    let wanted = wanted(node)?;
    let too_large = || {
        node.error(format!("makes an image of more than {MAX_ELEMENTS} elements along an axis, its pads included"))
    };
    let (mut begin, mut size) = ([0; 2], [0; 2]);
    for axis in 0..2 {
        let reached = reached(image[axis], stride[axis], kernel[axis], dilation[axis]);
        let full = reached.and_then(|reached| reached.checked_add(more[axis])).and_then(bounded);
        let full = full.ok_or_else(too_large)?;
        let (front, back) = if auto == "NOTSET" { (pads[axis], pads[axis + 2]) } else { (0, 0) };
        let target = match (wanted, auto.as_str()) {
            (Some(sizes), _) => Some(sizes[axis]),
            (None, "SAME_UPPER" | "SAME_LOWER") => Some(image[axis].saturating_mul(stride[axis])),
            _ => None,
        };
        (begin[axis], size[axis]) = match target {
            None => (front, full.saturating_sub(front.saturating_add(back))),
            Some(target) => {
                let total = full.saturating_sub(target);
                let front = if auto == "SAME_UPPER" { total / 2 } else { total - total / 2 };
                (front, bounded(target).ok_or_else(too_large)?)
            }
        };
        if size[axis] == 0 {
            return Err(node.error("makes an empty image"));
        }
    }
    Ok(Geometry { groups, stride, dilation, begin, size })
}

/// Rows and columns of `output_shape`, which may say those of the batch and the channels before them.
fn wanted(node: Node<'_>) -> Result<Option<[usize; 2]>, OnnxError> {
    match node.sizes("output_shape")?.as_deref() {
        None => Ok(None),
        Some(&[rows, columns] | &[_, _, rows, columns]) => Ok(Some([rows, columns])),
        Some(other) => Err(node.error(format!("`output_shape` {} must have 2 or 4 numbers", Brief(other)))),
    }
}

/// Elements of an axis that pixels reach over that are `stride` apart, each as far as the kernel does.
fn reached(pixels: usize, stride: usize, kernel: usize, dilation: usize) -> Option<usize> {
    let between = pixels.checked_sub(1)?.checked_mul(stride)?;
    let reach = kernel.checked_sub(1)?.checked_mul(dilation)?;
    between.checked_add(reach)?.checked_add(1)
}

/// A size that a tensor can have.
fn bounded(size: usize) -> Option<usize> {
    (size <= MAX_ELEMENTS).then_some(size)
}

/// Weights `[i, o/groups, kh, kw]` as those of a convolution, `[o, kh, kw, i/groups]`, turned by half a turn.
fn turned(weights: &Constant, groups: usize, each: usize) -> Constant {
    let (inputs, kernel) = (weights.shape[0], [weights.shape[2], weights.shape[3]]);
    let (of_group, cells) = (inputs / groups, kernel[0] * kernel[1]);
    let values = weights.as_reals().unwrap_or_default();
    let mut turned = Vec::with_capacity(values.len());
    for out in 0..groups * each {
        let (group, channel) = (out / each, out % each);
        for cell in (0..cells).rev() {
            let from = |i: usize| ((group * of_group + i) * each + channel) * cells + cell;
            turned.extend((0..of_group).map(|i| values[from(i)]));
        }
    }
    Constant::reals(vec![groups * each, kernel[0], kernel[1], of_group], turned)
}
