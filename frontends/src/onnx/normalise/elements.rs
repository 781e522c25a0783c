//! The element types of the outputs of nodes.

use super::floats::precision;
use super::known::Known;
use super::scales::declared;
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto::element;

/// Returns the element type of the first output of a node, if it is known.
pub(super) fn element_of_output(known: &Known, node: Node<'_>) -> Option<i32> {
    let of = |index: usize| node.input(index).and_then(|name| known.elements.get(name)).copied();
    match node.proto.op.as_str() {
        "QuantizeLinear" => of(2).or(declared(node)).or(Some(element::UINT8)),
        "DequantizeLinear" => Some(precision(known, node)),
        "DynamicQuantizeLinear" => Some(element::UINT8),
        "ConvInteger" | "MatMulInteger" => Some(element::INT32),
        "ArgMax" | "ArgMin" | "Shape" | "Size" => Some(element::INT64),
        "And" | "Equal" | "Greater" | "GreaterOrEqual" | "Less" | "LessOrEqual" | "Not" | "Or" => {
            Some(element::BOOL)
        }
        "Cast" => i32::try_from(node.int("to", 0)).ok(),
        "Where" => of(1),
        "QLinearConv" | "QLinearMatMul" => of(7),
        "QLinearAdd" | "QLinearMul" => of(7).or(of(0)),
        "QLinearConcat" => of(1),
        "QGemm" => of(8),
        _ => of(0),
    }
}
