//! Operations that move elements.

use guardbit_graph::ops::{
    Concat, FloatResizeBilinear, Gather, MirrorPad, Pad, Places, ResizeNearest, Slice,
};
use guardbit_graph::{DType, NodeId, real_of};

use super::codes::Made;
use super::ops::{even, operand, refused};
use super::{ExportError, Order, Writer, int, ints, text};
use crate::onnx::nearest::NearestMode;
use crate::onnx::parse::proto::{self, element};

/// Writes an operator that moves the elements of the first operand, with its further inputs.
pub(super) fn moved(
    writer: &mut Writer<'_>,
    id: NodeId,
    op: &str,
    attributes: Vec<proto::Attribute>,
    more: Vec<String>,
) -> Result<(), ExportError> {
    let x = writer.operand(operand(writer, id, 0)?, Order::Own)?;
    let name = writer.result_name(id);
    writer.node(op, [vec![x], more].concat(), &name, attributes);
    writer.result(id, Made::Moved(&name), Order::Own)
}

/// Returns the shape operand of a Reshape, which keeps the number of samples open if it is open.
fn shape_constant(writer: &mut Writer<'_>, shape: &[usize]) -> String {
    let mut sizes: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
    if writer.batch.is_some() {
        sizes[0] = -1;
    }
    writer.sizes_constant("shape", &sizes)
}

pub(super) fn reshape(writer: &mut Writer<'_>, id: NodeId) -> Result<(), ExportError> {
    let shape = &writer.graph.tensor(writer.graph.node(id).output).ty.shape;
    let sizes = shape_constant(writer, shape);
    moved(writer, id, "Reshape", Vec::new(), vec![sizes])
}

pub(super) fn transpose(
    writer: &mut Writer<'_>,
    id: NodeId,
    permutation: &[usize],
) -> Result<(), ExportError> {
    let axes = permutation.iter().map(|&axis| axis as i64).collect();
    moved(writer, id, "Transpose", vec![ints("perm", axes)], Vec::new())
}

/// Writes cells of real 0 between pixels, for which ONNX has no operator.
///
/// Pixels become images of one cell, are padded, and are joined again.
pub(super) fn dilate(
    writer: &mut Writer<'_>,
    id: NodeId,
    [down, across]: [usize; 2],
) -> Result<(), ExportError> {
    let input = operand(writer, id, 0)?;
    let &[images, rows, cols, channels] = &writer.graph.tensor(input).ty.shape[..] else {
        return Err(refused(writer, id, "does not read images".into()));
    };
    let mut made = writer.operand(input, Order::Own)?;
    let cells = [images, rows, 1, cols, 1, channels];
    let padded = [images, rows, down, cols, across, channels];
    let whole = [images, rows * down, cols * across, channels];
    let pads: Vec<i64> =
        [0; 6].into_iter().chain((0..6).map(|axis| (padded[axis] - cells[axis]) as i64)).collect();
    let [to_cells, to_whole] = [&cells[..], &whole].map(|shape| shape_constant(writer, shape));
    let pads = vec![writer.sizes_constant("pads", &pads), writer.reals_constant("filler", &[], &[0.0])];
    let name = writer.result_name(id);
    let steps = [
        ("Reshape", vec![to_cells], &cells[..]),
        ("Pad", pads, &padded),
        ("Reshape", vec![to_whole], &whole),
    ];
    for (op, more, shape) in steps {
        let to = writer.fresh(&name, "cells");
        writer.node(op, [vec![made], more].concat(), &to, Vec::new());
        writer.shaped(&to, element::FLOAT, shape.to_vec());
        made = to;
    }
    // The last pixel has no cells after it.
    let ends = [(rows - 1) * down + 1, (cols - 1) * across + 1].map(|end| end as i64);
    let ranges = [("starts", [0, 0]), ("ends", ends), ("axes", [1, 2])];
    let more = ranges.map(|(what, values)| writer.sizes_constant(what, &values)).to_vec();
    writer.node("Slice", [vec![made], more].concat(), &name, Vec::new());
    writer.result(id, Made::Moved(&name), Order::Own)
}

pub(super) fn tile(writer: &mut Writer<'_>, id: NodeId, repeats: &[usize]) -> Result<(), ExportError> {
    let repeats: Vec<i64> = repeats.iter().map(|&n| n as i64).collect();
    let repeats = writer.sizes_constant("repeats", &repeats);
    moved(writer, id, "Tile", Vec::new(), vec![repeats])
}

pub(super) fn pad(writer: &mut Writer<'_>, id: NodeId, pad: &Pad) -> Result<(), ExportError> {
    let sides = |side: usize| pad.paddings.iter().map(move |both| both[side] as i64);
    let pads: Vec<i64> = sides(0).chain(sides(1)).collect();
    let ty = &writer.graph.tensor(operand(writer, id, 0)?).ty;
    let filler = match (&ty.quantization, pad.value) {
        (_, None) => 0.0,
        (None, Some(word)) => real_of(word),
        (Some(q), Some(code)) => (code - q.zero_point(0)) as f32 * q.scale(0),
    };
    let more = vec![writer.sizes_constant("pads", &pads), writer.reals_constant("filler", &[], &[filler])];
    moved(writer, id, "Pad", Vec::new(), more)
}

pub(super) fn concat(writer: &mut Writer<'_>, id: NodeId, concat: &Concat) -> Result<(), ExportError> {
    let inputs: Vec<_> = writer.graph.node(id).inputs.iter().flatten().copied().collect();
    let output = &writer.graph.tensor(writer.graph.node(id).output).ty.quantization;
    let same = inputs.iter().all(|&input| writer.graph.tensor(input).ty.quantization == *output);
    if !same {
        even(writer, id, concat.requantize.scheme)?;
    }
    let reals =
        inputs.into_iter().map(|input| writer.operand(input, Order::Own)).collect::<Result<_, _>>()?;
    let name = writer.result_name(id);
    writer.node("Concat", reals, &name, vec![int("axis", concat.axis as i64)]);
    writer.result(id, if same { Made::Moved(&name) } else { Made::Real(&name) }, Order::Own)
}

pub(super) fn slice(writer: &mut Writer<'_>, id: NodeId, slice: &Slice) -> Result<(), ExportError> {
    if slice.shape.as_ref().is_some_and(|shape| *shape != slice.size) {
        let problem = "removes axes; add a reshape after it";
        return Err(refused(writer, id, problem.into()));
    }
    // Axes that are kept whole are left out, because the number of samples may be open.
    let input = &writer.graph.tensor(operand(writer, id, 0)?).ty.shape;
    let whole = |&axis: &usize| slice.size[axis] == input[axis] && slice.strides[axis] == 1;
    let mut axes: Vec<usize> = (0..input.len()).filter(|axis| !whole(axis)).collect();
    if axes.is_empty() {
        axes.push(input.len() - 1);
    }
    // An end before the first element must be far below 0.
    let end = |&axis: &usize| {
        let (begin, size, step) = (slice.begin[axis] as i64, slice.size[axis] as i64, slice.strides[axis]);
        let end = begin.saturating_add(size.saturating_mul(step));
        if end < 0 { i64::MIN + 1 } else { end }
    };
    let of = |value: &dyn Fn(&usize) -> i64| axes.iter().map(value).collect::<Vec<_>>();
    let more = vec![
        writer.sizes_constant("starts", &of(&|&axis| slice.begin[axis] as i64)),
        writer.sizes_constant("ends", &of(&end)),
        writer.sizes_constant("axes", &of(&|&axis| axis as i64)),
        writer.sizes_constant("steps", &of(&|&axis| slice.strides[axis])),
    ];
    moved(writer, id, "Slice", Vec::new(), more)
}

pub(super) fn gather(writer: &mut Writer<'_>, id: NodeId, gather: &Gather) -> Result<(), ExportError> {
    if gather.batch_dims > 0 {
        return Err(refused(writer, id, "selects per batch, which ONNX's Gather does not support".into()));
    }
    let indices = writer.graph.tensor(operand(writer, id, 1)?);
    let codes = indices.codes().map(|codes| codes.iter().map(i64::from).collect::<Vec<i64>>());
    let codes = codes.ok_or_else(|| refused(writer, id, "has indices that are not constant".into()))?;
    let (name, shape) = (indices.name.clone(), indices.ty.shape.clone());
    let more = vec![writer.integers_constant(&name, &shape, DType::Int64, &codes)];
    moved(writer, id, "Gather", vec![int("axis", gather.axis as i64)], more)
}

/// Writes an operator on images with their channels first.
fn of_images(
    writer: &mut Writer<'_>,
    id: NodeId,
    op: &str,
    attributes: Vec<proto::Attribute>,
    more: Vec<String>,
) -> Result<(), ExportError> {
    let x = writer.operand(operand(writer, id, 0)?, Order::ChannelsFirst)?;
    let name = writer.result_name(id);
    writer.node(op, [vec![x], more].concat(), &name, attributes);
    writer.result(id, Made::Moved(&name), Order::ChannelsFirst)
}

pub(super) fn blocks(
    writer: &mut Writer<'_>,
    id: NodeId,
    op: &str,
    block_size: usize,
) -> Result<(), ExportError> {
    of_images(writer, id, op, vec![int("blocksize", block_size as i64)], Vec::new())
}

/// Returns the names of the scales and sizes of a resized image with its channels first. One of the two is left out.
///
/// Sizes would fix the number of samples, so an open number requires scales.
fn picture(
    writer: &mut Writer<'_>,
    id: NodeId,
    scales: Option<[f32; 2]>,
) -> Result<Vec<String>, ExportError> {
    let from = &writer.graph.tensor(operand(writer, id, 0)?).ty.shape;
    let to = &writer.graph.tensor(writer.graph.node(id).output).ty.shape;
    let scales = scales.or_else(|| writer.batch.and_then(|_| picture_scales(from, to)));
    Ok(match scales {
        Some([down, across]) => {
            vec![String::new(), writer.reals_constant("scales", &[4], &[1.0, 1.0, down, across])]
        }
        None => {
            let sizes: Vec<i64> = [0, 3, 1, 2].map(|axis| to[axis] as i64).into();
            vec![String::new(), String::new(), writer.sizes_constant("sizes", &sizes)]
        }
    })
}

/// Returns scales of rows and columns with which a runtime resizes one image to the other.
pub(super) fn picture_scales(from: &[usize], to: &[usize]) -> Option<[f32; 2]> {
    let scales = [1, 2].map(|axis| to[axis] as f32 / from[axis] as f32);
    let fits = |axis: usize| (from[axis] as f32 * scales[axis - 1]).floor() as usize == to[axis];
    (fits(1) && fits(2)).then_some(scales)
}

/// Writes a nearest resize if one of ONNX's rules selects equal pixels.
pub(super) fn resize_nearest(
    writer: &mut Writer<'_>,
    id: NodeId,
    resize: &ResizeNearest,
) -> Result<(), ExportError> {
    let input = writer.graph.tensor(operand(writer, id, 0)?).ty.shape.clone();
    let places = match (resize.align_corners, resize.half_pixel_centers) {
        (true, _) => Places::AlignCorners,
        (false, true) => Places::HalfPixel,
        (false, false) => Places::Asymmetric,
    };
    let fits = |mode: &NearestMode| {
        (0..2).all(|axis| {
            let (from, to) = (input[axis + 1], resize.size[axis]);
            let at = |x: usize| mode.source(places, x, to as f32 / from as f32, [from, to]);
            (0..to).all(|x| at(x) == resize.place(x, from, axis))
        })
    };
    let Some(mode) = NearestMode::ALL.into_iter().find(fits) else {
        let problem = "selects pixels that ONNX's Resize cannot select; use a gather along rows and columns";
        return Err(refused(writer, id, problem.into()));
    };
    let attributes = vec![
        text("mode", "nearest"),
        text("coordinate_transformation_mode", places.name()),
        text("nearest_mode", mode.name()),
    ];
    let more = picture(writer, id, None)?;
    of_images(writer, id, "Resize", attributes, more)
}

pub(super) fn resize_bilinear(
    writer: &mut Writer<'_>,
    id: NodeId,
    resize: &FloatResizeBilinear,
) -> Result<(), ExportError> {
    let attributes =
        vec![text("mode", "linear"), text("coordinate_transformation_mode", resize.places.name())];
    let more = picture(writer, id, resize.scales)?;
    of_images(writer, id, "Resize", attributes, more)
}

pub(super) fn mirror_pad(writer: &mut Writer<'_>, id: NodeId, pad: &MirrorPad) -> Result<(), ExportError> {
    if pad.symmetric {
        let problem = "repeats the outermost elements; ONNX's Pad reflects without them";
        return Err(refused(writer, id, problem.into()));
    }
    let sides = |side: usize| pad.paddings.iter().map(move |both| both[side] as i64);
    let pads = writer.sizes_constant("pads", &sides(0).chain(sides(1)).collect::<Vec<_>>());
    moved(writer, id, "Pad", vec![text("mode", "reflect")], vec![pads])
}
