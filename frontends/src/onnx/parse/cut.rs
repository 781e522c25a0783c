//! Extraction of the part of a file that some tensors depend on.

use std::collections::{HashMap, HashSet};

use super::proto;

/// Makes the tensors `to` the outputs of a graph, and removes nodes and inputs that they do not depend on.
///
/// Returns whether nodes compute all of them. If not, nothing changes.
pub(in crate::onnx) fn up_to(graph: &mut proto::Graph, to: &[String]) -> bool {
    let outputs = |(index, node): (usize, &proto::Node)| {
        node.outputs.iter().map(|name| (name.clone(), index)).collect::<Vec<_>>()
    };
    let makers: HashMap<String, usize> = graph.nodes.iter().enumerate().flat_map(outputs).collect();
    if !to.iter().all(|name| !name.is_empty() && makers.contains_key(name)) {
        return false;
    }
    let (mut needed, mut nodes) = (HashSet::new(), HashSet::new());
    let mut pending = to.to_vec();
    while let Some(name) = pending.pop() {
        let maker = makers.get(&name).filter(|&&maker| nodes.insert(maker));
        pending.extend(maker.into_iter().flat_map(|&maker| graph.nodes[maker].inputs.iter().cloned()));
        needed.insert(name);
    }
    let mut index = 0..;
    graph.nodes.retain(|_| index.next().is_some_and(|index| nodes.contains(&index)));
    graph.inputs.retain(|input| needed.contains(&input.name));
    let mut names = HashSet::new();
    let declared = |name: &String| {
        let found = graph.outputs.iter().chain(&graph.values).find(|info| info.name == *name).cloned();
        found.unwrap_or_else(|| proto::ValueInfo { name: name.clone(), ..Default::default() })
    };
    graph.outputs = to.iter().filter(|name| names.insert(*name)).map(declared).collect();
    true
}
