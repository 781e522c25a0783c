//! The limits of Clip.

use guardbit_graph::CodeRange;

use super::known::{Fixed, Known};
use crate::onnx::error::OnnxError;
use crate::onnx::parse::constant::Data;
use crate::onnx::parse::node::Node;

/// Returns the limits of a Clip if they are constant.
pub(in crate::onnx) fn limits(known: &Known, node: Node<'_>) -> Result<Option<[f32; 2]>, OnnxError> {
    let mut limits = [node.float("min", f32::NEG_INFINITY), node.float("max", f32::INFINITY)];
    for (index, limit) in limits.iter_mut().enumerate() {
        if node.input(index + 1).is_none() {
            continue;
        }
        let Some(fixed) = known.fixed(node, index + 1) else { return Ok(None) };
        match &fixed.array(node)?.data {
            Data::Reals(values) if values.len() == 1 => *limit = values[0],
            Data::Integers(_) => return Ok(None),
            Data::Reals(_) => return Err(node.error("has limits that are not single real numbers")),
        }
    }
    Ok(Some(limits))
}

/// Returns the limits of a Clip of codes if they are constant.
pub(in crate::onnx) fn code_limits(known: &Known, clip: Node<'_>) -> Option<[i64; 2]> {
    let limit = |index: usize, default: i64| {
        if clip.input(index).is_none() {
            return Some(default);
        }
        let Some(Fixed::Array(constant)) = known.fixed(clip, index) else { return None };
        constant.as_integers()?.only()
    };
    Some([limit(1, i64::MIN)?, limit(2, i64::MAX)?])
}

/// Returns the codes among `codes` that lie within limits.
pub(in crate::onnx) fn within(
    clip: Node<'_>,
    codes: CodeRange,
    limits: [i64; 2],
) -> Result<CodeRange, OnnxError> {
    let (least, greatest) = codes.ends();
    let [low, high] = [least, greatest].map(|code| i64::from(code).max(limits[0]).min(limits[1]) as i32);
    let range =
        CodeRange::new(low, high).filter(|_| limits[0] <= limits[1] && least <= low && high <= greatest);
    // A limit that is not one of the codes keeps the values in between.
    let range = if codes.contains(low) && codes.contains(high) {
        range.map(|range| range.with_step(codes.step()).unwrap_or(range))
    } else {
        range
    };
    range.ok_or_else(|| clip.error(format!("keeps none of the codes {least} to {greatest}")))
}
