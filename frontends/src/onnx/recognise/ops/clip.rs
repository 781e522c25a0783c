//! Clip, of real values and of codes.

use guardbit_graph::ops::{QuantizeFloat, RealFunction};
use guardbit_num::Rounding;

use crate::onnx::error::OnnxError;
use crate::onnx::normalise::clip::{code_limits, limits, within};
use crate::onnx::normalise::quant::Quant;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::codes::table;
use crate::onnx::recognise::kit::follow::clipped;
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::pairs::map;
use crate::onnx::recognise::kit::value::{Located, Value};

pub(super) fn clip<'a>(network: &mut Network<'a>, node: Node<'a>) -> Result<(), OnnxError> {
    let value = network.input(node, 0)?;
    if let Value::Codes(at) = value {
        return clip_codes(network, node, at);
    }
    let limits = limits(network.known, node)?.ok_or_else(|| node.error("needs constant limits"))?;
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

/// Reads a clip of codes that do not come from a quantizer.
fn clip_codes<'a>(network: &mut Network<'a>, clip: Node<'a>, at: Located) -> Result<(), OnnxError> {
    let limits = code_limits(network.known, clip);
    let limits = limits.ok_or_else(|| clip.error("needs constant limits, one integer each"))?;
    let ty = &network.builder.tensor(at.id).ty;
    let single = ty.quantization.as_ref().filter(|quantization| quantization.axis().is_none());
    let single = single.filter(|_| ty.dtype.bits() <= 8).ok_or_else(|| {
        clip.error(
            "clips codes of more than 8 bits or with several scales, which is only supported \
                    directly after a quantizer",
        )
    })?;
    let quant = Quant::per_tensor(ty.dtype, single.scale(0), single.zero_point(0));
    let range = within(clip, quant.codes(), limits)?;
    let quant = Quant { range: Some(range), ..quant };
    let name = clip.first_output()?.to_owned();
    let id = table(network, clip, at.id, &quant, &name, |code| range.clamp(code.into()))?;
    network.bind(clip, 0, Value::Codes(Located { id, ..at }))
}
