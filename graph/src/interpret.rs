//! A network run exactly, as its runtime does.

use crate::{Graph, GraphError, checks};

impl Graph {
    /// Runs the network exactly on one sample: the codes of every input in, those of every tensor out, in the order of
    /// [`tensors`](Self::tensors). Biases of 64 bits have no codes and are empty.
    ///
    /// # Errors
    /// [`GraphError`] unless there is one list of codes per input, of its size and within its type.
    pub fn interpret(&self, inputs: &[&[i32]]) -> Result<Vec<Vec<i32>>, GraphError> {
        if inputs.len() != self.inputs.len() {
            return Err(GraphError::InputCount { expected: self.inputs.len(), found: inputs.len() });
        }
        let constant = |tensor: &crate::Tensor| tensor.codes().map_or_else(Vec::new, |codes| codes.to_vec());
        let mut codes: Vec<Vec<i32>> = self.tensors.iter().map(constant).collect();
        for (&id, &input) in self.inputs.iter().zip(inputs) {
            let tensor = self.tensor(id);
            checks::count(&tensor.name, &tensor.ty, input.len())?;
            checks::in_range(&tensor.name, &tensor.ty, input)?;
            codes[id.0] = input.to_vec();
        }
        for (id, node) in self.nodes_with_ids() {
            let read = |id: &Option<crate::TensorId>| id.map_or(&[][..], |id| codes[id.0].as_slice());
            let made = self.evaluate(id, &node.inputs.iter().map(read).collect::<Vec<_>>());
            codes[node.output.0] = made;
        }
        Ok(codes)
    }
}
