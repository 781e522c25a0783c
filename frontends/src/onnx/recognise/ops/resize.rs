//! Resize and Upsample.

use guardbit_graph::ops::{FloatResizeBilinear, Places, ResizeNearest};

use crate::onnx::error::OnnxError;
use crate::onnx::nearest::NearestMode;
use crate::onnx::normalise::resize::{Target, target};
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::moves::{chosen, in_last_order, movable};
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::value::{Coding, Located, Value};

pub(super) fn resize<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    for (name, plain) in [("antialias", 0), ("exclude_outside", 0)] {
        if node.int(name, plain) != plain {
            return Err(node.error(format!("has `{name}`, which cannot be represented")));
        }
    }
    if node.ints("axes").is_some() || node.text("keep_aspect_ratio_policy", "stretch") != "stretch" {
        return Err(node.error("has `axes` or keeps the ratio of its sides, which cannot be represented"));
    }
    let value = movable(network, node)?;
    let shape = network.shape(&value);
    let target = target(network.known, node, &shape)?;
    let upsample = node.proto.op == "Upsample" || network.known.opset < 11;
    let rule = match upsample {
        true => "asymmetric".into(),
        false => node.text("coordinate_transformation_mode", "half_pixel"),
    };
    let places = Places::ALL.iter().copied().find(|places| places.name() == rule);
    let places = places.ok_or_else(|| {
        node.error(format!(
            "has the coordinate transformation `{rule}`, which cannot \
                                                 be represented"
        ))
    })?;
    match node.text("mode", "nearest").as_str() {
        "nearest" => nearest(network, node, value, &target, places, upsample),
        "linear" | "bilinear" => linear(network, node, value, &target, places),
        other => Err(node.error(format!("has mode `{other}`; expected nearest or linear"))),
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
    let id = network.emit(node, op, &[id], node.first_output()?, Coding::REAL)?;
    network.bind(node, 0, Value::Real(Located { id, channels_last: true }))
}

/// Returns the rounding of positions in a node.
fn nearest_mode(node: Node<'_>, old: bool) -> Result<NearestMode, OnnxError> {
    let name = if old { "floor".into() } else { node.text("nearest_mode", "round_prefer_floor") };
    let found = NearestMode::ALL.into_iter().find(|mode| mode.name() == name);
    found.ok_or_else(|| node.error(format!("rounds positions with `{name}`, which cannot be represented")))
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

/// Returns the resize operation that reads these positions, if there is one.
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
