//! SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND, RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.

use guardbit_graph::TensorId;
use guardbit_graph::ops::{
    BatchToSpace, DepthToSpace, ResizeBilinear, ResizeNearest, SpaceToBatch, SpaceToDepth,
};

use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{NewNode, OperatorReader};

pub(super) fn space_to_depth(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let block_size = reader.options(19)?.size(Field(0, "SpaceToDepthOptions.block_size"), 0)?;
    Ok(NewNode { op: SpaceToDepth { block_size }.into(), inputs: reader.one_input()? })
}

pub(super) fn depth_to_space(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let block_size = reader.options(94)?.size(Field(0, "DepthToSpaceOptions.block_size"), 0)?;
    Ok(NewNode { op: DepthToSpace { block_size }.into(), inputs: reader.one_input()? })
}

pub(super) fn space_to_batch(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(3, 3)?;
    let op = SpaceToBatch { block: reader.sizes(1)?, paddings: reader.pairs(2)? };
    let x = reader.input(0)?;
    let padded = op.paddings.iter().any(|sides| *sides != [0, 0]);
    let zero_point = reader.tensor(x).ty.quantization.as_ref().map_or(0, |q| q.zero_point(0));
    if reader.profile().is_micro() && padded && zero_point != 0 {
        return Err(reader.error("TensorFlow Lite Micro pads with code 0, not with real 0".into()));
    }
    Ok(NewNode::on(x, op))
}

pub(super) fn batch_to_space(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(3, 3)?;
    let op = BatchToSpace { block: reader.sizes(1)?, crops: reader.pairs(2)? };
    Ok(NewNode::on(reader.input(0)?, op))
}

pub(super) fn resize_bilinear(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(15)?;
    let align_corners = options.flag(Field(2, "ResizeBilinearOptions.align_corners"), false)?;
    let half_pixel_centers = options.flag(Field(3, "ResizeBilinearOptions.half_pixel_centers"), false)?;
    let (x, size) = resized(reader)?;
    let in_float32 = reader.profile().resizes_in_float32(reader.output.dtype);
    Ok(NewNode::on(x, ResizeBilinear { size, align_corners, half_pixel_centers, in_float32 }))
}

pub(super) fn resize_nearest_neighbor(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(74)?;
    let align_corners = options.flag(Field(0, "ResizeNearestNeighborOptions.align_corners"), false)?;
    let half_pixel_centers =
        options.flag(Field(1, "ResizeNearestNeighborOptions.half_pixel_centers"), false)?;
    let (x, size) = resized(reader)?;
    Ok(NewNode::on(x, ResizeNearest { size, align_corners, half_pixel_centers }))
}

/// Returns the image and its new size.
fn resized(reader: &mut OperatorReader<'_, '_>) -> Result<(TensorId, [usize; 2]), TfliteError> {
    reader.expect_inputs(2, 2)?;
    let size = reader.sizes(1)?;
    let size = <[usize; 2]>::try_from(size)
        .map_err(|size| reader.error(format!("the size {size:?} must be two numbers")))?;
    Ok((reader.input(0)?, size))
}
