//! The end of reading: the outputs of the network, and clean-up of the graph.

use std::collections::{HashMap, HashSet};

use guardbit_graph::ops::Reshape;
use guardbit_graph::{DType, Graph, TensorId, passes, plain_name};

use super::kit::network::{Network, in_graph};
use super::kit::value::{Dequantized, Source, Value};
use crate::onnx::error::{OnnxError, shown};
use crate::onnx::parse::File;
use crate::onnx::parse::node::Node;

/// Returns the graph of a network whose nodes have all been read.
pub(super) fn finish<'a>(mut network: Network<'a>, file: &'a File) -> Result<Graph, OnnxError> {
    let mut outputs = Vec::new();
    let made =
        |node: &Node<'a>| node.proto.outputs.iter().map(|name| (name.as_str(), *node)).collect::<Vec<_>>();
    let makers: HashMap<&str, Node<'a>> = network.nodes.iter().flat_map(made).collect();
    let (mut names, mut constants) = (HashSet::new(), Vec::new());
    for output in &file.outputs {
        let fail =
            |problem: &str| Err(OnnxError::Tensor { tensor: shown(&output.name), problem: problem.into() });
        if !names.insert(&output.name) {
            return fail("is listed twice as an output of the network; remove one");
        }
        let Some(value) = network.value(&output.name).cloned() else {
            return fail("is an output of the network, but no node produces it");
        };
        outputs.push(match (makers.get(output.name.as_str()).copied(), value) {
            (_, value) if is_constant(&value) && file.outputs.len() == constants.len() + 1 => {
                return fail("is an output of the network, but constant");
            }
            (_, value) if is_constant(&value) => {
                constants.push(format!("`{}`", shown(&output.name)));
                continue;
            }
            (Some(node), value) => (tensor(&mut network, node, value)?, output.name.as_str(), Some(node)),
            (None, Value::Real(at) | Value::Codes(at)) => (at.id, output.name.as_str(), None),
            (None, _) => return fail("is an output of the network, but no node produces it"),
        });
    }
    let outputs = named(&mut network, outputs)?;
    if let (Some(&first), false) = (outputs.first(), constants.is_empty()) {
        let name = network.builder.tensor(first).name.clone();
        network
            .builder
            .note(name, format!("constant outputs of the file are left out ({})", constants.join(", ")));
    }
    cleaned(network.builder.finish(outputs).map_err(in_graph)?)
}

fn is_constant(value: &Value) -> bool {
    value.located().is_none()
}

/// Gives the outputs their names in the file.
///
/// Another tensor with the name of an output is renamed: it ends in `_nhwc` if it is the output in another order of
/// axes, otherwise in `_inner`.
fn named<'a>(
    network: &mut Network<'a>,
    outputs: Vec<(TensorId, &'a str, Option<Node<'a>>)>,
) -> Result<Vec<TensorId>, OnnxError> {
    let by_name: HashMap<String, TensorId> =
        network.builder.tensors().map(|(id, tensor)| (tensor.name.clone(), id)).collect();
    let plain: Vec<String> = outputs.iter().map(|(_, name, _)| plain_name(name).into_owned()).collect();
    let own = |(name, (id, ..)): (&String, &(TensorId, _, _))| by_name.get(name) == Some(id);
    let mut names: HashMap<TensorId, String> = HashMap::new();
    let mut seen = HashSet::new();
    let first = plain.iter().zip(&outputs).filter(|(name, _)| seen.insert(*name));
    for (name, (id, ..)) in first.filter(|&output| own(output)) {
        names.insert(*id, name.clone());
    }
    let (mut ids, mut given) = (Vec::new(), HashSet::new());
    for ((mut id, _, node), name) in outputs.into_iter().zip(&plain) {
        let other = by_name.get(name).copied();
        // Different names of the file may become equal, and inputs keep their names.
        let free = given.insert(name)
            && !name.is_empty()
            && other.is_none_or(|other| !network.inputs.contains(&other));
        if let Some(node) = node.filter(|_| free && other != Some(id)) {
            // A tensor has one name, so a second output gets a copy.
            if network.inputs.contains(&id) || names.contains_key(&id) {
                let shape = network.builder.tensor(id).ty.shape.iter().map(|&size| size as i64).collect();
                id = network.emit_like(node, Reshape { shape }, &[id], name, id)?;
            }
            if let Some(other) = other.filter(|other| !names.contains_key(other)) {
                let what = if network.moved.contains_key(&other) { "nhwc" } else { "inner" };
                names.insert(other, network.fresh(&format!("{name}_{what}")));
            }
            names.insert(id, name.clone());
        }
        ids.push(id);
    }
    network.builder.rename(&names).map_err(in_graph)?;
    Ok(ids)
}

/// Returns the tensor of an output. Codes stay codes, and their scale defines the real values.
fn tensor<'a>(network: &mut Network<'a>, node: Node<'a>, value: Value) -> Result<TensorId, OnnxError> {
    match value {
        Value::Codes(at) => network.in_order(node, at, false),
        Value::Dequantized(Dequantized { source: Source::Tensor(at), quant, functions })
            if functions.is_empty()
                && quant.single().is_some()
                && quant.dtype != DType::Int32
                && !network.inputs.contains(&at.id) =>
        {
            network.in_order(node, at, false)
        }
        value => network.real_tensor(node, value, false),
    }
}

/// Returns the network without inverse pairs of transposes and without unused nodes.
fn cleaned(graph: Graph) -> Result<Graph, OnnxError> {
    let mut graph = graph;
    loop {
        let mut changes = false;
        for pass in ["merge_layouts", "identities", "dead_nodes"].into_iter().filter_map(passes::find) {
            match pass.run(&graph) {
                Ok(Some(changed)) => (graph, changes) = (changed, true),
                Ok(None) => {}
                Err(error) => return Err(OnnxError::Format { problem: error.to_string() }),
            }
        }
        if !changes {
            return Ok(graph);
        }
    }
}
