//! QONNX: quantizers that make real values again.

use guardbit_graph::{Brief, DType};
use guardbit_graph::ops::{RealFunction, RealPair};
use guardbit_num::Rounding;

use super::Read;
use super::elementwise::{apply, by_constant};
use super::quantize::{bind_codes, emit_quantizer, quantized};
use super::quantizer::Quantizer;
use crate::onnx::constant::Constant;
use crate::onnx::error::OnnxError;
use crate::onnx::network::Network;
use crate::onnx::node::Node;
use crate::onnx::value::{Quant, Value};

/// What is said of other widths.
const WIDTHS: &str = "has a width that is not 1 to 16 bits, or 32 at most with a sign";

/// The registered operators: name and reader.
pub(super) const READERS: &[(&str, Read)] =
    &[("BipolarQuant", quant), ("IntQuant", quant), ("Quant", quant), ("Trunc", trunc)];

fn quant<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let quantizer = quantizer(network, node)?.ok_or_else(|| node.error("cannot be read"))?;
    let value = network.input(node, 0)?;
    quantized(network, quantizer, value)
}

/// The quantizer that a node of QONNX is, if it is one.
pub(super) fn quantizer<'a>(
    network: &Network<'a>,
    node: Node<'a>,
) -> Result<Option<Quantizer<'a>>, OnnxError> {
    let bipolar = match node.proto.op.as_str() {
        "BipolarQuant" => true,
        "Quant" | "IntQuant" => false,
        _ => return Ok(None),
    };
    let scale = network.constant(node, 1)?;
    let scales = scale.as_reals().ok_or_else(|| node.error("has a scale that is no real number"))?;
    if bipolar || node.int("signed", 1) != 0 && bits(network, node)? == 1 {
        let &[scale] = scales else {
            return Err(node.error("has one bit and several scales, which cannot be represented"));
        };
        let quant = Quant::per_tensor(DType::Int4, scale, 0);
        return Ok(Some(Quantizer {
            dequantizes: true,
            bipolar: Some(scale),
            ..Quantizer::plain(node, quant)
        }));
    }
    let zero = network.constant(node, 2)?;
    let zeros = zero.numbers();
    if zeros.iter().any(|z| z.fract() != 0.0 || z.abs() > 65536.0) {
        return Err(node.error("has a zero point that is no integer, which cannot be represented"));
    }
    let (signed, narrow) = (node.int("signed", 1) != 0, node.int("narrow", 0) != 0);
    let (dtype, limits) = codes(bits(network, node)?, signed, narrow).ok_or_else(|| node.error(WIDTHS))?;
    let axis = axis(&scale.shape).ok_or_else(|| {
        node.error(format!("has scales of shape {}; one axis can have several", Brief(&scale.shape)))
    })?;
    if scales.is_empty() || zeros.len() != 1 && zeros.len() != scales.len() {
        return Err(node.error(format!("has {} scales and {} zero points", scales.len(), zeros.len())));
    }
    let zero_points = (0..scales.len()).map(|i| zeros[if zeros.len() == 1 { 0 } else { i }] as i32).collect();
    let range = (limits != [dtype.min(), dtype.max()]).then_some(limits);
    let quant = Quant { dtype, scales: scales.to_vec(), zero_points, axis, range };
    let rounding = rounding(node)?;
    Ok(Some(Quantizer { rounding, dequantizes: true, ..Quantizer::plain(node, quant) }))
}

fn bits(network: &Network<'_>, node: Node<'_>) -> Result<u32, OnnxError> {
    let width = network.constant(node, 3)?;
    let width = width.numbers().first().copied();
    let width = width.filter(|width| width.fract() == 0.0 && (1.0..=32.0).contains(width));
    width.map(|width| width as u32).ok_or_else(|| node.error(WIDTHS))
}

/// The dtype that holds codes of so many bits, and the least and greatest of them.
fn codes(bits: u32, signed: bool, narrow: bool) -> Option<(DType, [i32; 2])> {
    let dtype = match (bits, signed) {
        (1..=4, true) => DType::Int4,
        (1..=4, false) => DType::UInt4,
        (5..=8, true) => DType::Int8,
        (5..=8, false) => DType::UInt8,
        (9..=16, true) => DType::Int16,
        (9..=16, false) => DType::UInt16,
        // Biases.
        (17..=32, true) => DType::Int32,
        _ => return None,
    };
    let less = i32::from(narrow);
    let limits = match signed {
        true => [(i32::MIN >> (32 - bits)) + less, i32::MAX >> (32 - bits)],
        false => [0, (1 << bits) - 1 - less],
    };
    Some((dtype, limits))
}

/// The axis along which there are several scales; `None` for more than one.
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
        other => return Err(node.error(format!("rounds by `{other}`, which cannot be represented"))),
    })
}

/// The code of a real value: `x / s + z` clamped, then rounded.
pub(super) fn code(quant: &Quant, rounding: Rounding, real: f32, channel: usize) -> i32 {
    let [low, high] = quant.limits();
    let steps = real / quant.scales[if quant.scales.len() == 1 { 0 } else { channel }];
    let zero_point = quant.zero_points[if quant.zero_points.len() == 1 { 0 } else { channel }];
    let rounded = match rounding {
        Rounding::Floor => steps.floor(),
        Rounding::TowardZero => steps.trunc(),
        Rounding::HalfAway => steps.round(),
        Rounding::HalfToZero if steps.fract().abs() == 0.5 => steps.trunc(),
        _ => steps.round_ties_even(),
    };
    (rounded as i128).saturating_add(zero_point.into()).clamp(low.into(), high.into()) as i32
}

/// Trunc drops low bits of codes: `q = round(x / s + z)`, divided by the power of two between the scales, rounded.
fn trunc<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let real = |network: &Network<'a>, index: usize| -> Result<f32, OnnxError> {
        let constant = network.constant(node, index)?;
        match constant.numbers()[..] {
            [value] => Ok(value),
            _ => Err(node.error(format!("needs one real number in input {index}"))),
        }
    };
    // Version 2 has the scale and the width of the output; version 1 the width alone.
    let second = node.proto.inputs.len() >= 6;
    let (scale, zero, width) = (real(network, 1)?, real(network, 2)?, real(network, 3)?);
    let (out_scale, out_width) = match second {
        true => (real(network, 4)?, real(network, 5)?),
        false => {
            let out = real(network, 4)?;
            (scale * 2f32.powf(width - out), out)
        }
    };
    let shift = 2f32.powf((out_scale / scale).log2().round_ties_even());
    let function = match node.text("rounding_mode", "FLOOR").to_uppercase().as_str() {
        "FLOOR" => RealFunction::Floor,
        "CEIL" => RealFunction::Ceil,
        "ROUND" | "HALF_EVEN" => RealFunction::Round,
        other => return Err(node.error(format!("rounds by `{other}`, which cannot be represented"))),
    };
    let value = network.input(node, 0)?;
    let Value::Real(mut x) = network.materialize(node, value)? else {
        return Err(node.error("works on a constant"));
    };
    let name = node.first_output()?.to_owned();
    let one = |value: f32| Constant::reals(vec![1], vec![value]);
    let steps: [(RealPair, f32); 2] = [(RealPair::Div, scale), (RealPair::Add, zero)];
    for (index, (function, value)) in steps.into_iter().enumerate() {
        x = by_constant(network, node, x, &one(value), function, &format!("{name}_in{index}"))?;
    }
    x = apply(network, node, x, RealFunction::Round, vec![], &format!("{name}_codes"))?;
    x = by_constant(network, node, x, &one(shift), RealPair::Div, &format!("{name}_shifted"))?;
    if second {
        let signed = node.int("signed", 1) != 0;
        let [low, high] =
            codes(out_width as u32, signed, node.int("narrow", 0) != 0).ok_or_else(|| node.error(WIDTHS))?.1;
        let limits = vec![low as f32, high as f32];
        x = apply(network, node, x, RealFunction::Clip, limits, &format!("{name}_clipped"))?;
    }
    x = apply(network, node, x, function, vec![], &format!("{name}_truncated"))?;
    let (offset, factor) = if second { (zero / shift, out_scale) } else { (zero, scale) };
    x = by_constant(network, node, x, &one(offset), RealPair::Sub, &format!("{name}_moved"))?;
    x = by_constant(network, node, x, &one(factor), RealPair::Mul, &name)?;
    // Version 1 does not clamp, whatever sign its codes have.
    let range = match (second, out_width as u32) {
        (true, bits) => codes(bits, node.int("signed", 1) != 0, node.int("narrow", 0) != 0),
        (false, bits @ 1..=14) => Some((DType::Int16, [-(1 << (bits - 1)), (1 << bits) - 1])),
        _ => None,
    };
    let range = range.filter(|(dtype, _)| dtype.bits() <= 16);
    let is_code = offset.fract() == 0.0 && offset.abs() <= 32768.0 && factor.is_normal() && factor > 0.0;
    let (Some((dtype, limits)), true) = (range, is_code) else {
        return network.bind(node, 0, Value::Real(x));
    };
    let range = (limits != [dtype.min(), dtype.max()]).then_some(limits);
    let quant = Quant { range, ..Quant::per_tensor(dtype, factor, offset as i32) };
    let quantizer = Quantizer { dequantizes: true, ..Quantizer::plain(node, quant) };
    let at = emit_quantizer(network, &quantizer, x, &format!("{name}_codes"))?;
    bind_codes(network, &quantizer, at)
}
