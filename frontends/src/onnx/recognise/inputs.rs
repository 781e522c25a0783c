//! Inputs of the network.
//!
//! A real input becomes an input of codes if only one QuantizeLinear reads it; real samples are quantized like that.
//! Codes have no quantization in the file. They get that of the first node that defines one.

use guardbit_graph::{DType, TensorType};

use super::kit::follow::{self, Follow};
use super::kit::network::{Network, in_graph};
use super::kit::said::said;
use super::kit::value::{Coding, Located, Value};
use crate::onnx::error::{OnnxError, shown};
use crate::onnx::normalise::input_type;
use crate::onnx::normalise::quant::{Quant, dtype};
use crate::onnx::parse::File;
use crate::onnx::parse::constant::short_float;
use crate::onnx::parse::proto::{self, element};

/// Adds the inputs of a file.
pub(super) fn add<'a>(network: &mut Network<'a>, file: &'a File) -> Result<(), OnnxError> {
    file.inputs.iter().try_for_each(|input| one(network, input))
}

fn one<'a>(network: &mut Network<'a>, input: &'a proto::ValueInfo) -> Result<(), OnnxError> {
    let name = input.name.as_str();
    let fail = |problem: String| OnnxError::Tensor { tensor: shown(name), problem };
    let (number, shape) = input_type(input)?;
    // The graph represents a scalar as one axis with one element.
    let shape = if shape.is_empty() { vec![1] } else { shape };
    if number == element::FLOAT {
        if let Some(follow) = follow::of_input(network, name)? {
            return quantized(network, name, shape, follow);
        }
        let ty = TensorType { shape, dtype: DType::Float32, quantization: None };
        let id = add_input(network, name, ty)?;
        network.bind_input(name, Value::Real(Located { id, channels_last: false }));
        return Ok(());
    }
    if let Some(dtype) = short_float(number) {
        let id = add_input(network, name, TensorType { shape, dtype, quantization: None })?;
        let at = Located { id, channels_last: false };
        let value = if dtype.bits() < 16 { Value::Codes(at) } else { network.reals_of_input(at)? };
        network.bind_input(name, value);
        return Ok(());
    }
    let dtype = dtype(number);
    let dtype = dtype.ok_or_else(|| fail(format!("is {}, which is not supported", element::name(number))))?;
    let quant = said(network, name, dtype).unwrap_or_else(|| Quant::per_tensor(dtype, 1.0, 0));
    let quantization = quant.quantization(quant.axis).map_err(|error| fail(error.to_string()))?;
    let id = add_input(network, name, TensorType { shape, dtype, quantization: Some(quantization) })?;
    network.bind_input(name, Value::Codes(Located { id, channels_last: false }));
    Ok(())
}

fn add_input(
    network: &mut Network<'_>,
    name: &str,
    ty: TensorType,
) -> Result<guardbit_graph::TensorId, OnnxError> {
    let fresh = network.fresh(name);
    let id = network.builder.input(fresh, ty).map_err(in_graph)?;
    network.inputs.insert(id);
    Ok(id)
}

/// Adds an input of codes that replaces a real input and its quantizer.
fn quantized<'a>(
    network: &mut Network<'a>,
    name: &str,
    shape: Vec<usize>,
    follow: Follow<'a>,
) -> Result<(), OnnxError> {
    let follow = follow.without_activation();
    let node = follow.quantizer.as_ref().map(|quantizer| quantizer.node);
    let node =
        node.ok_or_else(|| OnnxError::Tensor { tensor: shown(name), problem: "has no quantizer".into() })?;
    let Coding { dtype, quantization } = network.code_type(node, &follow.quant, shape.len(), false)?;
    let id = add_input(network, name, TensorType { shape, dtype, quantization })?;
    network.done(node.index);
    follow.finish(network, node, Located { id, channels_last: false })
}
