//! Nodes with scales per block.

use std::rc::Rc;

use guardbit_graph::Brief;

use super::axes::permutation;
use super::blocks::{Blocked, Blocks, counts};
use super::known::{Fixed, Known};
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::{Constant, Data, elements_of};
use crate::onnx::parse::node::Node;
use crate::onnx::parse::proto::element;

/// Returns the scales and zero points of a node with a block size, for codes of a shape.
pub(in crate::onnx) fn blocks(known: &Known, node: Node<'_>, shape: &[usize]) -> Result<Blocks, OnnxError> {
    let axis = node.axis(node.int("axis", 1), shape.len())?;
    let size = usize::try_from(node.int("block_size", 0)).unwrap_or(0).max(1);
    let (scale, zero) = (known.constant(node, 1)?, known.optional_constant(node, 2)?);
    let wanted = counts(shape, axis, size);
    if scale.shape != wanted || zero.as_ref().is_some_and(|zero| zero.shape != wanted) {
        let given = Brief(&scale.shape);
        return Err(node.error(format!("has scales of shape {given}; blocks of {size} need {wanted:?}")));
    }
    let scales = scale.as_reals().ok_or_else(|| node.error("has a scale that is not a real number"))?;
    Ok(Blocks { axis, size, scales: scales.to_vec(), zeros: zero.map(|zero| zero.numbers()) })
}

/// Returns the constant codes with a scale per block whose real values a node computes, if it does.
pub(in crate::onnx) fn blocked(known: &Known, node: Node<'_>) -> Result<Option<Blocked>, OnnxError> {
    match node.proto.op.as_str() {
        "DequantizeLinear" if node.int("block_size", 0) != 0 => {
            let Some(Fixed::Array(codes)) = known.fixed(node, 0) else { return Ok(None) };
            if codes.as_integers().is_none() {
                return Ok(None);
            }
            let blocks = blocks(known, node, &codes.shape)?;
            Ok(Some(Blocked { codes: Rc::clone(codes), blocks, reordered: false }))
        }
        "Transpose" => {
            let from = node.input(0).and_then(|name| known.blocks.get(name));
            from.map(|from| Ok(from.permuted(&permutation(node, from.codes.shape.len())?))).transpose()
        }
        _ => Ok(None),
    }
}

/// Returns the matrix of a MatMulNBits node, `[outputs, inputs]`, with blocks along the inputs.
pub(in crate::onnx) fn of_bits(known: &Known, node: Node<'_>) -> Result<Blocked, OnnxError> {
    let bits = node.int("bits", 4);
    let number = match bits {
        2 => element::UINT2,
        4 => element::UINT4,
        8 => element::UINT8,
        _ => return Err(node.error(format!("has weights of {bits} bits; expected 2, 4 or 8"))),
    };
    let (bits, per_byte) = (bits as usize, 8 / bits as usize);
    let size = |name: &str| {
        let given = usize::try_from(node.int(name, 0)).ok().filter(|&size| size > 0);
        given.ok_or_else(|| node.error(format!("needs an attribute `{name}` above 0")))
    };
    let (inputs, outputs, size) = (size("K")?, size("N")?, size("block_size")?);
    let count = elements_of(&[outputs, inputs.div_ceil(size)]);
    let possible = elements_of(&[outputs, inputs]).is_some() && size.is_multiple_of(per_byte);
    let (Some(count), true) = (count, possible) else {
        return Err(node.error(format!("cannot have {outputs} x {inputs} weights in blocks of {size}")));
    };
    let blocks = count / outputs;
    let packed = |index: usize, wanted: Option<usize>, what: &str| {
        let constant = known.constant(node, index)?;
        match constant.as_integers() {
            Some(bytes) if Some(bytes.len()) == wanted => Ok(bytes.iter().collect::<Vec<_>>()),
            _ => Err(node.error(format!(
                "has {what} of shape {}; {outputs} x {inputs} weights of {bits} bits in blocks of {size} need {} bytes",
                Brief(&constant.shape),
                wanted.map_or("more than possible".into(), |wanted| wanted.to_string()),
            ))),
        }
    };
    let code = |bytes: &[i64], at: usize| bytes[at / per_byte] >> (at % per_byte * bits) & ((1 << bits) - 1);
    let bytes = packed(1, count.checked_mul(size / per_byte), "weights")?;
    let row = blocks * size;
    let codes = (0..outputs).flat_map(|output| (0..inputs).map(move |input| output * row + input));
    let codes = Constant::integers(number, vec![outputs, inputs], codes.map(|at| code(&bytes, at)));
    let per_block = |index: usize, what: &str| {
        let values = known.constant(node, index)?.numbers();
        let problem =
            || node.error(format!("has {} {what}; {outputs} x {blocks} blocks need {count}", values.len()));
        if values.len() == count { Ok(values) } else { Err(problem()) }
    };
    let scales = per_block(2, "scales")?;
    let zeros = match known.optional_constant(node, 3)? {
        None => vec![(1 << (bits - 1)) as f32; count],
        Some(zeros) if matches!(zeros.data, Data::Reals(_)) => per_block(3, "zero points")?,
        Some(_) => {
            // Every row starts at a new byte.
            let row = blocks.div_ceil(per_byte);
            let bytes = packed(3, outputs.checked_mul(row), "zero points")?;
            let places =
                (0..outputs).flat_map(|output| (0..blocks).map(move |block| output * row * per_byte + block));
            places.map(|at| code(&bytes, at) as f32).collect()
        }
    };
    let blocks = Blocks { axis: 1, size, scales, zeros: Some(zeros) };
    let Some(order) = known.optional_integers(node, 4)? else {
        return Ok(Blocked { codes: Rc::new(codes), blocks, reordered: false });
    };
    in_order(node, codes, blocks, &order)
}

/// Returns codes whose input channels belong to the blocks that `order` lists.
fn in_order(node: Node<'_>, codes: Constant, blocks: Blocks, order: &[i64]) -> Result<Blocked, OnnxError> {
    let inputs = codes.shape[1];
    let count = inputs.div_ceil(blocks.size);
    let order: Vec<usize> = order
        .iter()
        .filter_map(|&block| usize::try_from(block).ok().filter(|&block| block < count))
        .collect();
    // Some files pad the list to whole blocks.
    if order.len() < inputs {
        return Err(node.error(format!(
            "has a `g_idx` that does not list one of {count} blocks for each of {inputs} inputs"
        )));
    }
    let codes = Rc::new(codes);
    if (0..inputs).all(|input| order[input] == input / blocks.size) {
        return Ok(Blocked { codes, blocks, reordered: false });
    }
    let places = || {
        (0..codes.shape[0]).flat_map(|output| order[..inputs].iter().map(move |block| output * count + block))
    };
    let of = |values: &Vec<f32>| places().map(|at| values[at]).collect();
    // Each block has one element.
    let blocks =
        Blocks { axis: 1, size: 1, scales: of(&blocks.scales), zeros: blocks.zeros.as_ref().map(of) };
    Ok(Blocked { codes, blocks, reordered: true })
}
