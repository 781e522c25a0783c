//! Quantizers of the graph.

use guardbit_graph::ops::{QuantizeFloat, RealFunction};
use guardbit_num::Rounding;

use super::codes::table;
use super::network::Network;
use super::pairs::apply;
use super::quantizer::Quantizer;
use super::value::{Dequantized, Located, Source, Value};
use crate::onnx::error::OnnxError;

/// Binds the output of a quantizer to the codes of a value.
pub(in crate::onnx) fn quantized<'a>(
    network: &mut Network<'a>,
    quantizer: Quantizer<'a>,
    value: Value,
) -> Result<(), OnnxError> {
    let node = quantizer.last();
    let name = node.first_output()?.to_owned();
    quantizer.clip.into_iter().for_each(|clip| network.done(clip.index));
    if let Some(same) = widened(network, &quantizer, &value) {
        return network.bind(node, 0, same);
    }
    if let (Value::Dequantized(Dequantized { source: Source::Tensor(at), quant, functions }), true) =
        (&value, quantizer.is_plain())
    {
        let given = network.inputs.contains(&at.id) && network.is_output(&name);
        if functions.is_empty() && *quant == quantizer.quant && !given {
            return bind_codes(network, &quantizer, *at);
        }
        let single = quant.single().is_some() && quantizer.quant.single().is_some();
        if single && quant.dtype.bits() <= 8 {
            let dequantized = Dequantized {
                source: Source::Tensor(*at),
                quant: quant.clone(),
                functions: functions.clone(),
            };
            let code = |code: i32| quantizer.quant.code(dequantized.value(code), 0);
            let id = table(network, node, at.id, &quantizer.quant, &name, code)?;
            return bind_codes(network, &quantizer, Located { id, ..*at });
        }
    }
    let at = match network.materialize(node, value)? {
        Value::Real(at) => at,
        _ => return Err(node.error("quantizes values that are not real numbers")),
    };
    let at = emit_quantizer(network, &quantizer, at, &name)?;
    bind_codes(network, &quantizer, at)
}

/// Returns codes that a quantizer does not change, because scale and zero point are equal and its range includes
/// theirs.
fn widened<'a>(network: &Network<'a>, quantizer: &Quantizer<'a>, value: &Value) -> Option<Value> {
    let Value::Dequantized(Dequantized { source, quant, functions }) = value else { return None };
    let to = &quantizer.quant;
    let same = quant.scales == to.scales && quant.zero_points == to.zero_points && quant.axis == to.axis;
    if !same || !functions.is_empty() || !quantizer.is_plain() || quantizer.dequantizes {
        return None;
    }
    let Source::Tensor(at) = source else { return None };
    let codes = network.builder.tensor(at.id).ty.code_range();
    (quant.dtype != to.dtype && to.codes().includes(codes)).then_some(Value::Codes(*at))
}

pub(in crate::onnx) fn bind_codes<'a>(
    network: &mut Network<'a>,
    quantizer: &Quantizer<'a>,
    at: Located,
) -> Result<(), OnnxError> {
    let value = match quantizer.dequantizes {
        true => Value::Dequantized(Dequantized::new(Source::Tensor(at), quantizer.quant.clone())),
        false => Value::Codes(at),
    };
    network.bind(quantizer.last(), 0, value)
}

/// Adds a quantizer of real values to the graph.
pub(in crate::onnx) fn emit_quantizer<'a>(
    network: &mut Network<'a>,
    quantizer: &Quantizer<'a>,
    at: Located,
    name: &str,
) -> Result<Located, OnnxError> {
    let (node, quant) = (quantizer.node, &quantizer.quant);
    let mut at = at;
    let mut rounding = quantizer.rounding;
    if let Some(scale) = quantizer.bipolar {
        at = apply(network, node, at, RealFunction::Bipolar, vec![scale], &format!("{name}_sign"))?;
        rounding = Rounding::HalfEven;
    }
    let rank = network.shape_of(at).len();
    let ty = network.code_type(node, quant, rank, at.channels_last)?;
    let op = QuantizeFloat { rounding, zero_point_first: false };
    let id = network.emit(node, op, &[at.id], name, ty)?;
    Ok(Located { id, ..at })
}
