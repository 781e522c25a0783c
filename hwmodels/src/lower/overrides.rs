//! Which layers have an accelerator of their own.

use std::collections::BTreeMap;

use guardbit_graph::{Graph, LookupError, NodeId};

use super::{LowerError, partition};
use crate::Accelerator;

/// The accelerator of every node.
pub(super) struct Overrides<'a> {
    common: &'a Accelerator,
    own: BTreeMap<NodeId, (&'a str, &'a Accelerator)>,
}

impl<'a> Overrides<'a> {
    pub fn new(graph: &Graph, common: &'a Accelerator) -> Result<Self, LowerError> {
        let mut overrides = Self { common, own: BTreeMap::new() };
        for (name, accelerator) in &common.layers {
            let node = match graph.find_node(name) {
                Ok(node) if graph.dot_products(node).is_some() => node,
                Err(LookupError::Ambiguous { by_name, by_index }) => {
                    let short = |id| graph.short_name(id).to_owned();
                    let (by_name, by_index) = (short(by_name), short(by_index));
                    return Err(LowerError::AmbiguousLayer { name: name.clone(), by_name, by_index });
                }
                Ok(_) | Err(LookupError::Unknown) => return Err(unknown_layer(graph, name)),
            };
            overrides.insert(graph, node, name, accelerator)?;
        }
        Ok(overrides)
    }

    pub fn accelerator(&self, node: NodeId) -> &'a Accelerator {
        self.own.get(&node).map_or(self.common, |&(_, accelerator)| accelerator)
    }

    fn insert(
        &mut self,
        graph: &Graph,
        node: NodeId,
        name: &'a str,
        accelerator: &'a Accelerator,
    ) -> Result<(), LowerError> {
        // An override may well take a layer off the accelerator; one that changes nothing is a mistake.
        let here = partition::place(graph, node, accelerator);
        if let (Err(_), Err(reason)) = (partition::place(graph, node, self.common), here) {
            return Err(LowerError::HostLayer { name: name.into(), op: graph.node(node).op.name(), reason });
        }
        match self.own.insert(node, (name, accelerator)) {
            None => Ok(()),
            Some((first, _)) => Err(LowerError::LayerTwice {
                layer: graph.node_name(node).into(),
                first: first.into(),
                second: name.into(),
            }),
        }
    }
}

fn unknown_layer(graph: &Graph, name: &str) -> LowerError {
    let near = graph.near_nodes(name, |node| graph.dot_products(node).is_some());
    let near = near.into_iter().map(|node| (node.index(), graph.short_name(node).to_owned())).collect();
    LowerError::UnknownLayer { name: name.into(), near }
}
