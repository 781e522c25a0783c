//! A node to be added.

use guardbit_graph::{Op, TensorId};

/// The operation of an operator with its inputs.
pub(crate) struct NewNode {
    pub op: Op,
    pub inputs: Vec<Option<TensorId>>,
}

impl NewNode {
    /// Creates an operation on one input.
    pub fn on(x: TensorId, op: impl Into<Op>) -> Self {
        Self { op: op.into(), inputs: vec![Some(x)] }
    }
}
