//! Operators that take parts of a tensor: Slice, Split, Gather with constant indices, and what is made of them.

use guardbit_graph::ops::{DepthToSpace, Gather, Reshape, Slice, SpaceToDepth, Tile, Transpose};
use guardbit_graph::{Brief, DType, TensorType};

use super::layout::moved;
use crate::onnx::constant::Constant;
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::value::{Located, Value};

/// Elements of each axis: the first one, how many, and the step.
struct Part {
    begin: Vec<usize>,
    size: Vec<usize>,
    strides: Vec<i64>,
}

impl Part {
    fn whole(shape: &[usize]) -> Self {
        Self { begin: vec![0; shape.len()], size: shape.to_vec(), strides: vec![1; shape.len()] }
    }

    fn op(self) -> Slice {
        Slice { begin: self.begin, size: self.size, strides: self.strides, shape: None }
    }
}

pub(super) fn slice<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = super::layout::movable(network, node)?;
    let shape = network.shape(&value);
    let (starts, ends) = (network.integers(node, 1)?, network.integers(node, 2)?);
    let axes = match node.input(3) {
        Some(_) => network.integers(node, 3)?,
        None => (0..starts.len() as i64).collect(),
    };
    let steps = match node.input(4) {
        Some(_) => network.integers(node, 4)?,
        None => vec![1; starts.len()],
    };
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(node.error("has starts, ends, axes and steps of different lengths"));
    }
    let mut part = Part::whole(&shape);
    for (i, &axis) in axes.iter().enumerate() {
        let axis = node.axis(axis, shape.len())?;
        // Any 64 bits can be a step.
        let (size, step) = (shape[axis] as i128, i128::from(steps[i]));
        let place = |at: i64| i128::from(at) + if at < 0 { size } else { 0 };
        let (first, end) = match step {
            0 => return Err(node.error("has a step of 0")),
            1.. => (place(starts[i]).clamp(0, size), place(ends[i]).clamp(0, size)),
            _ => (place(starts[i]).min(size - 1).max(0), place(ends[i]).min(size - 1).max(-1)),
        };
        let count = (end - first + step - step.signum()) / step;
        if count <= 0 || size == 0 {
            return Err(node.error(format!("takes nothing along axis {axis} of {}", Brief(&shape))));
        }
        part.begin[axis] = first as usize;
        part.size[axis] = count as usize;
        part.strides[axis] = steps[i];
    }
    let value = moved(network, node, value, part.op(), "part")?;
    network.bind(node, 0, value)
}

pub(super) fn split<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = super::layout::movable(network, node)?;
    let shape = network.shape(&value);
    let axis = node.axis(node.int("axis", 0), shape.len())?;
    let outputs = node.proto.outputs.len().max(1);
    let sizes: Vec<i64> = match (node.input(1), node.ints("split")) {
        (Some(_), _) => network.integers(node, 1)?,
        (None, Some(sizes)) => sizes.to_vec(),
        (None, None) => {
            // The last part is what is left.
            let each = shape[axis].div_ceil(outputs);
            (0..outputs).map(|i| shape[axis].saturating_sub(i * each).min(each) as i64).collect()
        }
    };
    let total = sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(usize::try_from(size).ok()?));
    if sizes.len() != outputs || total != Some(shape[axis]) || sizes.contains(&0) {
        return Err(node.error(format!("cannot split {} elements into {}", shape[axis], Brief(&sizes))));
    }
    let mut begin = 0;
    for (index, &size) in sizes.iter().enumerate() {
        let mut part = Part::whole(&shape);
        (part.begin[axis], part.size[axis]) = (begin, size as usize);
        begin += size as usize;
        if node.output(index).is_some_and(|name| network.is_read(name)) {
            let value = moved(network, node, value.clone(), part.op(), &format!("part{index}"))?;
            network.bind(node, index, value)?;
        }
    }
    Ok(())
}

/// Elements along an axis that constant indices name.
pub(super) fn gather<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    indices: &Constant,
) -> Result<(), OnnxError> {
    let value = super::layout::movable(network, node)?;
    let shape = network.shape(&value);
    let axis = node.axis(node.int("axis", 0), shape.len())?;
    let wanted = indices.as_integers().ok_or_else(|| node.error("has indices that are no integers"))?;
    let places = wanted.iter().map(|&index| node.axis(index, shape[axis])).collect::<Result<Vec<_>, _>>()?;
    let value = chosen(network, node, value, axis, &places, "chosen")?;
    let made = [&shape[..axis], &indices.shape, &shape[axis + 1..]].concat();
    let made = if made.is_empty() { vec![1] } else { made };
    let value = match network.shape(&value) == made {
        true => value,
        false => {
            let shape = made.into_iter().map(|size| size as i64).collect();
            moved(network, node, value, Reshape { shape }, "chosen_reshaped")?
        }
    };
    network.bind(node, 0, value)
}

/// The elements at some places along an axis.
pub(super) fn chosen<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    axis: usize,
    places: &[usize],
    what: &str,
) -> Result<Value, OnnxError> {
    let ty = TensorType { shape: vec![places.len()], dtype: DType::Int32, quantization: None };
    let codes = places.iter().map(|&place| place as i32).collect();
    let indices = network.codes(node, &format!("{}_{what}_places", node.first_output()?), ty, codes)?;
    super::layout::moved_with(network, node, value, Gather { axis, batch_dims: 0 }, &[indices], what)
}

pub(super) fn tile<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = super::layout::movable(network, node)?;
    let repeats: Option<Vec<usize>> =
        network.integers(node, 1)?.iter().map(|&n| usize::try_from(n).ok().filter(|&n| n > 0)).collect();
    let repeats = repeats.ok_or_else(|| node.error("repeats less than once"))?;
    let value = moved(network, node, value, Tile { repeats }, "repeated")?;
    network.bind(node, 0, value)
}

/// Numpy's broadcasting to a shape.
pub(super) fn expand<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = super::layout::movable(network, node)?;
    let (from, to) = (network.shape(&value), network.integers(node, 1)?);
    let rank = from.len().max(to.len());
    let old = |axis: usize| (axis + from.len()).checked_sub(rank).map_or(1, |i| from[i]);
    let new = |axis: usize| (axis + to.len()).checked_sub(rank).map_or(1, |i| to[i]);
    let repeat = |axis: usize| match (old(axis) as i64, new(axis)) {
        (_, 1) => Some(1),
        (a, b) if a == b => Some(1),
        (1, b) => usize::try_from(b).ok().filter(|&b| b > 0),
        _ => None,
    };
    let repeats: Option<Vec<usize>> = (0..rank).map(repeat).collect();
    let repeats = repeats.ok_or_else(|| node.error(format!("cannot give {} the shape {}", Brief(&from), Brief(&to))))?;
    let shape = (0..rank).map(|axis| old(axis) as i64).collect();
    let value = match rank == from.len() {
        true => value,
        false => moved(network, node, value, Reshape { shape }, "expanding")?,
    };
    let value = moved(network, node, value, Tile { repeats }, "expanded")?;
    network.bind(node, 0, value)
}

/// Channels as pixels. The order `DCR` is that of TensorFlow on images with their channels last.
pub(super) fn depth_to_space<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = super::layout::movable(network, node)?;
    let shape = network.shape(&value);
    let block = usize::try_from(node.int("blocksize", 0)).unwrap_or(0);
    let &[n, c, h, w] = shape.as_slice() else { return Err(node.error("needs images")) };
    let cells = block.checked_mul(block).filter(|&cells| cells > 0 && c % cells == 0);
    let cells = cells.ok_or_else(|| node.error(format!("cannot make blocks of {block} of {}", Brief(&shape))))?;
    if node.text("mode", "DCR") == "DCR" {
        let value = in_last_order(network, node, value, DepthToSpace { block_size: block })?;
        return network.bind(node, 0, value);
    }
    let (b, depth) = (block as i64, (c / cells) as i64);
    let [n, h, w] = [n, h, w].map(|size| size as i64);
    let value = moved(network, node, value, Reshape { shape: vec![n, depth, b, b, h, w] }, "blocks")?;
    let op = Transpose { permutation: vec![0, 1, 4, 2, 5, 3] };
    let value = moved(network, node, value, op, "spread")?;
    let value = moved(network, node, value, Reshape { shape: vec![n, depth, h * b, w * b] }, "space")?;
    network.bind(node, 0, value)
}

pub(super) fn space_to_depth<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = super::layout::movable(network, node)?;
    let block_size = usize::try_from(node.int("blocksize", 0)).unwrap_or(0);
    let value = in_last_order(network, node, value, SpaceToDepth { block_size })?;
    network.bind(node, 0, value)
}

/// A move of images with their channels last.
pub(super) fn in_last_order<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
    value: Value,
    op: impl Into<guardbit_graph::Op>,
) -> Result<Value, OnnxError> {
    let from = super::layout::located(&value).ok_or_else(|| node.error("works on a constant"))?;
    let id = network.in_order(node, from, true)?;
    let id = network.emit_like(node, op, &[id], node.first_output()?, id)?;
    Ok(super::layout::at(value, Located { id, channels_last: true }))
}
