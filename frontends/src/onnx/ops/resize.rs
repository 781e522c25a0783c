//! Resize and Upsample.

use guardbit_graph::ops::{FloatResizeBilinear, Places, ResizeNearest};
use guardbit_graph::{Brief, DType, MAX_ELEMENTS};

use super::parts::{chosen, in_last_order};
use crate::onnx::constant::elements_of;
use crate::onnx::error::OnnxError;
use crate::onnx::nearest::NearestMode;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::value::{Located, Value};

/// Sizes of the output, and the scales that lead to them, per axis.
struct Target {
    sizes: Vec<usize>,
    scales: Vec<f32>,
    /// Whether the file gives scales, of which sizes follow.
    scaled: bool,
}

fn target(network: &Network<'_>, node: Node<'_>, shape: &[usize]) -> Result<Target, OnnxError> {
    let upsample = node.proto.op == "Upsample" || network.opset() < 11;
    let (scales, sizes) = if upsample { (1, 9) } else { (2, 3) };
    let given = |index: usize| network.optional_constant(node, index);
    let scales = given(scales)?.filter(|constant| constant.data.len() > 0);
    if let Some(constant) = scales {
        let scales = constant.as_reals().ok_or_else(|| node.error("has scales that are no real numbers"))?;
        let fits = |scale: &f32| scale.is_finite() && *scale > 0.0 && *scale < 1e6;
        if scales.len() != shape.len() || !scales.iter().all(fits) {
            return Err(node.error(format!("has scales {} for {} axes", Brief(scales), shape.len())));
        }
        let sizes = shape.iter().zip(scales).map(|(&size, &scale)| (size as f32 * scale).floor() as usize);
        return Ok(Target { sizes: possible(node, sizes.collect())?, scales: scales.to_vec(), scaled: true });
    }
    let Some(constant) = given(sizes)? else { return Err(node.error("needs constant scales or sizes")) };
    let sizes = constant.as_integers().ok_or_else(|| node.error("has sizes that are no integers"))?;
    let sizes: Option<Vec<usize>> = sizes.iter().map(|&size| usize::try_from(size).ok()).collect();
    let sizes = sizes.filter(|sizes| sizes.len() == shape.len());
    let sizes = sizes.ok_or_else(|| node.error("has sizes of another number of axes"))?;
    let sizes = possible(node, sizes)?;
    let scales = sizes.iter().zip(shape).map(|(&to, &from)| to as f32 / from as f32).collect();
    Ok(Target { sizes, scales, scaled: false })
}

/// Sizes that a tensor can have.
fn possible(node: Node<'_>, sizes: Vec<usize>) -> Result<Vec<usize>, OnnxError> {
    match elements_of(&sizes) {
        Some(0) => Err(node.error("makes an empty tensor")),
        Some(_) => Ok(sizes),
        None => Err(node.error(format!("makes the sizes {sizes:?}; {MAX_ELEMENTS} elements are the most"))),
    }
}

pub(super) fn resize<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    for (name, plain) in [("antialias", 0), ("exclude_outside", 0)] {
        if node.int(name, plain) != plain {
            return Err(node.error(format!("has `{name}`, which cannot be represented")));
        }
    }
    if node.ints("axes").is_some() || node.text("keep_aspect_ratio_policy", "stretch") != "stretch" {
        return Err(node.error("has `axes` or keeps the ratio of its sides, which cannot be represented"));
    }
    let value = super::layout::movable(network, node)?;
    let shape = network.shape(&value);
    let target = target(network, node, &shape)?;
    let upsample = node.proto.op == "Upsample" || network.opset() < 11;
    let rule = match upsample {
        true => "asymmetric".into(),
        false => node.text("coordinate_transformation_mode", "half_pixel"),
    };
    let places = Places::ALL.iter().copied().find(|places| places.name() == rule);
    let places =
        places.ok_or_else(|| node.error(format!("has places `{rule}`, which cannot be represented")))?;
    match node.text("mode", "nearest").as_str() {
        "nearest" => nearest(network, node, value, &target, places, upsample),
        "linear" | "bilinear" => linear(network, node, value, &target, places),
        other => Err(node.error(format!("has mode `{other}`; nearest and linear can be represented"))),
    }
}

fn linear<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    target: &Target,
    places: Places,
) -> Result<(), OnnxError> {
    let shape = network.shape(&value);
    let &[n, c, height, width] = target.sizes.as_slice() else { return Err(node.error("needs images")) };
    if [n, c] != shape[..2] {
        return Err(node.error("changes more than rows and columns, which cannot be represented"));
    }
    let id = network.real_tensor(node, value, true)?;
    let scales = target.scaled.then(|| [target.scales[2], target.scales[3]]);
    let op = FloatResizeBilinear { size: [height, width], places, scales };
    let id = network.emit(node, op, &[id], node.first_output()?, (DType::Float32, None))?;
    network.bind(node, 0, Value::Real(Located { id, channels_last: true }))
}

/// How a node rounds places.
fn nearest_mode(node: Node<'_>, old: bool) -> Result<NearestMode, OnnxError> {
    let name = if old { "floor".into() } else { node.text("nearest_mode", "round_prefer_floor") };
    let found = NearestMode::ALL.into_iter().find(|mode| mode.name() == name);
    found.ok_or_else(|| node.error(format!("rounds places by `{name}`, which cannot be represented")))
}

fn nearest<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    target: &Target,
    places: Places,
    old: bool,
) -> Result<(), OnnxError> {
    let shape = network.shape(&value);
    let mode = nearest_mode(node, old)?;
    let along = |axis: usize| {
        let (from, to, scale) = (shape[axis], target.sizes[axis], target.scales[axis]);
        (0..to).map(|x| mode.source(places, x, scale, [from, to])).collect()
    };
    let wanted: Vec<Vec<usize>> = (0..shape.len()).map(along).collect();
    if let Some(op) = plain(&shape, &target.sizes, &wanted) {
        let value = in_last_order(network, node, value, op)?;
        return network.bind(node, 0, value);
    }
    let mut value = value;
    for (axis, wanted) in wanted.iter().enumerate() {
        if !wanted.iter().copied().eq(0..shape[axis]) {
            value = chosen(network, node, value, axis, wanted, &format!("along{axis}"))?;
        }
    }
    network.bind(node, 0, value)
}

/// The operation on images that reads these places, if one does.
fn plain(from: &[usize], to: &[usize], wanted: &[Vec<usize>]) -> Option<ResizeNearest> {
    let (&[n, c, h, w], &[m, d, height, width]) = (from, to) else { return None };
    if [n, c] != [m, d] {
        return None;
    }
    let kinds = [(false, false), (false, true), (true, false)];
    let ops = kinds.map(|(align_corners, half_pixel_centers)| ResizeNearest {
        size: [height, width],
        align_corners,
        half_pixel_centers,
    });
    ops.into_iter().find(|op| {
        let along = |axis: usize, size: usize| {
            wanted[axis + 2].iter().enumerate().all(|(x, &at)| op.place(x, size, axis) == at)
        };
        along(0, h) && along(1, w)
    })
}
