//! Replacement of the rounding of a whole network.

use crate::{Graph, GraphError, Requantize};

impl Graph {
    /// Returns the network with the requantization of every operation replaced by `change` of it.
    ///
    /// This gives the results of another runtime for the file. Operations without a choice of rounding stay
    /// unchanged.
    ///
    /// # Errors
    /// [`GraphError`] if a multiplier is out of range under the new rounding.
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
