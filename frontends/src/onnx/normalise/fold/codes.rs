//! Quantizers and dequantizers of constants.

use std::rc::Rc;

use guardbit_graph::CodeRange;

use super::{Call, Fixed};
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::blocked::blocked;
use crate::onnx::normalise::clip::{code_limits, limits, within};
use crate::onnx::normalise::floats;
use crate::onnx::normalise::quant::{dtype, range};
use crate::onnx::normalise::quantizers::rule;
use crate::onnx::normalise::scales::{declared, quant_at};
use crate::onnx::parse::constant::{Constant, Data, FloatCodes, rounded, short_float};
use crate::onnx::parse::proto::element;

/// Computes QuantizeLinear and the quantizers of QONNX.
pub(super) fn quantize(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    if floats::codes_of(call.known, call.node).is_some() {
        return quantize_float(call);
    }
    let input = call.fixed(0).map_or(0, |fixed| fixed.elements().shape.len());
    let Some(rule) = rule(call.known, call.node, input)? else { return Ok(None) };
    // Codes with equal scales are kept.
    if let (Some(Fixed::Codes(codes, quant)), false) = (call.fixed(0), rule.dequantizes) {
        let to = &rule.quant;
        let same = quant.scales == to.scales && quant.zero_points == to.zero_points && quant.axis == to.axis;
        if same && quant.dtype != to.dtype && to.codes().includes(quant.codes()) {
            return Ok(Some(Fixed::Array(Rc::clone(codes))));
        }
    }
    let array = call.array(0)?;
    if array.as_reals().is_none() {
        return Ok(None);
    }
    let codes = Rc::new(rule.codes(call.node, &array)?);
    Ok(Some(if rule.dequantizes { Fixed::Codes(codes, rule.quant) } else { Fixed::Array(codes) }))
}

/// Computes a QuantizeLinear to floating-point codes.
fn quantize_float(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let (known, node) = (call.known, call.node);
    let zero = node.input(2).and_then(|name| known.elements.get(name)).copied();
    let (array, Some(to)) = (call.array(0)?, zero.or(declared(node))) else { return Ok(None) };
    let Some(values) = array.as_reals() else { return Ok(None) };
    floats::check_zero_points(known, node)?;
    let quotients =
        floats::each(values, &array.shape, &floats::scales(known, node, &array.shape)?, |x, s| x / s);
    let quotients = rounded(quotients, floats::precision(known, node), false);
    let zero = if short_float(to).is_some_and(|to| floats::adds_zero(node, to)) { 0.0 } else { -0.0 };
    let sums = quotients.into_iter().map(|quotient| quotient + zero).collect();
    let values = rounded(sums, to, node.int("saturate", 1) != 0);
    Ok(Some(Fixed::new(Constant { element: to, ..Constant::reals(array.shape.clone(), values) })))
}

/// Computes a DequantizeLinear of floating-point codes.
fn dequantize_float(call: &Call<'_>, codes: &Constant) -> Result<Option<Fixed>, OnnxError> {
    let (known, node) = (call.known, call.node);
    let Some(values) = codes.as_reals() else { return Ok(None) };
    floats::check_zero_points(known, node)?;
    let scales = floats::scales(known, node, &codes.shape)?;
    let products = floats::each(values, &codes.shape, &scales, |x, s| x * s);
    let precision = floats::precision(known, node);
    // Products that are rounded to 16 bits are not values times a scale.
    let kept = if precision == element::FLOAT { FloatCodes::of(codes, scales) } else { None };
    let made = Constant::reals(codes.shape.clone(), rounded(products, precision, false));
    Ok(Some(Fixed::new(Constant { of_codes: true, floats: kept, ..made })))
}

pub(super) fn dequantize_linear(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let (known, node) = (call.known, call.node);
    let Some(Fixed::Array(codes)) = call.fixed(0) else { return Ok(None) };
    if floats::codes_of(known, node).is_some() {
        return dequantize_float(call, codes);
    }
    if codes.as_integers().is_none() {
        return Ok(None);
    }
    if node.int("block_size", 0) != 0 {
        return Ok(blocked(known, node)?.map(|blocked| Fixed::new(blocked.reals())));
    }
    let mut quant = quant_at(known, node, 1, Some(codes.element), codes.shape.len(), node.int("axis", 1))?;
    let unknown = || node.error(format!("reads codes of type {}", element::name(codes.element)));
    quant.dtype = dtype(codes.element).ok_or_else(unknown)?;
    quant.range = codes.range.or_else(|| range(codes.element));
    Ok(Some(Fixed::Codes(Rc::clone(codes), quant)))
}

/// Computes Clip, of real values and of codes.
pub(super) fn clip(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let array = call.array(0)?;
    let same = |data: Data, range| Constant {
        element: array.element,
        shape: array.shape.clone(),
        data,
        range,
        of_codes: array.of_codes,
        floats: None,
    };
    Ok(match &array.data {
        Data::Reals(values) => limits(call.known, call.node)?.map(|[low, high]| {
            let clipped = values.iter().map(|value| value.max(low).min(high)).collect();
            Fixed::new(same(Data::Reals(clipped), None))
        }),
        Data::Integers(codes) => {
            let Some(limits) = code_limits(call.known, call.node) else { return Ok(None) };
            let clipped = codes.iter().map(|code| code.max(limits[0]).min(limits[1])).collect();
            let ends = array.range.or_else(|| dtype(array.element).map(CodeRange::of));
            let range = ends.map(|ends| within(call.node, ends, limits)).transpose()?;
            Some(Fixed::new(same(Data::Integers(clipped), range)))
        }
    })
}
