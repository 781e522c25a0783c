//! QONNX: quantizers that return real values.

use guardbit_graph::ops::{RealFunction, RealPair};
use guardbit_graph::{CodeRange, DType};

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::qonnx::{WIDTHS, codes};
use crate::onnx::normalise::quant::Quant;
use crate::onnx::parse::constant::Constant;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::pairs::{apply, by_constant};
use crate::onnx::recognise::kit::quantize::{bind_codes, emit_quantizer, quantized};
use crate::onnx::recognise::kit::quantizer::{Quantizer, quantizer};
use crate::onnx::recognise::kit::value::Value;

/// Reads Quant, IntQuant and BipolarQuant.
pub(super) fn quant<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let quantizer = quantizer(network, node)?.ok_or_else(|| node.error("is not supported"))?;
    let value = network.input(node, 0)?;
    quantized(network, quantizer, value)
}

/// Reads Trunc, which drops low bits of codes: `q = round(x / s + z)`, divided by the power of two between the
/// scales, rounded.
pub(super) fn trunc<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let real = |network: &Network<'a>, index: usize| -> Result<f32, OnnxError> {
        let constant = network.known.constant(node, index)?;
        match constant.numbers()[..] {
            [value] => Ok(value),
            _ => Err(node.error(format!("needs one real number in input {index}"))),
        }
    };
    // Version 2 has the scale and the width of the output, version 1 only the width.
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
        other => return Err(node.error(format!("rounds with `{other}`, which cannot be represented"))),
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
        let range =
            codes(out_width as u32, signed, node.int("narrow", 0) != 0).ok_or_else(|| node.error(WIDTHS))?.1;
        let limits = vec![range.min() as f32, range.max() as f32];
        x = apply(network, node, x, RealFunction::Clip, limits, &format!("{name}_clipped"))?;
    }
    x = apply(network, node, x, function, vec![], &format!("{name}_truncated"))?;
    let (offset, factor) = if second { (zero / shift, out_scale) } else { (zero, scale) };
    x = by_constant(network, node, x, &one(offset), RealPair::Sub, &format!("{name}_moved"))?;
    x = by_constant(network, node, x, &one(factor), RealPair::Mul, &name)?;
    // Version 1 does not clamp, whatever the sign of its codes.
    let range = match (second, out_width as u32) {
        (true, bits) => codes(bits, node.int("signed", 1) != 0, node.int("narrow", 0) != 0),
        (false, bits @ 1..=14) => Some((DType::Int16, CodeRange::from(-(1 << (bits - 1))..=(1 << bits) - 1))),
        _ => None,
    };
    let range = range.filter(|(dtype, _)| dtype.bits() <= 16);
    let is_code = offset.fract() == 0.0 && offset.abs() <= 32768.0 && factor.is_normal() && factor > 0.0;
    let (Some((dtype, range)), true) = (range, is_code) else {
        return network.bind(node, 0, Value::Real(x));
    };
    let range = Some(range).filter(|&range| range != dtype.into());
    let quant = Quant { range, ..Quant::per_tensor(dtype, factor, offset as i32) };
    let quantizer = Quantizer { dequantizes: true, ..Quantizer::plain(node, quant) };
    let at = emit_quantizer(network, &quantizer, x, &format!("{name}_codes"))?;
    bind_codes(network, &quantizer, at)
}
