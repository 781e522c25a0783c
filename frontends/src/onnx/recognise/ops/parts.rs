//! Operators that take parts of a tensor (Slice, Split, Gather with constant indices), and related ones.

use guardbit_graph::Brief;
use guardbit_graph::ops::{DepthToSpace, Reshape, Slice, SpaceToDepth, Tile, Transpose};

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::parts;
use crate::onnx::normalise::parts::Part;
use crate::onnx::normalise::quant::{Quant, dtype};
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::codes::table;
use crate::onnx::recognise::kit::follow::narrowed_codes;
use crate::onnx::recognise::kit::moves::{chosen, in_last_order, movable, moved};
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::said::said;
use crate::onnx::recognise::kit::value::{Located, Value};

pub(super) fn slice<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    let shape = network.shape(&value);
    let part = parts::slice(network.known, node, &shape)?;
    if let Some(axis) = part.size.iter().position(|&size| size == 0) {
        return Err(node.error(format!("selects nothing along axis {axis} of {}", Brief(&shape))));
    }
    let value = moved(network, node, value, taking(part), "part")?;
    network.bind(node, 0, value)
}

pub(super) fn split<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    let parts = parts::split(network.known, node, &network.shape(&value))?;
    for (index, part) in parts.into_iter().enumerate() {
        if node.output(index).is_some_and(|name| network.is_read(name)) {
            let value = moved(network, node, value.clone(), taking(part), &format!("part{index}"))?;
            network.bind(node, index, value)?;
        }
    }
    Ok(())
}

/// Returns the operation that takes a slice.
fn taking(part: Part) -> Slice {
    Slice { begin: part.begin, size: part.size, strides: part.strides, shape: None }
}

/// Reads Gather with constant indices.
fn by_places<'a>(network: &mut Network<'a>, node: Node<'a>, indices: &Constant) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    let shape = network.shape(&value);
    let axis = node.axis(node.int("axis", 0), shape.len())?;
    let wanted = indices.as_integers().ok_or_else(|| node.error("has indices that are not integers"))?;
    let places = wanted.iter().map(|index| node.axis(index, shape[axis])).collect::<Result<Vec<_>, _>>()?;
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

pub(super) fn tile<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    let repeats: Option<Vec<usize>> = network
        .known
        .integers(node, 1)?
        .iter()
        .map(|&n| usize::try_from(n).ok().filter(|&n| n > 0))
        .collect();
    let repeats = repeats.ok_or_else(|| node.error("repeats less than once"))?;
    let value = moved(network, node, value, Tile { repeats }, "repeated")?;
    network.bind(node, 0, value)
}

/// Reads Expand, NumPy's broadcasting to a shape.
pub(super) fn expand<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    let (from, to) = (network.shape(&value), network.known.integers(node, 1)?);
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
    let repeats = repeats
        .ok_or_else(|| node.error(format!("cannot change the shape {} to {}", Brief(&from), Brief(&to))))?;
    let shape = (0..rank).map(|axis| old(axis) as i64).collect();
    let value = match rank == from.len() {
        true => value,
        false => moved(network, node, value, Reshape { shape }, "expanding")?,
    };
    let value = moved(network, node, value, Tile { repeats }, "expanded")?;
    network.bind(node, 0, value)
}

/// Reads DepthToSpace. The order `DCR` is that of TensorFlow on images with channels last.
pub(super) fn depth_to_space<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = movable(network, node)?;
    let shape = network.shape(&value);
    let block = usize::try_from(node.int("blocksize", 0)).unwrap_or(0);
    let &[n, c, h, w] = shape.as_slice() else { return Err(node.error("needs images")) };
    let cells = block.checked_mul(block).filter(|&cells| cells > 0 && c % cells == 0);
    let cells =
        cells.ok_or_else(|| node.error(format!("cannot make blocks of {block} of {}", Brief(&shape))))?;
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
    let value = movable(network, node)?;
    let block_size = usize::try_from(node.int("blocksize", 0)).unwrap_or(0);
    let value = in_last_order(network, node, value, SpaceToDepth { block_size })?;
    network.bind(node, 0, value)
}

/// Reads Gather. Codes that select elements of a constant form a table.
pub(super) fn gather<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let (entries, at) = match (network.input(node, 0)?, network.input(node, 1)?) {
        (Value::Constant(entries), Value::Codes(at)) => (entries, at),
        (_, Value::Constant(indices)) => return by_places(network, node, &indices),
        _ => return Err(node.error("has indices that are not constant")),
    };
    let (Some(codes), Some(dtype), 1) = (entries.as_integers(), dtype(entries.element), entries.shape.len())
    else {
        return Err(node.error("needs one-dimensional codes to select from"));
    };
    let from = network.builder.tensor(at.id).ty.dtype;
    let size = codes.len() as i64;
    let first = if from.is_signed() { -size } else { 0 };
    if i64::from(from.min()) < first || i64::from(from.max()) >= size {
        return Err(node.error(format!(
            "selects from {size} elements with codes of {from}, some of which are out \
                                of range"
        )));
    }
    let entry = |code: i32| codes.at(i64::from(code).rem_euclid(size) as usize) as i32;
    let name = node.first_output()?.to_owned();
    let quant = said(network, &name, dtype).unwrap_or_else(|| Quant::per_tensor(dtype, 1.0, 0));
    let quant = Quant { range: entries.range, ..quant };
    if quant.single().is_none() {
        return Err(node.error("produces codes with several scales, which cannot be represented"));
    }
    let narrowed = narrowed_codes(network, &name, &quant)?;
    match narrowed {
        Some(follow) => {
            let codes = follow.quant.codes();
            let narrow = |code: i32| codes.clamp(entry(code).into());
            let id = table(network, node, at.id, &follow.quant, &follow.name, narrow)?;
            follow.finish(network, node, Located { id, ..at })
        }
        None => {
            let id = table(network, node, at.id, &quant, &name, entry)?;
            network.bind(node, 0, Value::Codes(Located { id, ..at }))
        }
    }
}
