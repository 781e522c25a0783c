//! Determines which nodes the accelerator runs.

use std::fmt;

use guardbit_graph::{DotProducts, FloatProduct, FloatReason, Graph, NodeId, Op};

use crate::Accelerator;

/// Place where a node runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// On the accelerator.
    Accelerator,
    /// On the host, exactly.
    Host(Host),
}

/// Reason why a node runs on the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Its operation is not in `offload`.
    NotOffloaded,
    /// Its operation is in `offload`, but this node does not consist of dot products that an accelerator can
    /// run.
    NoDotProducts,
    /// It multiplies real values.
    Float(FloatReason),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotOffloaded => "its operation is not in `offload`",
            Self::NoDotProducts => "it does not consist of dot products that an accelerator can run",
            Self::Float(reason) => return reason.fmt(f),
        })
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accelerator => f.write_str("accelerator"),
            Self::Host(reason) => write!(f, "host: {reason}"),
        }
    }
}

/// Returns the dot products of a node if the accelerator runs it. `float` holds why products remain on real
/// values.
pub(super) fn place(
    graph: &Graph,
    float: &[FloatProduct],
    node: NodeId,
    accelerator: &Accelerator,
) -> Result<DotProducts, Host> {
    if let Ok(at) = float.binary_search_by_key(&node, |product| product.node) {
        return Err(Host::Float(float[at].reason));
    }
    // A composite that is one layer is offloaded as that layer.
    let op = match &graph.node(node).op {
        Op::Composite(composite) => composite.single().unwrap_or("composite"),
        op => op.name(),
    };
    if !accelerator.offload.iter().any(|name| name == op) {
        return Err(Host::NotOffloaded);
    }
    graph.dot_products(node).ok_or(Host::NoDotProducts)
}
