//! A node to be added.

use guardbit_graph::{Op, TensorId};

/// What becomes of an operator.
pub(crate) struct NewNode {
    pub op: Op,
    pub inputs: Vec<Option<TensorId>>,
}

impl NewNode {
    /// An operation on one input.
    pub fn on(x: TensorId, op: impl Into<Op>) -> Self {
        Self { op: op.into(), inputs: vec![Some(x)] }
    }
}
