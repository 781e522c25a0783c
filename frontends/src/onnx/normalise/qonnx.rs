//! QONNX: quantizers that return real values.

use guardbit_graph::{Brief, CodeRange, DType};
use guardbit_num::Rounding;

use super::known::Known;
use super::quant::Quant;
use super::rule::Rule;
use crate::onnx::error::OnnxError;
use crate::onnx::parse::node::Node;

/// The domains of QONNX's operators.
pub(in crate::onnx) const DOMAINS: [&str; 3] =
    ["qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general"];

/// The error message of an invalid width.
pub(in crate::onnx) const WIDTHS: &str = "has a width that is not 1 to 16 bits, or 32 at most with a sign";

/// Returns whether a domain belongs to QONNX.
pub(in crate::onnx) fn is_domain(domain: &str) -> bool {
    DOMAINS.contains(&domain)
}

/// Returns the rule of a QONNX node if it quantizes real values.
pub(super) fn rule(known: &Known, node: Node<'_>) -> Result<Option<Rule>, OnnxError> {
    let bipolar = match node.proto.op.as_str() {
        "BipolarQuant" => true,
        "Quant" | "IntQuant" => false,
        _ => return Ok(None),
    };
    let scale = known.constant(node, 1)?;
    let scales = scale.numbers();
    if bipolar || node.int("signed", 1) != 0 && bits(known, node)? == 1 {
        let &[scale] = scales.as_slice() else {
            return Err(node.error("has one bit and several scales, which cannot be represented"));
        };
        let quant = Quant { range: Some(CodeRange::BIPOLAR), ..Quant::per_tensor(DType::Int4, scale, 0) };
        return Ok(Some(Rule { dequantizes: true, bipolar: Some(scale), ..Rule::plain(quant) }));
    }
    let zero = known.constant(node, 2)?;
    let zeros = zero.numbers();
    if zeros.iter().any(|z| z.fract() != 0.0 || z.abs() > 65536.0) {
        return Err(node.error("has a zero point that is not an integer, which cannot be represented"));
    }
    let (signed, narrow) = (node.int("signed", 1) != 0, node.int("narrow", 0) != 0);
    let (dtype, range) = codes(bits(known, node)?, signed, narrow).ok_or_else(|| node.error(WIDTHS))?;
    let axis = axis(&scale.shape).ok_or_else(|| {
        node.error(format!("has scales of shape {}; one axis can have several", Brief(&scale.shape)))
    })?;
    if scales.is_empty() || zeros.len() != 1 && zeros.len() != scales.len() {
        return Err(node.error(format!("has {} scales and {} zero points", scales.len(), zeros.len())));
    }
    let zero_points = (0..scales.len()).map(|i| zeros[if zeros.len() == 1 { 0 } else { i }] as i32).collect();
    let range = Some(range).filter(|&range| range != dtype.into());
    let quant = Quant { dtype, scales, zero_points, axis, range };
    let rounding = rounding(node)?;
    Ok(Some(Rule { rounding, dequantizes: true, ..Rule::plain(quant) }))
}

fn bits(known: &Known, node: Node<'_>) -> Result<u32, OnnxError> {
    let width = known.constant(node, 3)?;
    let width = width.numbers().first().copied();
    let width = width.filter(|width| width.fract() == 0.0 && (1.0..=32.0).contains(width));
    width.map(|width| width as u32).ok_or_else(|| node.error(WIDTHS))
}

/// Returns the narrowest dtype that holds codes of `bits` bits, and the range of the codes. Returns `None` if no
/// dtype holds them.
pub(in crate::onnx) fn codes(bits: u32, signed: bool, narrow: bool) -> Option<(DType, CodeRange)> {
    let dtype = match (bits, signed) {
        (1..=4, true) => DType::Int4,
        (1..=4, false) => DType::UInt4,
        (5..=8, true) => DType::Int8,
        (5..=8, false) => DType::UInt8,
        (9..=16, true) => DType::Int16,
        (9..=16, false) => DType::UInt16,
        // Biases have these widths.
        (17..=32, true) => DType::Int32,
        _ => return None,
    };
    let less = i32::from(narrow);
    let limits = match signed {
        true => [(i32::MIN >> (32 - bits)) + less, i32::MAX >> (32 - bits)],
        false => [0, (1 << bits) - 1 - less],
    };
    Some((dtype, CodeRange::from(limits[0]..=limits[1])))
}

/// Returns the axis along which there are several scales, or `None` if there is more than one such axis.
fn axis(shape: &[usize]) -> Option<Option<usize>> {
    let several: Vec<usize> = (0..shape.len()).filter(|&axis| shape[axis] > 1).collect();
    match several[..] {
        [] => Some(None),
        [axis] => Some(Some(axis)),
        _ => None,
    }
}

fn rounding(node: Node<'_>) -> Result<Rounding, OnnxError> {
    let name = node.text("rounding_mode", "ROUND").to_uppercase();
    Ok(match name.as_str() {
        "ROUND" | "HALF_EVEN" => Rounding::HalfEven,
        "FLOOR" => Rounding::Floor,
        "ROUND_TO_ZERO" | "DOWN" => Rounding::TowardZero,
        "HALF_UP" => Rounding::HalfAway,
        "HALF_DOWN" => Rounding::HalfToZero,
        other => return Err(node.error(format!("rounds with `{other}`, which cannot be represented"))),
    })
}
