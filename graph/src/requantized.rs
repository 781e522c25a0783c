//! The same network with another rounding.

use crate::{Graph, GraphError, Requantize};

impl Graph {
    /// The same network, every operation of which rounds as `change` makes of its own way: what another runtime would make
    /// of the same file. Operations without a choice of rounding stay as they are.
    ///
    /// # Errors
    /// [`GraphError`] if a multiplier is out of range under the other rounding.
    pub fn requantized(&self, change: impl Fn(Requantize) -> Requantize) -> Result<Self, GraphError> {
        let mut changed = self.clone();
        for index in 0..self.nodes.len() {
            let op = self.nodes[index].op.clone();
            let Some(own) = op.requantize() else { continue };
            changed.nodes[index].op = op.with_requantize(change(own));
            let node = &changed.nodes[index];
            node.op.output_shape(&changed.operands(node))?;
        }
        Ok(changed)
    }
}
