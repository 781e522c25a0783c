//! Share of a network's multiply-accumulates that an accelerator runs.

use guardbit_graph::{FloatReason, Graph, NodeId};
use guardbit_hwmodels::{Coverage, MacNode, Program};
use serde::{Deserialize, Serialize};

use crate::Fraction;

/// MAC layers of a network and where they run. MAC layers are convolutions and matrix products on codes or
/// real values.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CoverageRecord {
    /// Number of MAC layers.
    pub layers: usize,
    /// Number of MAC layers that the accelerator runs.
    pub layers_on_accelerator: usize,
    /// Multiply-accumulates of one inference, including padding.
    pub macs: u64,
    /// Multiply-accumulates that the accelerator runs.
    pub macs_on_accelerator: u64,
    /// Share of the multiply-accumulates that the accelerator runs; `None` if the network has none.
    pub share: Option<Fraction>,
    /// MAC layers that the host runs.
    pub host: Vec<HostLayer>,
}

/// MAC layer that the host runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostLayer {
    /// Index over all operations of the graph.
    pub index: usize,
    /// Short name.
    pub name: String,
    /// Name of the operation.
    pub op: String,
    /// Reason why the accelerator does not run it.
    pub reason: String,
    /// Products per dot product, including padding.
    pub terms: usize,
    /// Dot products of one inference.
    pub dots: usize,
    /// Multiply-accumulates of one inference.
    pub macs: u64,
    /// Whether it computes with real values although its weights are codes in the file.
    pub quantized_weights_in_float: bool,
}

impl CoverageRecord {
    /// Returns the record of a program.
    pub fn new(program: &Program) -> Self {
        let nodes = Coverage::new(program).nodes;
        let macs = |on: &dyn Fn(&MacNode) -> bool| {
            nodes
                .iter()
                .filter(|node| on(node))
                .fold(0u64, |sum, node| sum.saturating_add(node.products.macs()))
        };
        let (all, own) = (macs(&|_| true), macs(&|node| node.host.is_none()));
        let host: Vec<HostLayer> =
            nodes.iter().filter_map(|node| HostLayer::new(&program.graph, node)).collect();
        Self {
            layers: nodes.len(),
            layers_on_accelerator: nodes.len() - host.len(),
            macs: all,
            macs_on_accelerator: own,
            share: Fraction::of(own, all),
            host,
        }
    }

    /// Returns whether the accelerator runs every MAC layer.
    pub fn is_whole(&self) -> bool {
        self.host.is_empty()
    }

    /// Returns a phrase for each layer that computes with real values although its weights are codes in the
    /// file.
    pub fn quantized_weights_in_float(&self) -> Vec<String> {
        let layers = self.host.iter().filter(|layer| layer.quantized_weights_in_float);
        layers.map(|layer| phrase(&layer.name, &layer.op, &layer.reason)).collect()
    }
}

impl HostLayer {
    fn new(graph: &Graph, node: &MacNode) -> Option<Self> {
        Some(Self {
            index: node.node.index(),
            name: graph.short_name(node.node).to_owned(),
            op: graph.node(node.node).op.name().to_owned(),
            reason: node.host?.to_string(),
            terms: node.products.terms,
            dots: node.products.dots,
            macs: node.products.macs(),
            quantized_weights_in_float: node.quantized_weights_in_float,
        })
    }
}

/// Returns a phrase for each layer of `graph` that computes with real values although its weights are codes
/// in the file.
pub fn quantized_weights_in_float(graph: &Graph) -> Vec<String> {
    let products = graph.float_products().into_iter().filter(|product| product.quantized_weights);
    // Accelerators with `float_accumulation` run these.
    let products = products.filter(|product| product.reason != FloatReason::FloatCodes);
    let of_node = |node: NodeId, reason: FloatReason| {
        phrase(graph.short_name(node), graph.node(node).op.name(), &reason.to_string())
    };
    products.map(|product| of_node(product.node, product.reason)).collect()
}

fn phrase(name: &str, op: &str, reason: &str) -> String {
    format!("`{name}` ({op}: {reason})")
}
