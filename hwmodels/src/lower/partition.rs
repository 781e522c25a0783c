//! Determines which nodes the accelerator runs.

use std::fmt;

use guardbit_graph::{DotProducts, FloatDots, FloatProduct, FloatReason, Graph, NodeId, Op};

use crate::{Accelerator, BlockScaling, FloatAccumulation};

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
    /// It multiplies floating-point codes, and the accelerator has no accumulation for them.
    NoFloatAccumulation,
    /// Its operands have scales of blocks, which the unit does not apply.
    NoBlockScales,
    /// It converts codes for layers on the accelerator, which multiply the codes themselves.
    OfLayer,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotOffloaded => "its operation is not in `offload`",
            Self::NoDotProducts => "it does not consist of dot products that an accelerator can run",
            Self::Float(reason) => return reason.fmt(f),
            Self::NoFloatAccumulation => {
                "its operands are floating-point codes, and the accelerator has no `float_accumulation`"
            }
            Self::NoBlockScales => {
                "its operands have block scales, and `float_accumulation.block_scales` of the accelerator is none"
            }
            Self::OfLayer => "only layers on the accelerator read it, and they multiply its codes",
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

/// Dot products that the accelerator runs.
pub(super) enum Dots {
    /// Of codes.
    Codes(DotProducts),
    /// Of floating-point codes.
    Float(Box<FloatDots>, FloatAccumulation),
}

/// Returns the dot products of a node if the accelerator runs it. `float` holds why products remain on real
/// values.
pub(super) fn place(
    graph: &Graph,
    float: &[FloatProduct],
    node: NodeId,
    accelerator: &Accelerator,
) -> Result<Dots, Host> {
    if let Ok(at) = float.binary_search_by_key(&node, |product| product.node) {
        let dots = graph.float_dots(node).ok_or(Host::Float(float[at].reason))?;
        let accumulation = accelerator.float.ok_or(Host::NoFloatAccumulation)?;
        let has_blocks = dots.activations.blocks.is_some() || dots.weights.blocks.is_some();
        if has_blocks && accumulation.block_scales == BlockScaling::None {
            return Err(Host::NoBlockScales);
        }
        return Ok(Dots::Float(Box::new(dots), accumulation));
    }
    // A composite that is one layer is offloaded as that layer.
    let op = match &graph.node(node).op {
        Op::Composite(composite) => composite.single().unwrap_or("composite"),
        op => op.name(),
    };
    if !accelerator.offload.iter().any(|name| name == op) {
        return Err(Host::NotOffloaded);
    }
    graph.dot_products(node).map(Dots::Codes).ok_or(Host::NoDotProducts)
}
