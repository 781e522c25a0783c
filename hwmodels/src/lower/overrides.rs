//! Determines which layers have an accelerator of their own.

use std::collections::BTreeMap;

use guardbit_graph::{Graph, LookupError, NodeId};

use super::{Host, LowerError, partition};
use crate::{Accelerator, LayerOverrides};

/// Accelerator of every node.
pub(super) struct Overrides {
    /// Accelerator with one entry per layer, in the order of the layers.
    accelerator: Accelerator,
    own: BTreeMap<NodeId, String>,
}

impl Overrides {
    /// Creates the overrides. A layer that is named twice, by name and by index, has the overrides of both.
    pub fn new(graph: &Graph, common: &Accelerator) -> Result<Self, LowerError> {
        let mut named: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
        for name in common.layers.keys() {
            let node = match graph.find_node(name) {
                Ok(node) if graph.dot_products(node).is_some() || graph.float_dots(node).is_some() => node,
                Err(LookupError::Ambiguous { by_name, by_index }) => {
                    let short = |id| graph.short_name(id).to_owned();
                    let (by_name, by_index) = (short(by_name), short(by_index));
                    return Err(LowerError::AmbiguousLayer { name: name.into(), by_name, by_index });
                }
                Ok(node) if graph.products(node).is_some() => {
                    let op = graph.node(node).op.name();
                    let float = graph.float_products();
                    let reason =
                        partition::place(graph, &float, node, common).err().unwrap_or(Host::NoDotProducts);
                    return Err(LowerError::HostLayer { name: name.into(), op, reason });
                }
                Ok(_) | Err(LookupError::Unknown) => return Err(unknown_layer(graph, name)),
            };
            named.entry(node).or_default().push(name.to_owned());
        }
        let mut accelerator = Accelerator { layers: LayerOverrides::default(), ..common.clone() };
        let mut own = BTreeMap::new();
        for (node, names) in named {
            let together = common.layers.together(&names);
            let together = together.map_err(|source| LowerError::Together { source })?;
            check_changes(graph, node, &names, common, &together)?;
            let name = match names.as_slice() {
                [name] => name.clone(),
                _ => graph.short_name(node).to_owned(),
            };
            accelerator.layers.insert(name.clone(), together);
            own.insert(node, name);
        }
        Ok(Self { accelerator, own })
    }

    pub fn of_node(&self, node: NodeId) -> &Accelerator {
        self.own.get(&node).map_or(&self.accelerator, |name| &self.accelerator.layers[name])
    }

    /// Returns the accelerator with one entry per layer.
    pub fn into_accelerator(self) -> Accelerator {
        self.accelerator
    }
}

/// Fails for an override without any effect; removing a layer from the accelerator is an effect.
fn check_changes(
    graph: &Graph,
    node: NodeId,
    names: &[String],
    common: &Accelerator,
    own: &Accelerator,
) -> Result<(), LowerError> {
    let float = graph.float_products();
    let here = partition::place(graph, &float, node, own);
    if let (Err(_), Err(reason)) = (partition::place(graph, &float, node, common), here) {
        let name = names.first().cloned().unwrap_or_default();
        return Err(LowerError::HostLayer { name, op: graph.node(node).op.name(), reason });
    }
    Ok(())
}

fn unknown_layer(graph: &Graph, name: &str) -> LowerError {
    let near = graph.near_nodes(name, |node| graph.dot_products(node).is_some());
    let near = near.into_iter().map(|node| (node.index(), graph.short_name(node).to_owned())).collect();
    LowerError::UnknownLayer { name: name.into(), near }
}
