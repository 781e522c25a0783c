//! Inputs of the network.
//!
//! A real input that nothing but one QuantizeLinear reads is an input of codes: real samples are quantized as that node
//! does it. Codes have no quantization in the file; it is that of the first node that says one.

use guardbit_graph::{DType, TensorType};

use super::error::{OnnxError, shown};
use super::network::{Network, in_graph};
use super::node::Node;
use super::ops::follow::{self, Follow};
use super::ops::quantizer;
use super::proto::{self, element};
use super::value::{Located, Quant, Value};

/// Adds the inputs that are no initializers.
pub(super) fn add<'a>(network: &mut Network<'a>, graph: &'a proto::Graph) -> Result<(), OnnxError> {
    for input in &graph.inputs {
        if network.value(&input.name).is_none() {
            one(network, input)?;
        }
    }
    Ok(())
}

fn one<'a>(network: &mut Network<'a>, input: &'a proto::ValueInfo) -> Result<(), OnnxError> {
    let name = input.name.as_str();
    let fail = |problem: String| OnnxError::Tensor { tensor: shown(name), problem };
    let tensor = input.ty.as_ref().and_then(|ty| ty.tensor.as_ref());
    let tensor = tensor.ok_or_else(|| fail("is no tensor".into()))?;
    let shape = shape(tensor).map_err(fail)?;
    if tensor.element == element::FLOAT {
        if let Some(follow) = follow::of_input(network, name)? {
            return quantized(network, name, shape, follow);
        }
        let ty = TensorType { shape, dtype: DType::Float32, quantization: None };
        let id = add_input(network, name, ty)?;
        network.bind_input(name, Value::Real(Located { id, channels_last: false }));
        return Ok(());
    }
    let dtype = quantizer::dtype(tensor.element);
    let dtype =
        dtype.ok_or_else(|| fail(format!("is {}, which cannot be read", element::name(tensor.element))))?;
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

/// The sizes of an input; a size that is not known is 1 if it is the first, that of samples.
fn shape(tensor: &proto::TensorType) -> Result<Vec<usize>, String> {
    let dims = &tensor.shape.as_ref().ok_or("has no shape")?.dims;
    let size = |(axis, dim): (usize, &proto::Dimension)| match dim.value {
        Some(value) if value > 0 => usize::try_from(value).map_err(|_| format!("has size {value}")),
        None | Some(..=0) if axis == 0 => Ok(1),
        Some(value) if value != 0 => Err(format!("has size {value} along axis {axis}")),
        _ => Err(format!(
            "has no fixed size along axis {axis}; fix it, e.g. by onnxruntime.tools.make_dynamic_shape_fixed"
        )),
    };
    let sizes: Vec<usize> = dims.iter().enumerate().map(size).collect::<Result<_, _>>()?;
    Ok(if sizes.is_empty() { vec![1] } else { sizes })
}

/// An input of codes in the place of a real one and its quantizer.
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
    let (dtype, quantization) = network.code_type(node, &follow.quant, shape.len(), false)?;
    let id = add_input(network, name, TensorType { shape, dtype, quantization })?;
    network.done(node.index);
    follow.finish(network, node, Located { id, channels_last: false })
}

/// The quantization of codes, as the first node says it that reads them, or what was made of them by moving them.
pub(super) fn said(network: &Network<'_>, name: &str, dtype: DType) -> Option<Quant> {
    const MOVES: [&str; 9] =
        ["Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "MaxPool", "Identity", "Pad", "Clip"];
    const FAR: usize = 1000;
    let mut pending = vec![name];
    let mut seen = 0;
    while let Some(name) = pending.pop() {
        for &reader in network.readers(name) {
            seen += 1;
            let node: Node<'_> = network.nodes[reader];
            if let Some(quant) = quantizer::said_of_input(network, node, name, dtype) {
                return Some(quant);
            }
            if MOVES.contains(&node.proto.op.as_str()) && seen < FAR {
                pending.extend(node.output(0));
            }
        }
    }
    None
}
