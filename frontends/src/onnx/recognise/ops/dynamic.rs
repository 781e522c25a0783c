//! DynamicQuantizeLinear.

use guardbit_graph::ops::{DynamicPart, DynamicQuantization};
use guardbit_graph::{DType, TensorId};

use crate::onnx::error::OnnxError;
use crate::onnx::parse::node::Node;
use crate::onnx::recognise::kit::computed;
use crate::onnx::recognise::kit::network::Network;
use crate::onnx::recognise::kit::value::{Coding, Located, Value};

/// Reads a DynamicQuantizeLinear: codes with computed scale and zero point.
pub(super) fn dynamic_quantize_linear<'a>(
    network: &mut Network<'a>,
    node: Node<'a>,
) -> Result<(), OnnxError> {
    let name = node.first_output()?.to_owned();
    let value = network.input(node, 0)?;
    let channels_last = value.located().is_some_and(|at| at.channels_last);
    let x = network.real_tensor(node, value, channels_last)?;
    let needed = |network: &Network<'_>, index: usize| {
        node.output(index).filter(|name| network.is_read(name)).map(str::to_owned)
    };
    let codes = needed(network, 0);
    let part = |network: &mut Network<'a>, index: usize, part: DynamicPart| {
        let wanted = needed(network, index);
        if wanted.is_none() && codes.is_none() {
            return Ok(None);
        }
        let name = wanted.unwrap_or_else(|| format!("{name}_{}", part.name()));
        let ty = match part {
            DynamicPart::Scale => Coding::REAL,
            DynamicPart::ZeroPoint => computed::raw_codes(network, node, DType::UInt8, 1)?,
        };
        network.emit(node, DynamicQuantization { part }, &[x], &name, ty).map(Some)
    };
    let scale = part(network, 1, DynamicPart::Scale)?;
    let zero_point = part(network, 2, DynamicPart::ZeroPoint)?;
    let placed = |id: TensorId| Located { id, channels_last: false };
    if let Some(scale) = scale {
        network.bind(node, 1, Value::Real(placed(scale)))?;
    }
    if let Some(zero_point) = zero_point {
        network.bind(node, 2, Value::Codes(placed(zero_point)))?;
    }
    if let (Some(name), Some(scale), Some(zero_point)) = (codes, scale, zero_point) {
        let id = computed::quantize_by(network, node, [x, scale, zero_point], DType::UInt8, &name)?;
        network.bind(node, 0, Value::Codes(Located { id, channels_last }))?;
    }
    Ok(())
}
