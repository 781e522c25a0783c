//! The first stage of the reader: from the messages of a file to its plain network.
//!
//! Functions are inlined, constants are arrays, names are unique, and nodes are in an order in which they can be
//! computed. This stage does not interpret operators.

pub(in crate::onnx) mod constant;
pub(in crate::onnx) mod cut;
pub(in crate::onnx) mod dims;
mod functions;
pub(in crate::onnx) mod integers;
pub(in crate::onnx) mod metadata;
pub(in crate::onnx) mod node;
pub(in crate::onnx) mod proto;
pub(in crate::onnx) mod tensor;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use guardbit_graph::{FileNode, FileOutcome, MAX_AXES};

use crate::onnx::error::{OLDEST_OPSET, OnnxError, shown};
use constant::Constant;
use node::{Node, normalized};
use proto::{ValueInfo, element};

/// The network of a file.
pub(in crate::onnx) struct File {
    pub nodes: Vec<proto::Node>,
    /// Initializers and the outputs of Constant nodes.
    pub constants: HashMap<String, Rc<Constant>>,
    /// Inputs that are not initializers.
    pub inputs: Vec<ValueInfo>,
    pub outputs: Vec<ValueInfo>,
    /// Shapes that the file declares. `None` is a size that is not fixed.
    pub declared: HashMap<String, Vec<Option<usize>>>,
    /// Versions of the operator domains.
    opsets: HashMap<String, i64>,
    pub texts: BTreeMap<String, String>,
    /// The index of each node in the file, and the removed nodes with their indices.
    pub places: Vec<usize>,
    pub left_out: Vec<(usize, FileNode)>,
}

impl File {
    /// Returns the opset version of ONNX's own operators.
    pub fn opset(&self) -> i64 {
        self.opsets.get("").copied().unwrap_or(13)
    }
}

/// Returns the network of a model. External data is in `dir`.
///
/// # Errors
/// [`OnnxError::Format`], [`OnnxError::Node`] and [`OnnxError::Tensor`] for a network that is not well formed,
/// [`OnnxError::External`] for data that cannot be read.
pub(in crate::onnx) fn parse(model: proto::Model, dir: Option<&Path>) -> Result<File, OnnxError> {
    let no_graph = || OnnxError::Format { problem: "has no graph".into() };
    let texts = metadata::read(&model, model.graph.as_ref().ok_or_else(no_graph)?);
    let graph = model.graph.ok_or_else(no_graph)?;
    let opsets: HashMap<String, i64> =
        model.opsets.iter().map(|opset| (normalized(&opset.domain).to_owned(), opset.version)).collect();
    check_opset(opsets.get("").copied())?;
    let mut nodes = functions::inline(graph.nodes, &model.functions, &model.opsets)?;
    let read = read_names(&nodes, &graph.outputs);
    let mut constants = HashMap::new();
    // Frees the bytes of a tensor as soon as its elements are read.
    for tensor in graph.initializers {
        let constant = Rc::new(tensor::read(&tensor, dir)?);
        if constants.insert(tensor.name.clone(), constant).is_some() {
            let problem = "is listed twice as an initializer; remove one".into();
            return Err(OnnxError::Tensor { tensor: shown(&tensor.name), problem });
        }
    }
    check_names(&nodes, &constants, &graph.inputs)?;
    // Constant nodes may be anywhere in the file.
    let mut left_out = Vec::new();
    for (index, proto) in nodes.iter().enumerate().filter(|(_, proto)| is_constant(proto)) {
        let node = Node { proto, index };
        let name = node.output(0).filter(|name| read.contains(*name));
        left_out.push((
            index,
            node.record(if name.is_some() { FileOutcome::Constant } else { FileOutcome::Unread }),
        ));
        if let Some(name) = name {
            constants.insert(name.to_owned(), Rc::new(constant(node)?));
        }
    }
    let places: Vec<usize> = (0..nodes.len()).filter(|&index| !is_constant(&nodes[index])).collect();
    nodes.retain(|proto| !is_constant(proto));
    let (nodes, places) = sorted(nodes, &places, &constants, &graph.inputs)?;
    let infos = graph.inputs.iter().chain(&graph.outputs).chain(&graph.values);
    infos.clone().try_for_each(check_rank)?;
    let declared = graph.outputs.iter().chain(&graph.values).filter_map(declared).collect();
    let inputs = graph.inputs.into_iter().filter(|input| !constants.contains_key(&input.name)).collect();
    Ok(File { nodes, constants, inputs, outputs: graph.outputs, declared, opsets, texts, places, left_out })
}

fn is_constant(proto: &proto::Node) -> bool {
    proto.op == "Constant" && normalized(&proto.domain).is_empty()
}

/// Returns the names that nodes read and the names of outputs.
fn read_names(nodes: &[proto::Node], outputs: &[ValueInfo]) -> HashSet<String> {
    let of_nodes = nodes.iter().flat_map(|node| node.inputs.iter().cloned());
    of_nodes.chain(outputs.iter().map(|output| output.name.clone())).collect()
}

fn check_opset(version: Option<i64>) -> Result<(), OnnxError> {
    match version {
        Some(version) if version < OLDEST_OPSET => {
            let problem = format!("has opset {version}; expected {OLDEST_OPSET} or newer");
            Err(OnnxError::Format { problem })
        }
        _ => Ok(()),
    }
}

/// Checks that the names of nodes, initializers and inputs are unique.
fn check_names(
    nodes: &[proto::Node],
    constants: &HashMap<String, Rc<Constant>>,
    inputs: &[ValueInfo],
) -> Result<(), OnnxError> {
    let mut taken: HashSet<&str> = constants.keys().map(String::as_str).collect();
    // An input with an initializer has a default value.
    taken.extend(inputs.iter().map(|input| input.name.as_str()));
    for (index, proto) in nodes.iter().enumerate() {
        for name in proto.outputs.iter().filter(|name| !name.is_empty()) {
            if !taken.insert(name) {
                let node = Node { proto, index };
                return Err(node.error(format!("produces `{}`, which already exists", shown(name))));
            }
        }
    }
    Ok(())
}

/// Returns the nodes, with their indices in the file, in an order in which each reads only earlier outputs.
///
/// Keeps the order of the file if it is valid.
///
/// # Errors
/// If a node reads a name that nothing computes, or depends on its own output.
fn sorted(
    nodes: Vec<proto::Node>,
    places: &[usize],
    constants: &HashMap<String, Rc<Constant>>,
    inputs: &[ValueInfo],
) -> Result<(Vec<proto::Node>, Vec<usize>), OnnxError> {
    let given: HashSet<&str> =
        constants.keys().map(String::as_str).chain(inputs.iter().map(|input| input.name.as_str())).collect();
    let made = |(index, node): (usize, &'_ proto::Node)| {
        node.outputs.iter().map(|name| (name.clone(), index)).collect::<Vec<_>>()
    };
    let makers: HashMap<String, usize> = nodes.iter().enumerate().flat_map(made).collect();
    let error = |index: usize, name: &str, problem: &str| {
        let node = Node { proto: &nodes[index], index };
        node.error(format!("reads `{}`, {problem}", shown(name)))
    };
    let mut order = Vec::with_capacity(nodes.len());
    let (mut begun, mut ended) = (vec![false; nodes.len()], vec![false; nodes.len()]);
    for first in 0..nodes.len() {
        // Nodes that wait for their inputs, with the number of inputs already visited.
        let mut waiting = vec![(first, 0)];
        while let Some((index, seen)) = waiting.pop() {
            if ended[index] {
                continue;
            }
            begun[index] = true;
            let Some(name) = nodes[index].inputs.get(seen) else {
                (ended[index], begun[index]) = (true, false);
                order.push(index);
                continue;
            };
            waiting.push((index, seen + 1));
            if name.is_empty() || given.contains(name.as_str()) {
                continue;
            }
            match makers.get(name) {
                None => return Err(error(index, name, "which nothing produces")),
                Some(&maker) if begun[maker] => {
                    return Err(error(index, name, "which depends on its own output; remove the cycle"));
                }
                Some(&maker) => waiting.push((maker, 0)),
            }
        }
    }
    let mut nodes: Vec<Option<proto::Node>> = nodes.into_iter().map(Some).collect();
    let places = order.iter().map(|&index| places[index]).collect();
    Ok((order.into_iter().filter_map(|index| nodes[index].take()).collect(), places))
}

/// Fails if a declared tensor has more axes than a tensor of the graph can have.
fn check_rank(info: &ValueInfo) -> Result<(), OnnxError> {
    let rank = info
        .ty
        .as_ref()
        .and_then(|ty| ty.tensor.as_ref()?.shape.as_ref())
        .map_or(0, |shape| shape.dims.len());
    if rank <= MAX_AXES {
        return Ok(());
    }
    let problem = format!("has {rank} axes; expected at most {MAX_AXES}");
    Err(OnnxError::Tensor { tensor: shown(&info.name), problem })
}

/// Returns name and shape of a tensor, if the file declares its shape.
fn declared(info: &ValueInfo) -> Option<(String, Vec<Option<usize>>)> {
    let shape = info.ty.as_ref()?.tensor.as_ref()?.shape.as_ref()?;
    let size = |dim: &proto::Dimension| usize::try_from(dim.value?).ok().filter(|&size| size > 0);
    Some((info.name.clone(), shape.dims.iter().map(size).collect()))
}

/// Returns the value of a Constant node.
fn constant(node: Node<'_>) -> Result<Constant, OnnxError> {
    if let Some(tensor) = node.tensor("value") {
        return tensor::read(tensor, None);
    }
    if node.has("value_float") {
        return Ok(Constant::reals(Vec::new(), vec![node.float("value_float", 0.0)]));
    }
    if node.has("value_int") {
        return Ok(Constant::integers(element::INT64, Vec::new(), vec![node.int("value_int", 0)]));
    }
    if let Some(values) = node.floats("value_floats") {
        return Ok(Constant::reals(vec![values.len()], values.to_vec()));
    }
    if let Some(values) = node.ints("value_ints") {
        return Ok(Constant::integers(element::INT64, vec![values.len()], values.to_vec()));
    }
    Err(node.error("has no supported value"))
}
