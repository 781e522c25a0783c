//! Nodes that quantize real values.

use super::floats;
use super::known::Known;
use super::qonnx;
use super::rule::Rule;
use super::scales::{declared, quant_at};
use crate::onnx::error::OnnxError;
use crate::onnx::parse::node::Node;

/// Returns the rule of a node that quantizes real values of `rank` axes.
///
/// Returns `None` for all other nodes, for blocks, for floating-point codes and for a computed scale.
pub(in crate::onnx) fn rule(known: &Known, node: Node<'_>, rank: usize) -> Result<Option<Rule>, OnnxError> {
    if qonnx::is_domain(&node.proto.domain) {
        return qonnx::rule(known, node);
    }
    let plain = node.proto.op == "QuantizeLinear" && node.int("block_size", 0) == 0;
    if !plain || floats::codes_of(known, node).is_some() || known.fixed(node, 1).is_none() {
        return Ok(None);
    }
    let quant = quant_at(known, node, 1, declared(node), rank, node.int("axis", 1))?;
    Ok(Some(Rule::plain(quant)))
}
