//! Operations that move elements.

use guardbit_graph::ops::{
    Concat, FloatResizeBilinear, Gather, MirrorPad, Pad, Places, ResizeNearest, Slice,
};
use guardbit_graph::{DType, NodeId, real_of};

use super::codes::Made;
use super::ops::{even, operand, refused};
use super::{ExportError, Order, Writer, int, ints, text};
use crate::onnx::nearest::NearestMode;
use crate::onnx::parse::proto;

/// An operator that moves the elements of the first operand, with what else it reads.
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

pub(super) fn reshape(writer: &mut Writer<'_>, id: NodeId) -> Result<(), ExportError> {
    let shape = &writer.graph.tensor(writer.graph.node(id).output).ty.shape;
    let sizes: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
    let sizes = writer.sizes_constant("shape", &sizes);
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
        let problem = "leaves axes out; a reshape behind it is needed";
        return Err(refused(writer, id, problem.into()));
    }
    let axes = || slice.begin.iter().zip(&slice.size).zip(&slice.strides);
    let begin: Vec<i64> = slice.begin.iter().map(|&begin| begin as i64).collect();
    // Before the first element there is none: an end that is far enough.
    let end = |((&begin, &size), &step): ((&usize, &usize), &i64)| {
        let end = (begin as i64).saturating_add((size as i64).saturating_mul(step));
        if end < 0 { i64::MIN + 1 } else { end }
    };
    let more = vec![
        writer.sizes_constant("starts", &begin),
        writer.sizes_constant("ends", &axes().map(end).collect::<Vec<_>>()),
        writer.sizes_constant("axes", &(0..begin.len() as i64).collect::<Vec<_>>()),
        writer.sizes_constant("steps", &slice.strides),
    ];
    moved(writer, id, "Slice", Vec::new(), more)
}

pub(super) fn gather(writer: &mut Writer<'_>, id: NodeId, gather: &Gather) -> Result<(), ExportError> {
    if gather.batch_dims > 0 {
        return Err(refused(writer, id, "chooses in each batch; ONNX's Gather does not".into()));
    }
    let indices = writer.graph.tensor(operand(writer, id, 1)?);
    let codes = indices.codes().map(|codes| codes.iter().map(|&code| code.into()).collect::<Vec<i64>>());
    let codes = codes.ok_or_else(|| refused(writer, id, "has indices that are no constant".into()))?;
    let (name, shape) = (indices.name.clone(), indices.ty.shape.clone());
    let more = vec![writer.integers_constant(&name, &shape, DType::Int64, &codes)];
    moved(writer, id, "Gather", vec![int("axis", gather.axis as i64)], more)
}

/// An operator on images with their channels in front.
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

/// The sizes of a picture that a node makes, with its channels in front.
fn picture(writer: &mut Writer<'_>, id: NodeId) -> String {
    let shape = &writer.graph.tensor(writer.graph.node(id).output).ty.shape;
    let sizes: Vec<i64> = [0, 3, 1, 2].map(|axis| shape[axis] as i64).into();
    writer.sizes_constant("sizes", &sizes)
}

/// Of the pictures that are nearest, those that ONNX's places give too.
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
        let problem = "reads pixels that ONNX's Resize does not; a gather along rows and columns is needed";
        return Err(refused(writer, id, problem.into()));
    };
    let attributes = vec![
        text("mode", "nearest"),
        text("coordinate_transformation_mode", places.name()),
        text("nearest_mode", mode.name()),
    ];
    let sizes = picture(writer, id);
    of_images(writer, id, "Resize", attributes, vec![String::new(), String::new(), sizes])
}

pub(super) fn resize_bilinear(
    writer: &mut Writer<'_>,
    id: NodeId,
    resize: &FloatResizeBilinear,
) -> Result<(), ExportError> {
    let attributes =
        vec![text("mode", "linear"), text("coordinate_transformation_mode", resize.places.name())];
    let more = match resize.scales {
        Some([down, across]) => {
            let scales = writer.reals_constant("scales", &[4], &[1.0, 1.0, down, across]);
            vec![String::new(), scales]
        }
        None => vec![String::new(), String::new(), picture(writer, id)],
    };
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
