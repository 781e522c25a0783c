//! Scales of blocks that follow from values: operators of guardbit's own domain.

use guardbit_graph::DType;
use guardbit_graph::ops::FloatBlockScale;

use crate::onnx::error::OnnxError;
use crate::onnx::own::BLOCK_SCALES;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::network::{Network, axis_of};
use crate::onnx::recognise::kit::value::{Coding, Located, Value};

pub(super) fn block_scale<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    let axis = node.axis(node.int("axis", -1), network.shape(&value).len())?;
    let Value::Real(at) = network.materialize(node, value)? else {
        return Err(node.error("works on a constant"));
    };
    let size = node.int("block_size", 0);
    let block_size = usize::try_from(size).ok().filter(|&size| size > 0);
    let block_size =
        block_size.ok_or_else(|| node.error(format!("has blocks of {size}; expected at least 1")))?;
    let elements = node.text("elements", "");
    let is_element = |dtype: &DType| dtype.is_short_float() && *dtype != DType::Float8E8M0;
    let element_dtype = elements.parse().ok().filter(is_element);
    let element_dtype = element_dtype.ok_or_else(|| node.error(format!("has elements of `{elements}`")))?;
    let named = BLOCK_SCALES.iter().find(|(name, _)| *name == node.proto.op);
    let scale_dtype = named.map_or(DType::Float8E8M0, |(_, dtype)| *dtype);
    let op = FloatBlockScale { axis: axis_of(network, at, axis), block_size, scale_dtype, element_dtype };
    let id = network.emit(node, op, &[at.id], node.first_output()?, Coding::REAL)?;
    network.bind(node, 0, Value::Real(Located { id, ..at }))
}
