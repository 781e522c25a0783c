//! SLICE, SPLIT, SPLIT_V, UNPACK, PACK, GATHER and GATHER_ND.

use guardbit_graph::TensorId;
use guardbit_graph::ops::{Gather, GatherNd, Pack, Slice};

use crate::tflite::parse::{Field, TfliteError};
use crate::tflite::recognise::kit::{NewNode, OperatorReader};

pub(super) fn slice(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(3, 3)?;
    let (x, begin, sizes) = (reader.input(0)?, reader.sizes(1)?, reader.integers(2)?);
    let shape = reader.shape(x);
    if begin.len() != shape.len() || sizes.len() != shape.len() {
        return Err(reader.error(format!("begin and size must have one value for each of {shape:?}")));
    }
    // -1 stands for all remaining elements.
    let size = |axis: usize| match usize::try_from(sizes[axis]) {
        Ok(size) => Some(size),
        Err(_) if sizes[axis] == -1 => shape[axis].checked_sub(begin[axis]),
        Err(_) => None,
    };
    let size = (0..shape.len()).map(size).collect::<Option<Vec<_>>>();
    let size =
        size.ok_or_else(|| reader.error(format!("begin {begin:?} and size {sizes:?} do not fit {shape:?}")))?;
    Ok(NewNode::on(x, Slice { begin, size, ..Slice::whole(shape) }))
}

pub(super) fn split(reader: &mut OperatorReader<'_, '_>) -> Result<Vec<NewNode>, TfliteError> {
    let count = reader.options(35)?.size(Field(0, "SplitOptions.num_splits"), 0)?;
    reader.expect_inputs(2, 2)?;
    reader.expect_outputs(count)?;
    let (axis, x) = (reader.integer(0)?, reader.input(1)?);
    let shape = reader.shape(x);
    let axis = reader.axis(axis, shape.len())?;
    if count == 0 || !shape[axis].is_multiple_of(count) {
        return Err(reader.error(format!("{count} parts do not divide axis {axis} of {shape:?}")));
    }
    Ok(along(reader, x, axis, vec![shape[axis] / count; count]))
}

pub(super) fn split_v(reader: &mut OperatorReader<'_, '_>) -> Result<Vec<NewNode>, TfliteError> {
    reader.expect_inputs(3, 3)?;
    let (x, sizes, axis) = (reader.input(0)?, reader.integers(1)?, reader.integer(2)?);
    reader.expect_outputs(sizes.len())?;
    let shape = reader.shape(x);
    let axis = reader.axis(axis, shape.len())?;
    // One of the sizes may be -1 and then stands for the rest.
    let given = sizes.iter().filter(|&&size| size != -1);
    let known = given.clone().try_fold(0usize, |sum, &size| sum.checked_add(usize::try_from(size).ok()?));
    let rest = known.and_then(|known| shape[axis].checked_sub(known));
    let fits = match (sizes.len() - given.count(), rest) {
        (0, Some(rest)) => rest == 0,
        (1, Some(_)) => true,
        _ => false,
    };
    let (true, Some(rest)) = (fits, rest) else {
        return Err(reader.error(format!("parts {sizes:?} do not add up to axis {axis} of {shape:?}")));
    };
    let sizes = sizes.iter().map(|&size| usize::try_from(size).unwrap_or(rest)).collect();
    Ok(along(reader, x, axis, sizes))
}

pub(super) fn unpack(reader: &mut OperatorReader<'_, '_>) -> Result<Vec<NewNode>, TfliteError> {
    let options = reader.options(64)?;
    let count = options.size(Field(0, "UnpackOptions.num"), 0)?;
    let axis = options.scalar::<i32>(Field(1, "UnpackOptions.axis"), 0)?;
    reader.expect_inputs(1, 1)?;
    reader.expect_outputs(count)?;
    let x = reader.input(0)?;
    let shape = reader.shape(x);
    let axis = reader.axis(axis.into(), shape.len())?;
    if shape[axis] != count {
        return Err(reader.error(format!("{count} parts are not the {} of axis {axis}", shape[axis])));
    }
    let left = [&shape[..axis], &shape[axis + 1..]].concat();
    let mut nodes = along(reader, x, axis, vec![1; count]);
    for node in &mut nodes {
        if let guardbit_graph::Op::Slice(slice) = &mut node.op {
            slice.shape = Some(left.clone());
        }
    }
    Ok(nodes)
}

pub(super) fn pack(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let axis = reader.options(59)?.scalar::<i32>(Field(1, "PackOptions.axis"), 0)?;
    let inputs = (0..reader.inputs.len()).map(|index| reader.input(index).map(Some));
    let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
    let axis = reader.axis(axis.into(), reader.output.shape.len())?;
    Ok(NewNode { op: Pack { axis }.into(), inputs })
}

pub(super) fn gather(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    let options = reader.options(23)?;
    let axis = options.scalar::<i32>(Field(0, "GatherOptions.axis"), 0)?;
    let batch_dims = options.scalar::<i32>(Field(1, "GatherOptions.batch_dims"), 0)?;
    reader.expect_inputs(2, 2)?;
    let (x, indices) = (reader.input(0)?, reader.indices(1)?);
    let axis = reader.axis(axis.into(), reader.shape(x).len())?;
    // A negative number counts from the last axis of the indices.
    let rank = reader.shape(indices).len() as i64;
    let batch_dims = i64::from(batch_dims) + if batch_dims < 0 { rank } else { 0 };
    let batch_dims = usize::try_from(batch_dims)
        .map_err(|_| reader.error(format!("{batch_dims} batch axes of {rank} axes do not exist")))?;
    Ok(NewNode { op: Gather { axis, batch_dims }.into(), inputs: vec![Some(x), Some(indices)] })
}

/// Returns parts of `x` of these sizes, one after another along `axis`.
fn along(reader: &OperatorReader<'_, '_>, x: TensorId, axis: usize, sizes: Vec<usize>) -> Vec<NewNode> {
    let whole = Slice::whole(reader.shape(x));
    let mut at = 0;
    let part = |size| {
        let mut part = whole.clone();
        (part.begin[axis], part.size[axis]) = (at, size);
        at += size;
        NewNode::on(x, part)
    };
    sizes.into_iter().map(part).collect()
}

pub(super) fn gather_nd(reader: &mut OperatorReader<'_, '_>) -> Result<NewNode, TfliteError> {
    reader.expect_inputs(2, 2)?;
    let (x, indices) = (reader.input(0)?, reader.input(1)?);
    Ok(NewNode { op: GatherNd.into(), inputs: vec![Some(x), Some(indices)] })
}
