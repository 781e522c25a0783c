//! Reports what became of every node of the file.

use std::collections::HashMap;

use guardbit_graph::{FileNode, FileOutcome, FloatProduct, Graph, NodeId, Op};

use super::{AuditStep, Decision, Outcome};

/// Greatest number of nodes that are named; further ones are counted.
const NAMED: usize = 3;

/// Returns one decision per node of the file from which a graph was read.
pub(super) fn audit(graph: &Graph) -> Vec<Decision> {
    if graph.file_nodes().is_empty() {
        return Vec::new();
    }
    let nodes: HashMap<&str, NodeId> =
        graph.nodes_with_ids().map(|(id, _)| (graph.node_name(id), id)).collect();
    let float = graph.float_products();
    let decision = |node: &FileNode| {
        let (outcome, what, layer) = decide(graph, &nodes, &float, &node.outcome);
        Decision {
            step: AuditStep::Frontend,
            node: layer.map(NodeId::index),
            name: node.name.clone(),
            outcome,
            what: format!("{} {what}", node.op),
        }
    };
    graph.file_nodes().iter().map(decision).collect()
}

/// Returns the outcome in words, and the node of the graph that does most of the work.
fn decide(
    graph: &Graph,
    nodes: &HashMap<&str, NodeId>,
    float: &[FloatProduct],
    outcome: &FileOutcome,
) -> (Outcome, String, Option<NodeId>) {
    let made = match outcome {
        FileOutcome::Read(made) => made,
        FileOutcome::Constant => return (Outcome::Folded, "is constant".into(), None),
        FileOutcome::TakenIn(by) => return (Outcome::Merged, format!("is part of `{by}`"), None),
        FileOutcome::OfInput => return (Outcome::Merged, "is part of an input of the network".into(), None),
        FileOutcome::OfState => return (Outcome::Merged, "is part of a state of the network".into(), None),
        FileOutcome::Unread => return (Outcome::Dropped, "is never read".into(), None),
    };
    if made.is_empty() {
        return (Outcome::Merged, "changes nothing: its readers take its input directly".into(), None);
    }
    let left: Vec<NodeId> = made.iter().filter_map(|name| nodes.get(name.as_str()).copied()).collect();
    let main = left.iter().copied().find(|&id| graph.products(id).is_some()).or(left.last().copied());
    let Some(main) = main else {
        return (Outcome::Merged, "is part of other operations, or was removed".into(), None);
    };
    let name = |&id: &NodeId| format!("{} `{}`", graph.node(id).op.name(), graph.short_name(id));
    let others: Vec<&NodeId> = left.iter().filter(|&&id| id != main).collect();
    let mut parts: Vec<String> = others.iter().take(NAMED).map(|id| name(id)).collect();
    parts.extend(others.len().checked_sub(NAMED + 1).map(|more| format!("{} more", more + 1)));
    let mut what = format!("is {}", name(&main));
    if !parts.is_empty() {
        what += &format!(", with {}", parts.join(", "));
    }
    let own = float.binary_search_by_key(&main, |product| product.node);
    let reason = own.ok().map(|at| float[at].reason.to_string());
    match reason.or_else(|| in_float(graph, main)) {
        Some(reason) => (Outcome::Float, format!("{what}: {reason}"), Some(main)),
        None => (Outcome::Kept, what, Some(main)),
    }
}

/// Returns why a node without multiplications computes with real values, if it does.
fn in_float(graph: &Graph, id: NodeId) -> Option<String> {
    let node = graph.node(id);
    let is_float = |id| graph.tensor(id).ty.dtype.is_float();
    let reads = node.inputs.iter().flatten().any(|&id| is_float(id));
    match (&node.op, is_float(node.output), reads) {
        (Op::Dequantize(_), ..) | (_, false, false) => None,
        (_, false, true) => Some("it converts real values to codes".into()),
        (_, true, _) => Some("it computes with real values".into()),
    }
}
