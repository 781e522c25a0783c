//! Share of a network's multiply-accumulates that the accelerator runs.

use guardbit_graph::{NodeId, Products};

use super::Host;
use crate::{Program, Step};

/// Convolutions and matrix products of a network, and where they run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Nodes in order of execution.
    pub nodes: Vec<MacNode>,
}

/// Convolution or matrix product, of codes or real values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MacNode {
    /// The node.
    pub node: NodeId,
    /// Products of the node.
    pub products: Products,
    /// Reason why it runs on the host; `None` on the accelerator.
    pub host: Option<Host>,
    /// Whether it computes with real values although its weights are codes in the file.
    pub quantized_weights_in_float: bool,
}

impl Coverage {
    /// Returns the coverage of a program.
    pub fn new(program: &Program) -> Self {
        let graph = &program.graph;
        let float = graph.float_products();
        let node = |((node, _), step): ((NodeId, _), &Step)| {
            let host = match step {
                Step::Host(reason) => Some(*reason),
                Step::Mac(_) | Step::Float(_) => None,
            };
            let own = float.binary_search_by_key(&node, |product| product.node);
            let quantized_weights_in_float =
                host.is_some() && own.is_ok_and(|at| float[at].quantized_weights);
            Some(MacNode { node, products: graph.products(node)?, host, quantized_weights_in_float })
        };
        Self { nodes: graph.nodes_with_ids().zip(&program.steps).filter_map(node).collect() }
    }
}
