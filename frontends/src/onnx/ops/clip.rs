//! Clip, of real values and of codes.

use std::rc::Rc;

use guardbit_graph::ops::{QuantizeFloat, RealFunction};
use guardbit_num::Rounding;

use super::elementwise::map;
use super::follow::clipped;
use super::quantize::table;
use super::quantizer::dtype;
use crate::onnx::constant::{Constant, Data};
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::value::{Located, Quant, Source, Value};

/// The limits of a Clip, if they are constant.
pub(super) fn limits(network: &Network<'_>, node: Node<'_>) -> Result<Option<[f32; 2]>, OnnxError> {
    let mut limits = [node.float("min", f32::NEG_INFINITY), node.float("max", f32::INFINITY)];
    for (index, limit) in limits.iter_mut().enumerate() {
        // Its inputs may come after the node that is looked at from.
        let Some(name) = node.input(index + 1) else { continue };
        match network.value(name) {
            Some(Value::Constant(constant)) => match &constant.data {
                Data::Reals(values) if values.len() == 1 => *limit = values[0],
                Data::Integers(_) => return Ok(None),
                _ => return Err(node.error("has limits that are no single real numbers")),
            },
            Some(Value::Dequantized(d)) if matches!(&d.source, Source::Constant(c) if c.data.len() == 1) => {
                let Source::Constant(c) = &d.source else { return Ok(None) };
                *limit = d.value(c.as_integers().map_or(0, |values| values[0] as i32));
            }
            _ => return Ok(None),
        }
    }
    Ok(Some(limits))
}

pub(super) fn clip<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    if matches!(&value, Value::Codes(_))
        || matches!(&value, Value::Constant(constant) if constant.as_integers().is_some())
    {
        return clip_codes(network, node, &value);
    }
    let limits = limits(network, node)?.ok_or_else(|| node.error("needs constant limits"))?;
    if let Value::Real(at) = value
        && let Some(follow) = clipped(network, node, limits)?
    {
        let follow = follow.without_activation();
        let ty = network.code_type(node, &follow.quant, 1, false)?;
        let op = QuantizeFloat { rounding: Rounding::HalfEven, zero_point_first: false };
        let id = network.emit(node, op, &[at.id], &follow.name.clone(), ty)?;
        return follow.finish(network, node, Located { id, ..at });
    }
    map(network, node, RealFunction::Clip, limits.to_vec())
}

/// The limits of a Clip of codes, if they are constant.
pub(super) fn code_limits(network: &Network<'_>, clip: Node<'_>) -> Option<[i64; 2]> {
    let limit = |index: usize, default: i64| {
        let Some(name) = clip.input(index) else { return Some(default) };
        let Some(Value::Constant(constant)) = network.value(name) else { return None };
        constant.as_integers().filter(|values| values.len() == 1).map(|values| values[0])
    };
    Some([limit(1, i64::MIN)?, limit(2, i64::MAX)?])
}

/// The codes among `codes` that lie within limits.
pub(super) fn within(clip: Node<'_>, codes: [i32; 2], limits: [i64; 2]) -> Result<[i32; 2], OnnxError> {
    let [low, high] = codes.map(|code| i64::from(code).max(limits[0]).min(limits[1]) as i32);
    match (limits[0] <= limits[1], codes[0] <= low && high <= codes[1]) {
        (true, true) => Ok([low, high]),
        _ => Err(clip.error(format!("keeps none of the codes {} to {}", codes[0], codes[1]))),
    }
}

/// A clip of codes that are constant, or that something else than a quantizer makes.
fn clip_codes<'a>(network: &mut Network<'a>, clip: Node<'a>, value: &Value) -> Result<(), OnnxError> {
    let limits =
        code_limits(network, clip).ok_or_else(|| clip.error("needs constant limits, one integer each"))?;
    let value = match value {
        Value::Constant(constant) => {
            let codes = constant.as_integers().ok_or_else(|| clip.error("works on codes"))?;
            let clipped = codes.iter().map(|&code| code.max(limits[0]).min(limits[1])).collect();
            let ends =
                constant.range.or_else(|| dtype(constant.element).map(|dtype| [dtype.min(), dtype.max()]));
            let range = ends.map(|ends| within(clip, ends, limits)).transpose()?;
            let constant = Constant::integers(constant.element, constant.shape.clone(), clipped);
            Value::Constant(Rc::new(Constant { range, ..constant }))
        }
        Value::Codes(at) => {
            let ty = &network.builder.tensor(at.id).ty;
            let single = ty.quantization.as_ref().filter(|quantization| quantization.axis().is_none());
            let single = single.filter(|_| ty.dtype.bits() <= 8).ok_or_else(|| {
                clip.error("clips codes of more than 8 bits or of several scales, which only a quantizer right before it can")
            })?;
            let quant = Quant::per_tensor(ty.dtype, single.scale(0), single.zero_point(0));
            let [low, high] = within(clip, quant.limits(), limits)?;
            let quant = Quant { range: Some([low, high]), ..quant };
            let name = clip.first_output()?.to_owned();
            Value::Codes(Located {
                id: table(network, clip, at.id, &quant, &name, |code| code.clamp(low, high))?,
                ..*at
            })
        }
        Value::Real(_) | Value::Dequantized(_) => return Err(clip.error("works on codes")),
    };
    network.bind(clip, 0, value)
}
