//! Quantizers and dequantizers of constants.

use std::rc::Rc;

use guardbit_graph::CodeRange;

use super::{Call, Fixed};
use crate::onnx::error::OnnxError;
use crate::onnx::normalise::blocked::blocked;
use crate::onnx::normalise::clip::{code_limits, limits, within};
use crate::onnx::normalise::quant::{dtype, range};
use crate::onnx::normalise::quantizers::rule;
use crate::onnx::normalise::scales::quant_at;
use crate::onnx::parse::constant::{Constant, Data};
use crate::onnx::parse::proto::element;

/// Computes QuantizeLinear and the quantizers of QONNX.
pub(super) fn quantize(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
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

pub(super) fn dequantize_linear(call: &Call<'_>) -> Result<Option<Fixed>, OnnxError> {
    let (known, node) = (call.known, call.node);
    let Some(Fixed::Array(codes)) = call.fixed(0) else { return Ok(None) };
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
