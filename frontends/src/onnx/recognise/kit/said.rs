//! The quantization that nodes define for their inputs.

use guardbit_graph::DType;

use super::network::Network;
use crate::onnx::normalise::quant::Quant;
use crate::onnx::normalise::scales::quant_at;
use crate::onnx::parse::node::Node;

/// Returns the quantization of codes, as defined by the first node that reads them or moved copies of them.
pub(in crate::onnx) fn said(network: &Network<'_>, name: &str, dtype: DType) -> Option<Quant> {
    const MOVES: [&str; 9] =
        ["Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "MaxPool", "Identity", "Pad", "Clip"];
    const FAR: usize = 1000;
    let mut pending = vec![name];
    let mut seen = 0;
    while let Some(name) = pending.pop() {
        for &reader in network.readers(name) {
            seen += 1;
            let node: Node<'_> = network.nodes[reader];
            if let Some(quant) = said_of_input(network, node, name, dtype) {
                return Some(quant);
            }
            if MOVES.contains(&node.proto.op.as_str()) && seen < FAR {
                pending.extend(node.output(0));
            }
        }
    }
    None
}

/// Returns the quantization that a node defines for its input `name`, which holds codes.
pub(in crate::onnx) fn said_of_input(
    network: &Network<'_>,
    node: Node<'_>,
    name: &str,
    dtype: DType,
) -> Option<Quant> {
    let at = (0..node.proto.inputs.len()).find(|&index| node.input(index) == Some(name))?;
    let first = match (node.proto.op.as_str(), at) {
        ("DequantizeLinear", 0) => {
            let scale = network.known.constant(node, 1).ok()?;
            let rank = scale.shape.len().max(node.int("axis", 1).unsigned_abs() as usize + 1);
            let quant = quant_at(network.known, node, 1, None, rank, node.int("axis", 1)).ok()?;
            return Some(Quant { dtype, ..quant });
        }
        ("ConvInteger" | "MatMulInteger", 0) => {
            let zero = network.known.optional_constant(node, 2).ok()??;
            return Some(Quant::per_tensor(
                dtype,
                1.0,
                i32::try_from(zero.as_integers()?.iter().next()?).ok()?,
            ));
        }
        ("QLinearConcat", at) => at + 1,
        ("QLinearMatMul" | "QLinearAdd" | "QLinearMul" | "QGemm", 0 | 3) => at + 1,
        (op, 0) if op.starts_with("QLinear") => 1,
        _ => return None,
    };
    let quant = quant_at(network.known, node, first, None, 1, 0).ok()?;
    Some(Quant { dtype, ..quant })
}
